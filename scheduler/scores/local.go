package scores

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// local is a part of which a node gets what follows from the node and the pods on it alone.
type local struct {
	// reads is all of the pod that the scores follow from.
	reads any
	// scores are of each node of the index, in blocks, most of which those of a scorer like it have too.
	scores  []*[block]int64
	compare normalization // nil if nodes are not compared with each other
}

// block is the number of nodes whose scores are taken over together.
const block = 64

// normalization brings scores of several nodes to between 0 and most.
type normalization func(scores []int64)

// newLocal scores all nodes that another scorer does not know already. reads has to be comparable, and is
// equal for two pods only if all nodes get the same for both. normalize may be nil.
func newLocal(s *Scorer, reads any, score func(n filters.Node) int64, normalize normalization) *local {
	l := &local{reads: reads, compare: normalize}
	if like := partLike[*local](s); like != nil && like.reads == reads {
		l.scores = like.scores
		if len(s.changed) > 0 {
			l.scores = slices.Clone(l.scores)
			own := -1 // the last block that is not shared, as changed nodes ascend
			for _, i := range s.changed {
				if i/block != own {
					own = i / block
					l.scores[own] = new(*l.scores[own])
				}
				l.scores[own][i%block] = score(s.nodes[i])
			}
		}
		return l
	}
	for i, n := range s.nodes {
		if i%block == 0 {
			l.scores = append(l.scores, new([block]int64))
		}
		l.scores[i/block][i%block] = score(n)
	}
	return l
}

func (l *local) raw(nodes *field, out []int64) {
	for i, at := range nodes.at {
		out[i] = l.scores[at/block][at%block]
	}
}

func (l *local) normalize(scores []int64) {
	if l.compare != nil {
		l.compare(scores)
	}
}

// upTo brings scores to between 0 and most in proportion to the largest (DefaultNormalizeScore).
func upTo(scores []int64) {
	largest := max(0, slices.Max(scores))
	if largest == 0 {
		return
	}
	for i := range scores {
		scores[i] = most * scores[i] / largest
	}
}

// downFrom is upTo the other way round: what had the most gets 0.
func downFrom(scores []int64) {
	upTo(scores)
	for i := range scores {
		scores[i] = most - scores[i]
	}
}
