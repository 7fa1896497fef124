package fit

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// What fits on each node by itself, added up, is the most that can be had. It can be had if the nodes draw on
// different pools, since devices, counters and compatibility groups all belong to a pool. Nodes that draw on
// a common pool are counted together:
//
//   - If one of them can use all devices that any of them can use for the claim, whatever fits on several of
//     them fits on that one. So its number is the number of them all.
//   - Otherwise copies are allocated one after the other. Their number is a lower bound, and exact if it
//     reaches the sum.
//
// Example: four nodes can use the same two FPGAs. Two copies fit on each node, and two on all of them, not
// eight.

// nodePools is a node on which copies fit, with the pools of the devices that they take.
type nodePools struct {
	node  int // its index in the question
	fit   explain.NodeFit
	pools []inspect.PoolID
}

// positions returns the indices, ascending, of the devices of allocations among the candidates of a node.
// Nodes that do not differ for the question have equal devices at the same positions, so what was tried on
// one of them is known for all.
func positions(candidates []inspect.DeviceID, allocations []resourcev1.AllocationResult) []int {
	taken := map[inspect.DeviceID]bool{}
	for i := range allocations {
		for j := range allocations[i].Devices.Results {
			taken[inspect.DeviceOf(&allocations[i].Devices.Results[j])] = true
		}
	}
	var out []int
	for i, id := range candidates {
		if taken[id] {
			out = append(out, i)
		}
	}
	return out
}

// connected puts nodes into sets such that no two sets have a pool in common.
func connected(nodes []nodePools) [][]nodePools {
	parent := make([]int, len(nodes))
	root := func(i int) int {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	first := map[inspect.PoolID]int{}
	for i := range nodes {
		parent[i] = i
		for _, pool := range nodes[i].pools {
			if other, known := first[pool]; known {
				parent[root(i)] = root(other)
			}
			first[pool] = i
		}
	}
	var out [][]nodePools
	at := map[int]int{}
	for i := range nodes {
		r := root(i)
		if _, known := at[r]; !known {
			at[r] = len(out)
			out = append(out, nil)
		}
		out[at[r]] = append(out[at[r]], nodes[i])
	}
	return out
}

// maxCompared is the number of nodes up to which their devices are compared.
const maxCompared = 256

// together counts the copies on nodes that may have devices in common. The number may be a lower bound.
func together(ctx context.Context, q *whatif.Question, nodes []nodePools) (copies int, atLeast bool, err error) {
	sum, most := 0, 0
	for i := range nodes {
		sum += nodes[i].fit.Copies
		most = max(most, nodes[i].fit.Copies)
		atLeast = atLeast || nodes[i].fit.AtLeast
	}
	if len(nodes) == 1 {
		return sum, atLeast, nil
	}
	if len(nodes) <= maxCompared {
		if best, err := covering(ctx, q, nodes); err != nil || best != nil {
			if err != nil {
				return 0, false, err
			}
			return best.fit.Copies, best.fit.AtLeast, nil
		}
	}
	copies, err = oneByOne(ctx, q, nodes)
	copies = max(copies, most)
	return copies, atLeast || copies < sum, err
}

// covering returns a node that can use every device that any of the nodes can use for the claim, or nil if
// there is none. There is none for a claim for all devices, since these differ between nodes.
func covering(ctx context.Context, q *whatif.Question, nodes []nodePools) (*nodePools, error) {
	// Nodes may see a pool in different generations. Devices are the same if the same object describes them.
	usable := make([]map[*resourcev1.Device]bool, len(nodes))
	union := map[*resourcev1.Device]bool{}
	for i := range nodes {
		exam, err := q.Cluster.Examine(ctx, q.Nodes[nodes[i].node], q.Claims)
		if err != nil {
			return nil, err
		}
		usable[i] = map[*resourcev1.Device]bool{}
		for j := range exam.Requests {
			r := &exam.Requests[j]
			if r.All {
				return nil, nil
			}
			for _, d := range requirement.DevicesWithout(r, allocator.ClassSelectorRejected, allocator.SelectorRejected, allocator.NodeUnsuitable) {
				usable[i][d.Device], union[d.Device] = true, true
			}
		}
	}
	for i := range nodes {
		if len(usable[i]) == len(union) {
			return &nodes[i], nil
		}
	}
	return nil, nil
}

// oneByOne counts the copies that fit when they are allocated one after the other, each on the first node
// where it fits.
func oneByOne(ctx context.Context, q *whatif.Question, nodes []nodePools) (int, error) {
	var list []*corev1.Node
	for i := range nodes {
		list = append(list, q.Nodes[nodes[i].node])
	}
	s := q.Cluster.Snapshot()
	for n := range maxSharedCopies {
		c := scheduler.NewCluster(s, scheduler.Options{Like: q.Cluster})
		kinds, err := c.Sweep(ctx, list, q.Claims)
		at := slices.IndexFunc(kinds, func(k allocator.NodeGroup) bool {
			return k.Abort != nil || k.Result.Outcome == allocator.Allocated
		})
		if err == nil && at >= 0 && kinds[at].Abort != nil {
			err = kinds[at].Abort
		}
		if n > 0 && errors.As(err, new(*allocator.AbortError)) {
			return n, nil // no more can be had
		}
		if err != nil || at < 0 {
			return n, err
		}
		next := kinds[at].Result.Allocations
		next[0].Devices.Results = slices.Clone(next[0].Devices.Results)
		claims := suppose.Hold(next, n+1)
		s = s.With(func(o *inspect.Objects) { o.Claims = append(o.Claims, claims...) })
	}
	return maxSharedCopies, nil
}
