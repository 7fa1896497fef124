package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// oracle is kube-scheduler's own allocator, with the gates that Kubernetes 1.37 has on by default. What the
// demo promises is checked against it, and not against the allocator of this module.
type oracle struct {
	allocator structured.Allocator
	nodes     []*corev1.Node
	classes   classes
}

type classes []*resourcev1.DeviceClass

func (c classes) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, fmt.Errorf("class %s not found", name)
}

func (c classes) List() ([]*resourcev1.DeviceClass, error) { return c, nil }

// newOracle makes an oracle for a snapshot, as if the claim called except were not allocated.
func newOracle(t *testing.T, snapshot *inspect.Snapshot, except inspect.ClaimRef) *oracle {
	t.Helper()
	features := structured.Features{
		AdminAccess: true, PrioritizedList: true, PartitionableDevices: true, DeviceTaints: true,
		DeviceBindingAndStatus: true, ConsumableCapacity: true, FractionalCapacityRange: true,
	}
	objects := snapshot.Objects()
	allocator, err := structured.NewAllocator(t.Context(), features, allocated(objects.Claims, except),
		classes(objects.Classes), snapshot.Slices(), cel.NewCache(100, cel.Features{}))
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{allocator: allocator, nodes: objects.Nodes, classes: objects.Classes}
}

// allocated is what the claims hold, counted as the scheduler does: admin access holds nothing.
func allocated(claims []*resourcev1.ResourceClaim, except inspect.ClaimRef) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil || inspect.RefOf(claim) == except {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			switch {
			case result.AdminAccess != nil && *result.AdminAccess:
			case result.ShareID != nil:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
			default:
				state.AllocatedDevices.Insert(id)
			}
		}
	}
	return state
}

// decide returns the verdict of the contract for a claim that is not allocated, and the nodes where it can
// be.
func (o *oracle) decide(ctx context.Context, claim *resourcev1.ResourceClaim) (verdict string, nodes []string, err error) {
	// The scheduler looks at the classes before any node, and then the pod just waits.
	for _, name := range classNames(claim) {
		if _, err := o.classes.Get(name); err != nil {
			return "Unsatisfiable", nil, nil
		}
	}
	for _, node := range o.nodes {
		results, nodeErr := o.allocator.Allocate(ctx, node, []*resourcev1.ResourceClaim{claim})
		switch {
		case errors.Is(nodeErr, structured.ErrFailedAllocationOnNode):
		case nodeErr != nil:
			err = errors.Join(err, nodeErr)
		case results != nil:
			nodes = append(nodes, node.Name)
		}
	}
	switch {
	case err != nil:
		return "Invalid", nodes, err
	case len(nodes) == 0:
		return "Unsatisfiable", nil, nil
	}
	return "Allocatable", nodes, nil
}

func classNames(claim *resourcev1.ResourceClaim) []string {
	var names []string
	for _, request := range claim.Spec.Devices.Requests {
		if request.Exactly != nil {
			names = append(names, request.Exactly.DeviceClassName)
		}
		for _, sub := range request.FirstAvailable {
			names = append(names, sub.DeviceClassName)
		}
	}
	return names
}

// onlyDevices returns a snapshot in which nothing is left to choose for a claim: of all devices only those
// remain that the claim was given or that others hold. Taint rules are left out, for they may be younger than
// an allocation.
func onlyDevices(snapshot *inspect.Snapshot, claim *resourcev1.ResourceClaim) *inspect.Snapshot {
	return snapshot.With(func(objects *inspect.Objects) {
		objects.TaintRules = nil
		for i, slice := range objects.Slices {
			slice = slice.DeepCopy()
			slice.Spec.Devices = slices.DeleteFunc(slice.Spec.Devices, func(device resourcev1.Device) bool {
				id := inspect.DeviceID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Device: device.Name}
				return !mayBeSeen(snapshot, claim, id)
			})
			objects.Slices[i] = slice
		}
	})
}

func mayBeSeen(snapshot *inspect.Snapshot, claim *resourcev1.ResourceClaim, id inspect.DeviceID) bool {
	for _, result := range claim.Status.Allocation.Devices.Results {
		if (inspect.DeviceID{Driver: result.Driver, Pool: result.Pool, Device: result.Device}) == id {
			return true
		}
	}
	for _, holder := range snapshot.Holders(id) {
		// A shared device that only others hold would be a choice.
		if !holder.Admin() && !holder.Shared() {
			return true
		}
	}
	return false
}
