package fix_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// upstream is what the scheduler's own allocator says of claims on a node.
type upstream string

// The answers of the scheduler's allocator.
const (
	upstreamFits    upstream = "fits"
	upstreamRefuses upstream = "refuses"
	upstreamAborts  upstream = "aborts"
	upstreamUnknown upstream = "unknown" // it was stopped
)

// upstreamSteps bounds the search of the scheduler's allocator.
const upstreamSteps = 2_000_000

// askUpstream lets the scheduler's own allocator decide about claims on a node. So what explanations say is
// tested with something else than what they were made with.
func askUpstream(t testing.TB, o inspect.Objects, f inspect.Features, claims []*resourcev1.ResourceClaim, name inspect.NodeName) upstream {
	t.Helper()
	published := upstreamSlices(o, f.Enabled(inspect.GateDeviceTaintRules))
	features := upstreamFeatures(f.Enabled)
	expressions := compiledFor(cel.Features{EnableConsumableCapacity: features.ConsumableCapacity, EnableListTypeAttributes: features.ListTypeAttributes})
	left := upstreamSteps
	ctx := stepBudget{t.Context(), &left}
	scheduler, err := structured.NewAllocator(ctx, features, upstreamState(o.Claims, features.ConsumableCapacity), upstreamClasses(o.Classes), published, expressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range o.Nodes {
		if node.Name != string(name) {
			continue
		}
		results, err := scheduler.Allocate(ctx, node, claims)
		switch {
		case left <= 0:
			return upstreamUnknown
		case errors.Is(err, structured.ErrFailedAllocationOnNode):
			return upstreamRefuses
		case err != nil:
			return upstreamAborts
		case len(results) != len(claims):
			return upstreamRefuses
		}
		return upstreamFits
	}
	t.Fatalf("there is no node %s", name)
	return upstreamUnknown
}

// compiled has the expressions that the scheduler's allocator compiled, by the features of expressions.
var compiled sync.Map

func compiledFor(f cel.Features) *cel.Cache {
	known, _ := compiled.LoadOrStore(f, cel.NewCache(200, f))
	return known.(*cel.Cache)
}

// upstreamSlices are the slices with the taints of the rules, sorted by name.
func upstreamSlices(o inspect.Objects, rules bool) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, slice := range o.Slices {
		slice = slice.DeepCopy()
		for _, rule := range o.TaintRules {
			s := rule.Spec.DeviceSelector
			if !rules || s == nil || s.Driver != nil && *s.Driver != slice.Spec.Driver || s.Pool != nil && *s.Pool != slice.Spec.Pool.Name {
				continue
			}
			for i := range slice.Spec.Devices {
				if d := &slice.Spec.Devices[i]; s.Device == nil || *s.Device == d.Name {
					d.Taints = append(d.Taints, rule.Spec.Taint)
				}
			}
		}
		out = append(out, slice)
	}
	slices.SortStableFunc(out, func(a, b *resourcev1.ResourceSlice) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// upstreamFeatures are features as the scheduler's plugin derives them from the gates.
func upstreamFeatures(on func(inspect.Gate) bool) structured.Features {
	return structured.Features{
		AdminAccess: on(inspect.GateAdminAccess), CompatibilityGroups: on(inspect.GateDeviceCompatibilityGroups),
		ConsumableCapacity: on(inspect.GateConsumableCapacity), DerivedAttributes: on(inspect.GateDerivedAttributes),
		DeviceBindingAndStatus: on(inspect.GateDeviceBindingConditions) && on(inspect.GateDeviceStatus),
		DeviceTaints:           on(inspect.GateDeviceTaints), FractionalCapacityRange: on(inspect.GateFractionalCapacityRange),
		ListTypeAttributes: on(inspect.GateListTypeAttributes), OptionalNodeOperations: on(inspect.GateOptionalNodeOperations),
		PartitionableDevices: on(inspect.GatePartitionableDevices), PrioritizedList: on(inspect.GatePrioritizedList),
	}
}

// upstreamState is what the scheduler's plugin knows of devices that claims hold.
func upstreamState(claims []*resourcev1.ResourceClaim, shares bool) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices: sets.New[structured.DeviceID](), AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			switch {
			case r.AdminAccess != nil && *r.AdminAccess:
			case shares && r.ShareID != nil:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
			default:
				state.AllocatedDevices.Insert(id)
			}
		}
	}
	return state
}

// upstreamClasses serve the scheduler's allocator.
type upstreamClasses []*resourcev1.DeviceClass

func (c upstreamClasses) List() ([]*resourcev1.DeviceClass, error) { return c, nil }

func (c upstreamClasses) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range c {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclasses"}, name)
}

// stepBudget expires when it was asked a number of times. The scheduler's allocator asks at each step.
type stepBudget struct {
	context.Context
	left *int
}

func (b stepBudget) Err() error {
	if *b.left <= 0 {
		return context.DeadlineExceeded
	}
	*b.left--
	return b.Context.Err()
}
