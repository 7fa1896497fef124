package moves

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxCopies is the number of copies of a claim that are placed.
const maxCopies = 10_000

// Defragment says how many claims like one fit after at most so many moves of pods. Room is made for one
// claim after the other, each time with the fewest pods, and never at the cost of another copy. So as many
// fit for certain, and with other moves there may be room for more. The error is that of the context, or of a
// question that could not be put.
func Defragment(ctx context.Context, c *scheduler.Cluster, like *resourcev1.ResourceClaim, most int) (*explain.Defragmentation, error) {
	out := &explain.Defragmentation{Like: cycle.SubjectOf(like), Partial: question.Limits(c.Snapshot()), Basis: question.Basis(c)}
	copies := 0
	next := func() *resourcev1.ResourceClaim { return copyOf(like, copies) }
	for {
		after, n, err := fill(ctx, c, next, &copies)
		if err != nil {
			return nil, err
		}
		c = after
		if n > 0 || len(out.Rows) == 0 {
			out.Rows = append(out.Rows, explain.DefragmentRow{Moves: len(out.Moves), Copies: copies})
		}
		if len(out.Moves) >= most || copies >= maxCopies {
			return out, nil
		}
		m, err := MakeRoom(ctx, c, next(), most-len(out.Moves))
		if err != nil {
			return nil, err
		}
		out.Doubts = append(out.Doubts, m.Doubts...)
		if len(m.Moves) == 0 || len(m.Moves) > most-len(out.Moves) {
			out.Complete = m.Verdict == explain.Infeasible || m.AtLeast > most-len(out.Moves)
			return out, nil
		}
		if c, err = made(ctx, c, m); err != nil {
			return nil, err
		}
		out.Moves = append(out.Moves, m.Moves...)
	}
}

// copyOf is a claim like another, which nobody has made.
func copyOf(like *resourcev1.ResourceClaim, number int) *resourcev1.ResourceClaim {
	out := like.DeepCopy()
	out.Name = fmt.Sprintf("%s-copy-%d", like.Name, number)
	out.UID, out.Status, out.DeletionTimestamp, out.OwnerReferences = types.UID(out.Name), resourcev1.ResourceClaimStatus{}, nil, nil
	return out
}

// fill allocates copies until none fits.
func fill(ctx context.Context, c *scheduler.Cluster, next func() *resourcev1.ResourceClaim, copies *int) (after *scheduler.Cluster, n int, err error) {
	// What a copy takes makes no other node fit, so nodes that once refused are not asked again.
	nodes := c.Snapshot().Nodes()
	for len(nodes) > 0 && *copies < maxCopies {
		m := cycle.ClaimMember(next(), cycle.Options{})
		t, err := m.Ask(ctx, c, nodes)
		if err != nil || len(t.Options) == 0 || !certain(t) {
			return c, n, err
		}
		var left []*corev1.Node
		for _, o := range t.Options {
			if node, ok := c.Snapshot().Node(o.Node); ok {
				left = append(left, node)
			}
		}
		reservation, err := t.Options[0].Reserve(ctx)
		if err != nil {
			return nil, 0, err
		}
		c, nodes = cycle.With(c, reservation), left
		*copies++
		n++
	}
	return c, n, nil
}

// made is a cluster in which moves were made, before what they make room for is placed.
func made(ctx context.Context, c *scheduler.Cluster, m *explain.Moves) (*scheduler.Cluster, error) {
	for _, move := range m.Moves {
		pod, ok := c.Snapshot().Pod(inspect.PodRef{Namespace: move.Pod.Namespace, Name: move.Pod.Name})
		node, known := c.Snapshot().Node(move.To)
		if !ok || !known {
			return nil, fmt.Errorf("moving pod %s to node %s: there is no such pod or node", move.Pod.FullName(), move.To)
		}
		c = without(c, pod)
		t, err := cycle.PodMember(c, replacementOf(pod), cycle.Options{}).Ask(ctx, c, []*corev1.Node{node})
		if err != nil {
			return nil, err
		}
		if len(t.Options) != 1 {
			return nil, fmt.Errorf("moving pod %s to node %s: it does not fit there", move.Pod.FullName(), move.To)
		}
		reservation, err := t.Options[0].Reserve(ctx)
		if err != nil {
			return nil, err
		}
		c = cycle.With(c, reservation)
	}
	return c, nil
}

// Wanted is a claim that stands for those of a class: of the claims that wait for it the one with the most
// devices, or else one for as many devices of the class as a node has that nobody uses. It is nil if there
// are none.
func Wanted(ctx context.Context, c *scheduler.Cluster, class string) (*resourcev1.ResourceClaim, error) {
	var best *resourcev1.ResourceClaim
	most := int64(0)
	for _, claim := range c.Snapshot().Objects().Claims {
		if n := devicesWanted(claim, class); claim.Status.Allocation == nil && claim.DeletionTimestamp == nil && n > most {
			best, most = claim, n
		}
	}
	if best != nil {
		return best, nil
	}
	empty := scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { o.Claims, o.Pods = nil, nil }), scheduler.Options{Like: c})
	largest := map[string]int64{}
	for _, slice := range c.Snapshot().Slices() {
		if slice.Spec.NodeName != nil {
			largest[*slice.Spec.NodeName] += int64(len(slice.Spec.Devices))
		}
	}
	n := int64(1)
	for _, devices := range largest {
		n = max(n, devices)
	}
	for n = min(n, resourcev1.AllocationResultsMaxSize); n > 0; n-- {
		claim := &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{
			Name: "devices", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: n},
		}}}}}
		claim.Namespace, claim.Name = "default", fmt.Sprintf("%d-of-%s", n, class)
		t, err := cycle.ClaimMember(claim, cycle.Options{}).Ask(ctx, empty, nil)
		if err != nil {
			return nil, err
		}
		if len(t.Options) > 0 {
			return claim, nil
		}
	}
	return nil, nil
}

// devicesWanted is the number of devices of a class that a claim asks for at least. A request for all devices
// counts as one.
func devicesWanted(claim *resourcev1.ResourceClaim, class string) int64 {
	n := int64(0)
	for i := range claim.Spec.Devices.Requests {
		request := &claim.Spec.Devices.Requests[i]
		if e := request.Exactly; e != nil && e.DeviceClassName == class {
			n += max(1, e.Count)
		}
		if len(request.FirstAvailable) > 0 && request.FirstAvailable[0].DeviceClassName == class {
			n += max(1, request.FirstAvailable[0].Count)
		}
	}
	return n
}
