package scores

import (
	"math"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareBalancedAllocation is the plugin NodeResourcesBalancedAllocation: it is good if as large a part of
// the CPU is taken as of the memory, or of the other resources that the profile names, and better if the pod
// makes these more alike.
func prepareBalancedAllocation(s *Scorer) (part, []filters.Doubt) {
	resources := usual
	if named := s.profile.Balanced(); named != nil {
		resources = named
	}
	var pod amounts
	for i, r := range resources {
		pod[i] = s.index.Asked(s.pod, r)
	}
	if pod == (amounts{}) { // so that such pods do not all go to one node
		return nil, nil
	}
	if doubts := s.unknownLoad(NodeResourcesBalancedAllocation, resources, pod); len(doubts) > 0 {
		return nil, doubts
	}
	counted := s.countedOf(resources, pod)
	before := !s.snapshot().Release().Modelled().Before(36, 0)
	type reads struct {
		pod     amounts
		before  bool
		profile *schedulerconfig.Profile
		devices *inspect.Snapshot
	}
	return newLocal(s, reads{pod, before, s.profile, counted.devices}, func(n filters.Node) int64 {
		l := s.loadOf(n, counted)
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

// balance is 100 if as large a part of one resource is taken as of the others, and 50 if all of one and
// nothing of another.
func balance(l load) int64 {
	var sum, deviation float64
	var room [schedulerconfig.MostScored]float64
	parts := room[:0]
	for i, all := range l.allocatable {
		if all != 0 {
			parts = append(parts, min(1, float64(l.taken[i])/float64(all)))
			sum += parts[len(parts)-1]
		}
	}
	switch len(parts) {
	case 0, 1:
	case 2:
		deviation = math.Abs((parts[0] - parts[1]) / 2)
	default:
		mean := sum / float64(len(parts))
		for _, p := range parts {
			deviation += (p - mean) * (p - mean)
		}
		deviation = math.Sqrt(deviation / float64(len(parts)))
	}
	return int64((1 - deviation) * most)
}
