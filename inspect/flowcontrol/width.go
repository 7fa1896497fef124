package flowcontrol

import "math"

// Widest are the seats that one request of a kind may take in a level.
type Widest struct {
	List  int `json:"list"`
	Write int `json:"write"`
}

// What a list took at most before Kubernetes 1.34, which estimates it by the size of objects.
const (
	sizedMinor    = 34
	widestList    = 100
	widestListOld = 10
	widestWrite   = 10
)

// WidestOf returns the widest requests of a level, on a server of Kubernetes 1.minor, or of the newest one if
// that is 0. A level with queues allows a request the least of 15 % of its nominal seats and what leaves room
// for all queues of a hand.
func WidestOf(level *Level, minor int) Widest {
	list, write := widestList, widestWrite
	if minor > 0 && minor < sizedMinor {
		list = widestListOld
	}
	if q := level.Queuing; q != nil && q.HandSize > 0 {
		most := max(1, min(int(math.Ceil(float64(level.Nominal)*0.15)), level.Nominal/q.HandSize))
		list, write = min(list, most), min(write, most)
	}
	return Widest{list, write}
}
