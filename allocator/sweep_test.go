package allocator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestSweepAnswersLikeAllocate doubles the nodes of random problems, so that many look alike, and
// compares the answer of each group with that of every one of its nodes.
func TestSweepAnswersLikeAllocate(t *testing.T) {
	n := effort.Of(6_000, 300)
	ctx := context.Background()
	shared, nodes := 0, 0
	for i := range n {
		d := seeded(uint64(2_000_000 + i))
		q := generate(d)
		if i%3 == 2 {
			q.features = inspect.DefaultFeatures(inspect.PreviewMinor).With(q.gates)
			q.preview(d)
		}
		double(q, d)
		c := newOurs(q, stepBudget)
		groups, err := c.Sweep(ctx, q.objects.Nodes, q.pending)
		if err != nil {
			t.Fatal(err)
		}
		answered := 0
		for _, group := range groups {
			answered += len(group.Nodes)
			if len(group.Nodes) > 1 {
				shared += len(group.Nodes)
			}
			for _, at := range group.Nodes {
				if d := groupDifference(ctx, c, q, &group, q.objects.Nodes[at]); d != "" {
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

// TestSweepOfFewNodes asks about a few of many nodes: what they look like to one question is kept for those
// that read the same, and no longer true once devices are held.
func TestSweepOfFewNodes(t *testing.T) {
	ctx := context.Background()
	placed := 0
	for i := range effort.Of(6_000, 2_000) {
		d := seeded(uint64(3_000_000 + i))
		q := generate(d)
		double(q, d)
		few := len(q.objects.Nodes)
		for n := range 8 * few {
			q.objects.Nodes = append(q.objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("other-", n)}})
		}
		c := newOurs(q, stepBudget)
		compare := func(c *Cluster, q *question) (free *NodeGroup) {
			groups, err := c.Sweep(ctx, q.objects.Nodes[:few], q.pending)
			if err != nil {
				t.Fatal(err)
			}
			for g := range groups {
				if groups[g].Result != nil && groups[g].Result.Outcome == Allocated {
					free = &groups[g]
				}
				for _, at := range groups[g].Nodes {
					if d := groupDifference(ctx, c, q, &groups[g], q.objects.Nodes[at]); d != "" {
						t.Fatalf("problem %d, node %s: %s\n%s", i, q.objects.Nodes[at].Name, d, q)
					}
				}
			}
			return free
		}
		compare(c, &question{objects: q.objects, pending: blind(q.pending)})
		free := compare(c, q)
		if free == nil {
			continue
		}
		var held []*resourcev1.ResourceClaim
		for n, claim := range q.pending {
			claim = claim.DeepCopy()
			claim.Name, claim.Status.Allocation = claim.Name+"-held", &free.Result.Allocations[n]
			held = append(held, claim)
		}
		compare(NewCluster(c.Snapshot().WithPlaced(held, nil), Options{StepLimit: stepBudget, Like: c}), q)
		placed++
	}
	if placed == 0 {
		t.Error("nothing was ever held")
	}
}

// TestSweepSaysWhyItEnds: one node or several, the error is the cause of the end of the context.
func TestSweepSaysWhyItEnds(t *testing.T) {
	q := generate(seeded(1))
	for i := range 24 {
		q.objects.Nodes = append(q.objects.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("other-", i)}})
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(cause)
	c := newOurs(q, stepBudget)
	for _, n := range []int{1, 2, len(q.objects.Nodes)} {
		if _, err := c.Sweep(ctx, c.Snapshot().Nodes()[:n], q.pending); !errors.Is(err, cause) {
			t.Errorf("%d nodes: %v", n, err)
		}
	}
}

// blind are claims that read nothing of devices.
func blind(claims []*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for _, claim := range claims {
		claim = claim.DeepCopy()
		claim.Spec.Devices.Constraints = nil
		for i := range claim.Spec.Devices.Requests {
			request := &claim.Spec.Devices.Requests[i]
			if request.Exactly != nil {
				request.Exactly.Selectors = nil
			}
			for n := range request.FirstAvailable {
				request.FirstAvailable[n].Selectors = nil
			}
		}
		out = append(out, claim)
	}
	return out
}

// double adds a twin of every node, with twins of its slices in pools of other names. Of every other
// twin something is changed, so that it looks like its node only if nothing that matters is forgotten.
func double(q *question, d *dice) {
	for i, node := range slices.Clone(q.objects.Nodes) {
		twin := node.DeepCopy()
		twin.Name += "-twin"
		q.objects.Nodes = append(q.objects.Nodes, twin)
		var made []*resourcev1.ResourceSlice
		for _, slice := range slices.Clone(q.objects.Slices) {
			if slice.Spec.NodeName == nil || *slice.Spec.NodeName != node.Name {
				continue
			}
			s := slice.DeepCopy()
			s.Name += "-twin"
			s.Spec.NodeName = &twin.Name
			s.Spec.Pool.Name += "-twin"
			made = append(made, s)
		}
		q.objects.Slices = append(q.objects.Slices, made...)
		if i%2 == 0 && len(made) > 0 {
			change(d, made[d.n(len(made))], twin)
		}
		holdLike(q, d, node.Name, made)
	}
}

// change changes one thing about a slice or the node.
func change(d *dice, slice *resourcev1.ResourceSlice, node *corev1.Node) {
	for i := range slice.Spec.SharedCounters {
		for name, c := range slice.Spec.SharedCounters[i].Counters {
			if d.chance(50) {
				c.Value.Add(*quantity("1"))
				slice.Spec.SharedCounters[i].Counters[name] = c
			}
		}
	}
	if len(slice.Spec.Devices) == 0 {
		return
	}
	device := &slice.Spec.Devices[d.n(len(slice.Spec.Devices))]
	switch d.n(9) {
	case 0:
		for name, a := range device.Attributes {
			if a.IntValue != nil {
				device.Attributes[name] = resourcev1.DeviceAttribute{IntValue: ptr.To(*a.IntValue + 1)}
			}
		}
	case 1:
		for name, a := range device.Attributes {
			if a.StringValue != nil {
				device.Attributes[name] = resourcev1.DeviceAttribute{StringValue: ptr.To(*a.StringValue + "x")}
			}
		}
	case 2:
		device.Taints = append(device.Taints, resourcev1.DeviceTaint{Key: "twin", Effect: resourcev1.DeviceTaintEffectNoSchedule})
	case 3:
		device.AllowMultipleAllocations = ptr.To(device.AllowMultipleAllocations == nil || !*device.AllowMultipleAllocations)
	case 4:
		for name, c := range device.Capacity {
			c.Value = *quantity("1")
			device.Capacity[name] = c
		}
	case 5:
		for name, c := range device.Capacity {
			c.RequestPolicy = &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidValues: []resource.Quantity{*quantity("1")}}
			device.Capacity[name] = c
		}
	case 6:
		for i := range device.ConsumesCounters {
			for name, c := range device.ConsumesCounters[i].Counters {
				c.Value.Add(*quantity("1"))
				device.ConsumesCounters[i].Counters[name] = c
			}
			device.ConsumesCounters[i].CompatibilityGroups = append(device.ConsumesCounters[i].CompatibilityGroups, "twin")
		}
	case 7:
		device.Attributes = nil
	case 8:
		node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, string(inspect.GateOptionalNodeOperations))
	}
}

// holdLike gives the devices of most twins holders like those of the originals.
func holdLike(q *question, d *dice, node string, made []*resourcev1.ResourceSlice) {
	twins := map[inspect.PoolID]bool{}
	for _, s := range made {
		twins[inspect.PoolID{Driver: s.Spec.Driver, Pool: strings.TrimSuffix(s.Spec.Pool.Name, "-twin")}] = true
	}
	for _, claim := range slices.Clone(q.objects.Claims) {
		if claim.Status.Allocation == nil || d.chance(25) {
			continue
		}
		c := claim.DeepCopy()
		c.Name += "-twin-" + node
		c.Status.Allocation.Devices.Results = nil
		for _, r := range claim.Status.Allocation.Devices.Results {
			if twins[inspect.PoolID{Driver: r.Driver, Pool: r.Pool}] {
				r := *r.DeepCopy()
				r.Pool += "-twin"
				c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, r)
			}
		}
		if len(c.Status.Allocation.Devices.Results) > 0 {
			q.objects.Claims = append(q.objects.Claims, c)
		}
	}
}

// groupDifference compares the answer of a group with that of one node, devices by their positions.
func groupDifference(ctx context.Context, c *Cluster, q *question, group *NodeGroup, node *corev1.Node) string {
	result, err := c.Allocate(ctx, node, q.pending, nil)
	if (err != nil) != (group.Abort != nil) {
		return fmt.Sprintf("abort: group %v, node %v", group.Abort, err)
	}
	if err != nil {
		return ""
	}
	if result.Outcome != group.Result.Outcome || result.InvalidPools != group.Result.InvalidPools || result.Steps != group.Result.Steps {
		return fmt.Sprintf("group %+v, node %+v", group.Result, result)
	}
	mine, errMine := c.positions(node, result.Allocations)
	theirs, errTheirs := c.positions(q.objects.Nodes[group.Nodes[0]], group.Result.Allocations)
	if errMine != nil || errTheirs != nil || !slices.Equal(mine, theirs) {
		return fmt.Sprintf("devices at %v, of the group at %v (%v %v)", mine, theirs, errMine, errTheirs)
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
