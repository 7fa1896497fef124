package conflict

import (
	"cmp"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

const (
	// maxOccupancy is the number of nodes of a group whose occupancy is compared.
	maxOccupancy = 512
	// perGroup is the number of nodes of a group that come before the rest.
	perGroup = 3
)

// NearestNodes returns the nodes that refuse for want of devices, the nearest first: groups by their score,
// and in a group the nodes that lack the fewest devices, and of these the nodes with the fewest claims. A few
// nodes of each group come before the rest, so that whoever takes only the first nodes still has some of
// every group. Of nodes that do not differ for the question, only the first is returned.
func NearestNodes(q *whatif.Question, groups []explain.Group) []whatif.RankedNode {
	groups = slices.Clone(groups)
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(b.Score, a.Score) })
	var first, rest []whatif.RankedNode
	firsts := firstAlike(q)
	for _, g := range groups {
		var different []inspect.NodeName
		missing := map[inspect.NodeName]int{}
		for i, n := range g.Nodes {
			if _, bad := q.Unsuitable[n]; firsts[n] && !bad {
				different, missing[n] = append(different, n), g.Missing[i]
			}
		}
		slices.SortStableFunc(different, func(a, b inspect.NodeName) int { return cmp.Compare(missing[a], missing[b]) })
		nodes := slices.Clone(different[:min(len(different), maxOccupancy)])
		claims := map[inspect.NodeName]int{}
		for _, n := range nodes {
			claims[n] = claimsOn(q, n)
		}
		slices.SortStableFunc(nodes, func(a, b inspect.NodeName) int {
			return cmp.Or(cmp.Compare(missing[a], missing[b]), cmp.Compare(claims[a], claims[b]))
		})
		nodes = append(nodes, different[len(nodes):]...)
		for i, n := range nodes {
			if i < perGroup {
				first = append(first, whatif.RankedNode{Name: n, Score: g.Score})
			} else {
				rest = append(rest, whatif.RankedNode{Name: n, Score: g.Score})
			}
		}
	}
	return append(first, rest...)
}

// firstAlike returns the first of each set of nodes that do not differ for the question. Of nodes that differ
// only in how much of a resource of the node is missing, it returns those where that is least.
func firstAlike(q *whatif.Question) map[inspect.NodeName]bool {
	out := make(map[inspect.NodeName]bool, len(q.Answers))
	for i := range q.Answers {
		a := &q.Answers[i]
		if len(a.Unsuitable) > 0 {
			continue // no question is put to such nodes
		}
		for _, at := range roomiest(a) {
			out[inspect.NodeName(q.Nodes[a.Nodes[at]].Name)] = true
		}
	}
	return out
}

// roomiest returns the indices of the nodes of an answer that lack least of what filters count, perGroup at
// most. It is the first if they count nothing.
func roomiest(a *whatif.Answer) []int {
	if len(a.Filtered) < 2 || !slices.ContainsFunc(a.Filtered[0].Refusals, func(r filters.Refusal) bool { return r.Resource != "" }) {
		return []int{0}
	}
	order, short := make([]int, len(a.Filtered)), make([]float64, len(a.Filtered))
	for i := range a.Filtered {
		order[i] = i
		for k := range a.Filtered[i].Refusals {
			if r := &a.Filtered[i].Refusals[k]; r.Resource != "" && r.Requested > 0 {
				short[i] += float64(r.Requested-r.Left()) / float64(r.Requested)
			}
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(short[x], short[y]) })
	return order[:min(len(order), perGroup)]
}

// claimsOn counts the claims that hold devices which reach the node.
func claimsOn(q *whatif.Question, name inspect.NodeName) int {
	s := q.Cluster.Snapshot()
	node, ok := s.Node(name)
	if !ok {
		return 0
	}
	pools, err := s.PoolsOn(node)
	if err != nil {
		return 0
	}
	claims := map[inspect.ClaimRef]bool{}
	for _, p := range pools {
		for _, slice := range p.Slices {
			for i := range slice.Spec.Devices {
				for _, h := range s.Holders(inspect.DeviceIDOf(slice.ResourceSlice, i)) {
					claims[h.Claim] = true
				}
			}
		}
	}
	return len(claims)
}
