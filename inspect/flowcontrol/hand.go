package flowcontrol

import (
	"crypto/sha256"
	"encoding/binary"
	"math/big"

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

// Odds is the probability that all queues of one flow are also queues of some of so many other flows, which
// fill theirs: that a mouse is squeezed out by elephants. It is exact, and nil where the server could not
// deal such hands.
//
// By inclusion and exclusion it is the sum over j of (−1)^j · C(h,j) · (C(q−j,h)/C(q,h))^n. In floating point
// its terms would cancel each other out.
func Odds(q Queuing, elephants int) *big.Rat {
	if _, err := shufflesharding.NewDealer(q.Queues, q.HandSize); err != nil || elephants < 0 {
		return nil
	}
	queues, hand := int64(q.Queues), int64(q.HandSize)
	all := new(big.Int).Binomial(queues, hand)
	sum := new(big.Rat)
	for j := int64(0); j <= hand; j++ {
		missing := new(big.Int).Exp(new(big.Int).Binomial(queues-j, hand), big.NewInt(int64(elephants)), nil)
		missing.Mul(missing, new(big.Int).Binomial(hand, j))
		term := new(big.Rat).SetFrac(missing, new(big.Int).Exp(all, big.NewInt(int64(elephants)), nil))
		if j%2 == 1 {
			term.Neg(term)
		}
		sum.Add(sum, term)
	}
	return sum
}
