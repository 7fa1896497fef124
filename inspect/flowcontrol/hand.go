package flowcontrol

import (
	"crypto/sha256"
	"encoding/binary"

	"k8s.io/apiserver/pkg/util/shufflesharding"
)

// Hand returns the queues of a flow, from 0 on, in the order in which they are dealt. It is no chance: every
// server deals the same flow the same queues, as long as the schema keeps its name and the level its numbers.
// It is nil when the server could not deal the queues either.
func Hand(schema, distinguisher string, q Queuing) []int {
	dealer, err := shufflesharding.NewDealer(q.Queues, q.HandSize)
	if err != nil {
		return nil
	}
	var hash uint64
	if q.Queues > 1 {
		sum := sha256.Sum256([]byte(schema + "\x00" + distinguisher))
		hash = binary.LittleEndian.Uint64(sum[:])
	}
	return dealer.DealIntoHand(hash, nil)
}
