package commit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Decision is what is to be written, or why nothing can be.
type Decision struct {
	// Snapshot is what was decided on.
	Snapshot *inspect.Snapshot
	// Claims are all that were asked for, in the order asked, as they were read.
	Claims []*resourcev1.ResourceClaim
	// Allocations are what those of the claims get that are not allocated yet, complete with share IDs.
	Allocations map[inspect.ClaimRef]*resourcev1.AllocationResult
	// Consumers are the pods for which claims are to be reserved, which are not yet.
	Consumers map[inspect.ClaimRef]resourcev1.ResourceClaimConsumerReference
	// Node is the node for which was allocated. It is "" if nothing needed to be.
	Node inspect.NodeName
	// Refusal says, in lines to read one after the other, why the claims cannot be allocated. It is empty
	// when they can be.
	Refusal []string
}

// A Decider decides what is to be written, on a snapshot. It is asked again when the cluster turns out
// to have changed. An error ends the run.
type Decider func(ctx context.Context, s *inspect.Snapshot) (*Decision, error)

// pending returns the claims that are to be allocated, in the order asked.
func (d *Decision) pending() []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for _, claim := range d.Claims {
		if d.Allocations[inspect.RefOf(claim)] != nil {
			out = append(out, claim)
		}
	}
	return out
}

// Same reports whether two decisions would be the same to whoever confirms one: they give the same amounts of
// the same devices to the same claims, on the same node, and reserve them for the same pods.
func (d *Decision) Same(other *Decision) bool { return d.key() == other.key() }

func (d *Decision) key() string {
	text := fmt.Sprintf("%q", d.Node)
	for _, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		consumer, reserved := d.Consumers[ref]
		if d.Allocations[ref] == nil && !reserved {
			continue
		}
		text += fmt.Sprintf("\n%s %q %q %q:", ref, claim.UID, consumer.Name, consumer.UID)
		if d.Allocations[ref] == nil {
			continue
		}
		for _, device := range announced(d.Allocations[ref]) {
			text += fmt.Sprintf(" %q %q %q %v", device.Driver, device.Pool, device.Device, device.Admin)
			for _, name := range slices.Sorted(maps.Keys(device.ConsumedCapacity)) {
				amount := device.ConsumedCapacity[name]
				text += fmt.Sprintf(" %q=%s", name, amount.String())
			}
		}
	}
	return text
}

// pendingNames names the pending claims as announcements do.
func (d *Decision) pendingNames() []string {
	var out []string
	for _, claim := range d.pending() {
		out = append(out, inspect.RefOf(claim).String())
	}
	return out
}

// Written returns the claims as they would be written, in the order asked, with the time of allocation.
func (d *Decision) Written(now metav1.Time) []*resourcev1.ResourceClaim {
	out := make([]*resourcev1.ResourceClaim, len(d.Claims))
	for i, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		out[i] = claim.DeepCopy()
		if allocation := d.Allocations[ref]; allocation != nil {
			out[i].Status.Allocation = allocation.DeepCopy()
			stamp(out[i], now)
			if !slices.Contains(out[i].Finalizers, resourcev1.Finalizer) {
				out[i].Finalizers = append(out[i].Finalizers, resourcev1.Finalizer)
			}
		}
		if consumer, ok := d.Consumers[ref]; ok {
			out[i].Status.ReservedFor = append(out[i].Status.ReservedFor, consumer)
		}
	}
	return out
}

// stamp writes down when a claim was allocated. The scheduler measures from then how long a pod may wait for
// the conditions of its devices. It adds the time where it is missing, when it reserves the claim for another
// pod, and the server refuses that: so it must be there whatever features are on now.
func stamp(claim *resourcev1.ResourceClaim, now metav1.Time) {
	claim.Status.Allocation.AllocationTimestamp = &now
}

// Decide allocates those of the claims that are not allocated yet on the first of the nodes on which all
// of them fit together. refused are nodes that must not be used, for reasons that are not the claims'.
// The claims must have been read with the snapshot.
func Decide(ctx context.Context, cluster *allocator.Cluster, claims []*resourcev1.ResourceClaim, nodes []*corev1.Node, refused map[inspect.NodeName]bool) (*Decision, error) {
	d := &Decision{Snapshot: cluster.Snapshot(), Claims: claims, Allocations: map[inspect.ClaimRef]*resourcev1.AllocationResult{}}
	var pending []*resourcev1.ResourceClaim
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			pending = append(pending, claim)
		}
	}
	if len(pending) == 0 {
		return d, nil
	}
	var usable []*corev1.Node
	for _, node := range nodes {
		if refused[inspect.NodeName(node.Name)] {
			continue
		}
		ok, err := availableOn(node, claims)
		if err != nil {
			return nil, err
		}
		if ok {
			usable = append(usable, node)
		}
	}
	result, err := firstFit(ctx, cluster, usable, pending)
	if err != nil || result == nil {
		return d, err
	}
	d.Node = result.Node
	for i, claim := range pending {
		allocation := result.Allocations[i].DeepCopy()
		if err := addShareIDs(allocation); err != nil {
			return nil, err
		}
		d.Allocations[inspect.RefOf(claim)] = allocation
	}
	return d, nil
}

// firstFit returns the allocation on the first of the nodes on which there is one, or nil. All nodes are
// asked, because an error on any of them makes the scheduler give up.
func firstFit(ctx context.Context, cluster *allocator.Cluster, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) (*allocator.Result, error) {
	var found *allocator.Result
	undecided := ""
	for _, node := range nodes {
		result, err := cluster.Allocate(ctx, node, claims, nil)
		if abort := (*allocator.AbortError)(nil); errors.As(err, &abort) {
			return nil, fmt.Errorf("the scheduler gives up with an error: %w", abort)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case result.Outcome == allocator.Allocated && found == nil:
			found = result
		case result.Outcome == allocator.Undecided:
			undecided = node.Name
		}
	}
	if found == nil && undecided != "" {
		return nil, fmt.Errorf("on node %s the search was given up before it had an answer, and there is none on the other nodes", undecided)
	}
	return found, nil
}

// availableOn reports whether all claims that are allocated are available on the node.
func availableOn(node *corev1.Node, claims []*resourcev1.ResourceClaim) (bool, error) {
	for _, claim := range claims {
		if claim.Status.Allocation == nil || claim.Status.Allocation.NodeSelector == nil {
			continue
		}
		selector, err := nodeaffinity.NewNodeSelector(claim.Status.Allocation.NodeSelector)
		if err != nil {
			return false, fmt.Errorf("reading the node selector of resourceclaim %s: %w", inspect.RefOf(claim), err)
		}
		if !selector.Match(node) {
			return false, nil
		}
	}
	return true, nil
}

// addShareIDs gives every share of a device that allows several its identity. As in the scheduler it is
// a random UUID; the allocator only marks the shares.
func addShareIDs(allocation *resourcev1.AllocationResult) error {
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		if r.ShareID == nil {
			continue
		}
		id, err := randomUUID()
		if err != nil {
			return err
		}
		r.ShareID = &id
	}
	return nil
}

func randomUUID() (types.UID, error) {
	id, err := uuid.NewRandom()
	if err != nil {
		return "", fmt.Errorf("drawing a random number: %w", err)
	}
	return types.UID(id.String()), nil
}

// AddConsumers notes for which pod each claim is to be reserved. of names the pod of a claim. Claims that
// are reserved for it already are left out.
func (d *Decision) AddConsumers(of func(*resourcev1.ResourceClaim) (*corev1.Pod, error)) error {
	d.Consumers = map[inspect.ClaimRef]resourcev1.ResourceClaimConsumerReference{}
	for _, claim := range d.Claims {
		pod, err := of(claim)
		if err != nil {
			return err
		}
		if pod.UID == "" {
			return fmt.Errorf("reserving %s: the uid of its pod is not known", inspect.RefOf(claim))
		}
		reserved := slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool { return c.UID == pod.UID })
		switch {
		case reserved:
		case len(claim.Status.ReservedFor) >= resourcev1.ResourceClaimReservedForMaxSize:
			return fmt.Errorf("reserving %s for pod %s: it is reserved by %d consumers, which is the limit", inspect.RefOf(claim), pod.Name, len(claim.Status.ReservedFor))
		default:
			d.Consumers[inspect.RefOf(claim)] = resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod.Name, UID: pod.UID}
		}
	}
	return nil
}
