package scores

import (
	"math"

	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareBalancedAllocation is the plugin NodeResourcesBalancedAllocation: it is good if as large a part of
// the CPU is taken as of the memory, and better if the pod makes the two more alike.
func prepareBalancedAllocation(s *Scorer) (part, []filters.Doubt) {
	var pod [len(resources)]int64
	for i, r := range resources {
		pod[i] = s.index.Asked(s.pod, r)
	}
	if pod == [len(resources)]int64{} { // so that such pods do not all go to one node
		return nil, nil
	}
	if doubts := s.unknownLoad(NodeResourcesBalancedAllocation); len(doubts) > 0 {
		return nil, doubts
	}
	before := !s.snapshot().Release().Modelled().Before(36, 0)
	type reads struct {
		pod    [len(resources)]int64
		before bool
	}
	return newLocal(s, reads{pod, before}, func(n filters.Node) int64 {
		l := loadOf(n)
		without := balance(l)
		for i := range resources {
			if l.allocatable[i] != 0 {
				l.taken[i] += pod[i]
			}
		}
		if !before {
			return balance(l)
		}
		return most/2 + (most/2+balance(l)-without)/2
	}, nil), nil
}

// balance is 100 if as large a part of one resource is taken as of the other, and 50 if all of one and
// nothing of the other.
func balance(l load) int64 {
	var parts [len(resources)]float64
	for i, all := range l.allocatable {
		if all == 0 {
			return most
		}
		parts[i] = min(1, float64(l.taken[i])/float64(all))
	}
	return int64((1 - math.Abs((parts[0]-parts[1])/2)) * most)
}
