package allocator

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/turns"
)

// NodeGroup is a set of nodes that have the same signature for a question and therefore get the same answer.
type NodeGroup struct {
	// Nodes are indices into the nodes that were asked about, ascending. The slice is shared and must not
	// be written.
	Nodes []int
	// Result is the answer for the first node; its devices are that node's. It is nil if Abort is set.
	Result *Result
	// Abort is why the scheduler would give up on the pod when it came to the first node.
	Abort *AbortError
}

// Sweep decides whether the claims can be allocated together, for every one of the nodes. Nodes that
// look alike are decided once, and all cores are used. The groups are in the order of their first node.
// Of many different nodes, each gets a smaller share of steps than Allocate has for one.
// The error is that of the context.
func (c *Cluster) Sweep(ctx context.Context, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) ([]NodeGroup, error) {
	groups, err := c.nodeGroups(ctx, nodes, claims)
	if err != nil {
		return nil, err
	}
	limited := c.WithStepLimit(min(c.stepLimit, max(leastSweepSteps, sweepSteps/max(1, int64(len(groups))))))
	err = Parallel(len(groups), func(i int) error {
		result, err := limited.Allocate(ctx, nodes[groups[i].Nodes[0]], claims, nil)
		if errors.As(err, &groups[i].Abort) {
			return nil
		}
		groups[i].Result = result
		return err
	})
	return groups, err
}

// A sweep makes about sweepSteps steps in all at most, so that hard questions about thousands of nodes
// end. It is divided evenly, not spent first come first served, so that the answers do not depend on
// timing; each group of nodes gets at least leastSweepSteps.
const (
	sweepSteps      = 40_000_000
	leastSweepSteps = 50_000
)

// chunk is the number of nodes that a worker looks at before it asks for more.
const chunk = 64

// Alike sorts nodes by what they look like to claims: the indices of those that get the same answer, whatever
// some of the claims have taken of each in the same order. The slices are shared and must not be written. The
// error is that of the context.
func (c *Cluster) Alike(ctx context.Context, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) ([][]int, error) {
	return c.alike(ctx, nodes, newNodeSigner(c, claims))
}

// nodeGroups sorts the nodes by their signatures.
func (c *Cluster) nodeGroups(ctx context.Context, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) ([]NodeGroup, error) {
	groups, err := c.alike(ctx, nodes, newNodeSigner(c, claims))
	if err != nil {
		return nil, err
	}
	out := make([]NodeGroup, len(groups))
	for i, nodes := range groups {
		out[i].Nodes = nodes
	}
	return out, nil
}

// alike returns the indices of nodes with the same signature, in the order of their first.
func (c *Cluster) alike(ctx context.Context, nodes []*corev1.Node, signer *nodeSigner) ([][]int, error) {
	if at := c.indicesOf(nodes); at != nil {
		table, err := c.groupsOfAll(ctx, signer)
		if err != nil {
			return nil, err
		}
		if len(at) == len(table.numbers) {
			return table.groups, nil
		}
		numbers := make([]int32, len(at))
		for i, n := range at {
			numbers[i] = table.numbers[n]
		}
		return groupsOf(numbers, table.known.len()), nil
	}
	if len(nodes) == 1 {
		return [][]int{{0}}, context.Cause(ctx)
	}
	known, numbers := newSignatureNumbers(), make([]int32, len(nodes))
	if len(c.ignore) == 0 && !c.rules.countersByPoolName {
		signer.kept = signer.key()
	}
	err := Parallel((len(nodes)+chunk-1)/chunk, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		signer, mine := signer.clone(), map[string]int32{}
		for n := i * chunk; n < min((i+1)*chunk, len(nodes)); n++ {
			pools, err := c.snapshot.PoolsOn(nodes[n])
			numbers[n] = signer.number(known, mine, nodes[n], pools, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return groupsOf(numbers, known.len()), nil
}

// indicesOf returns where the nodes are among those of the snapshot. It returns nil if they are not, or not
// in that order, or so few that there is no point in looking at all, or some claims are to be ignored.
func (c *Cluster) indicesOf(nodes []*corev1.Node) []int {
	all := c.snapshot.Nodes()
	if len(c.ignore) > 0 || len(nodes) < len(all)/8 {
		return nil
	}
	at := make([]int, 0, len(nodes))
	for i := 0; i < len(all) && len(at) < len(nodes); i++ {
		if all[i] == nodes[len(at)] {
			at = append(at, i)
		}
	}
	if len(at) < len(nodes) {
		return nil
	}
	return at
}

// Parallel calls f for 0 to n-1, on all cores but those on which something else works, and returns the error
// of the lowest index. It returns when all calls have ended; after an error no new ones begin.
func Parallel(n int, f func(int) error) error {
	errs := make([]error, n)
	turns.Each(n, func(i int) bool { // whoever takes a number calls f with it, so the lowest that fails is known
		errs[i] = f(i)
		return errs[i] == nil
	})
	if at := slices.IndexFunc(errs, func(err error) bool { return err != nil }); at >= 0 {
		return errs[at]
	}
	return nil
}
