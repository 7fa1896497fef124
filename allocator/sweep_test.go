package allocator

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// TestSweepAnswersLikeAllocate doubles the nodes of random problems, so that many look alike, and
// compares the answer of each kind with that of every one of its nodes.
func TestSweepAnswersLikeAllocate(t *testing.T) {
	n := 6_000
	if testing.Short() {
		n = 500
	}
	ctx := context.Background()
	shared, nodes := 0, 0
	for i := range n {
		q := generate(seeded(uint64(2_000_000 + i)))
		double(q)
		c := newOurs(q, stepBudget)
		kinds, err := c.Sweep(ctx, q.objects.Nodes, q.pending)
		if err != nil {
			t.Fatal(err)
		}
		answered := 0
		for _, kind := range kinds {
			answered += len(kind.Nodes)
			if len(kind.Nodes) > 1 {
				shared += len(kind.Nodes)
			}
			for _, at := range kind.Nodes {
				if d := kindDifference(ctx, c, q, &kind, q.objects.Nodes[at]); d != "" {
					t.Fatalf("problem %d, node %s: %s\n%s", i, q.objects.Nodes[at].Name, d, q)
				}
			}
		}
		if answered != len(q.objects.Nodes) {
			t.Fatalf("problem %d: %d of %d nodes answered", i, answered, len(q.objects.Nodes))
		}
		nodes += answered
	}
	t.Logf("%d of %d nodes look like another", shared, nodes)
	if shared < nodes/3 {
		t.Errorf("only %d of %d nodes look like another", shared, nodes)
	}
}

// double adds a twin of every node, with twins of its slices in pools of other names and no claims on
// their devices.
func double(q *question) {
	for _, node := range slices.Clone(q.objects.Nodes) {
		twin := node.DeepCopy()
		twin.Name += "-twin"
		q.objects.Nodes = append(q.objects.Nodes, twin)
		for _, slice := range slices.Clone(q.objects.Slices) {
			if slice.Spec.NodeName == nil || *slice.Spec.NodeName != node.Name {
				continue
			}
			s := slice.DeepCopy()
			s.Name += "-twin"
			s.Spec.NodeName = &twin.Name
			s.Spec.Pool.Name += "-twin"
			q.objects.Slices = append(q.objects.Slices, s)
		}
	}
}

// kindDifference compares the answer of a kind with that of one node, devices by their positions.
func kindDifference(ctx context.Context, c *Cluster, q *question, kind *Kind, node *corev1.Node) string {
	result, err := c.Allocate(ctx, node, q.pending, nil)
	if (err != nil) != (kind.Abort != nil) {
		return fmt.Sprintf("abort: kind %v, node %v", kind.Abort, err)
	}
	if err != nil {
		return ""
	}
	if result.Outcome != kind.Result.Outcome || result.InvalidPools != kind.Result.InvalidPools || result.Steps != kind.Result.Steps {
		return fmt.Sprintf("kind %+v, node %+v", kind.Result, result)
	}
	mine, errMine := c.positions(node, result.Allocations)
	theirs, errTheirs := c.positions(q.objects.Nodes[kind.Nodes[0]], kind.Result.Allocations)
	if errMine != nil || errTheirs != nil || !slices.Equal(mine, theirs) {
		return fmt.Sprintf("devices at %v, of the kind at %v (%v %v)", mine, theirs, errMine, errTheirs)
	}
	return ""
}

// positions returns the places of the devices among the candidates of the node.
func (c *Cluster) positions(node *corev1.Node, allocations []resourcev1.AllocationResult) ([]int, error) {
	ids, err := c.Candidates(node)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, a := range allocations {
		for _, r := range a.Devices.Results {
			at := -1
			for i, id := range ids {
				if id.Driver == r.Driver && id.Pool == r.Pool && id.Device == r.Device {
					at = i
				}
			}
			out = append(out, at)
		}
	}
	return out, nil
}
