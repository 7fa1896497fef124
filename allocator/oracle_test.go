package allocator

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The scheduler's own allocator as an oracle. What the scheduler's plugin does around it (which
// results of other claims count, which taints a device has) is written here a second time, on purpose
// without the code under test.

// outcome is the kind of an answer.
type outcome string

const (
	gotDevices      outcome = "devices"
	gotNothing      outcome = "nothing"
	gotInvalidPools outcome = "invalid pools"
	gotAbort        outcome = "abort"
	gotUndecided    outcome = "undecided"
	gotPanic        outcome = "panic"
)

// answer is what either allocator says about one node.
type answer struct {
	outcome     outcome
	allocations []resourcev1.AllocationResult
	steps       int64
	variant     string
	err         error
}

// features as the scheduler's plugin derives them from the gates.
func schedulerFeatures(on func(inspect.Gate) bool) structured.Features {
	return structured.Features{
		AdminAccess:             on("DRAAdminAccess"),
		CompatibilityGroups:     on("DRADeviceCompatibilityGroups"),
		ConsumableCapacity:      on("DRAConsumableCapacity"),
		DerivedAttributes:       on("DRADerivedAttributes"),
		DeviceBindingAndStatus:  on("DRADeviceBindingConditions") && on("DRAResourceClaimDeviceStatus"),
		DeviceTaints:            on("DRADeviceTaints"),
		FractionalCapacityRange: on("DRAFractionalCapacityRange"),
		ListTypeAttributes:      on("DRAListTypeAttributes"),
		OptionalNodeOperations:  on("DRAOptionalNodeOperations"),
		PartitionableDevices:    on("DRAPartitionableDevices"),
		PrioritizedList:         on("DRAPrioritizedList"),
	}
}

// schedulerState is the allocation state that the scheduler's plugin keeps of the claims.
func schedulerState(claims []*resourcev1.ResourceClaim, consumable bool) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, result := range claim.Status.Allocation.Devices.Results {
			if result.AdminAccess != nil && *result.AdminAccess {
				continue
			}
			id := structured.MakeDeviceID(result.Driver, result.Pool, result.Device)
			if !consumable || result.ShareID == nil {
				state.AllocatedDevices.Insert(id)
				continue
			}
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, result.ShareID))
			if result.ConsumedCapacity != nil {
				state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, result.ConsumedCapacity))
			}
		}
	}
	return state
}

// schedulerSlices are the slices with the taints of the rules, sorted by name: where slices of one
// pool contradict each other, the order of the input counts.
func schedulerSlices(q *question) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, slice := range q.objects.Slices {
		slice = slice.DeepCopy()
		for i := range slice.Spec.Devices {
			for _, rule := range q.objects.TaintRules {
				s := rule.Spec.DeviceSelector
				switch {
				case !q.features.Enabled("DRADeviceTaintRules"),
					s == nil && (q.serverVersion == "" || q.serverVersion >= "v1.37.1"), // before, it is for all devices
					s != nil && s.Driver != nil && *s.Driver != slice.Spec.Driver,
					s != nil && s.Pool != nil && *s.Pool != slice.Spec.Pool.Name,
					s != nil && s.Device != nil && *s.Device != slice.Spec.Devices[i].Name:
				default:
					slice.Spec.Devices[i].Taints = append(slice.Spec.Devices[i].Taints, rule.Spec.Taint)
				}
			}
		}
		out = append(out, slice)
	}
	slices.SortStableFunc(out, func(a, b *resourcev1.ResourceSlice) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return out
}

// classLister serves the classes of a problem.
type classLister []*resourcev1.DeviceClass

func (l classLister) List() ([]*resourcev1.DeviceClass, error) { return l, nil }

func (l classLister) Get(name string) (*resourcev1.DeviceClass, error) {
	for _, class := range l {
		if class.Name == name {
			return class, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: "resource.k8s.io", Resource: "deviceclasses"}, name)
}

// expressionCaches keeps compiled expressions of the oracle, one cache per set of CEL features.
var expressionCaches = struct {
	sync.Mutex
	m map[cel.Features]*cel.Cache
}{m: map[cel.Features]*cel.Cache{}}

func expressionCache(f structured.Features) *cel.Cache {
	key := cel.Features{EnableConsumableCapacity: f.ConsumableCapacity, EnableListTypeAttributes: f.ListTypeAttributes}
	expressionCaches.Lock()
	defer expressionCaches.Unlock()
	if expressionCaches.m[key] == nil {
		expressionCaches.m[key] = cel.NewCache(200, key)
	}
	return expressionCaches.m[key]
}

// newScheduler makes the scheduler's allocator for a problem.
func newScheduler(ctx context.Context, q *question) (structured.Allocator, error) {
	return newSchedulerOver(ctx, q, schedulerSlices(q))
}

func newSchedulerOver(ctx context.Context, q *question, patched []*resourcev1.ResourceSlice) (structured.Allocator, error) {
	f := schedulerFeatures(q.features.Enabled)
	return structured.NewAllocator(ctx, f, schedulerState(q.objects.Claims, f.ConsumableCapacity),
		classLister(q.objects.Classes), patched, expressionCache(f))
}

// budget is a context that expires when it has been asked a number of times. The scheduler's allocator
// asks at each step, so this ends a long search at the same point in every run.
type budget struct {
	context.Context
	left *int
}

func (b budget) Err() error {
	if *b.left <= 0 {
		return context.DeadlineExceeded
	}
	*b.left--
	return nil
}

// ask lets the scheduler's allocator decide about a node within a number of steps. The instance counts
// its steps over all nodes, so they are only those of this question if the instance is new.
func ask(ctx context.Context, scheduler structured.Allocator, q *question, node *corev1.Node, steps int) (a answer) {
	left := steps
	ctx = budget{ctx, &left}
	defer func() {
		if r := recover(); r != nil {
			a = answer{outcome: gotPanic, err: fmt.Errorf("%v", r)}
		}
	}()
	allocations, err := scheduler.Allocate(ctx, node, q.pending)
	a = answer{allocations: allocations, err: err}
	// The methods are exported, but they return types of an internal package.
	methods := reflect.ValueOf(scheduler)
	a.steps = methods.MethodByName("GetStats").Call(nil)[0].FieldByName("NumAllocateOneInvocations").Int()
	a.variant = methods.MethodByName("Channel").Call(nil)[0].String()
	switch {
	case left <= 0:
		a.outcome = gotUndecided
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		a.outcome = gotInvalidPools
	case err != nil:
		a.outcome = gotAbort
	case allocations == nil:
		a.outcome = gotNothing
	default:
		a.outcome = gotDevices
	}
	return a
}

// expressions are compiled once for all problems, as in a process that runs for long.
var expressions = selector.NewLibrary()

// newOurs builds the code under test for a problem. It walks without pruning, step by step as the
// scheduler does.
func newOurs(q *question, stepLimit int64) *Cluster {
	return NewCluster(snapshotOf(q), Options{StepLimit: stepLimit, Plain: true, Library: expressions})
}

func snapshotOf(q *question) *inspect.Snapshot {
	objects := q.objects
	// New sorts in place; the problem is read by others.
	objects.Claims, objects.Classes = slices.Clone(objects.Claims), slices.Clone(objects.Classes)
	objects.Slices, objects.TaintRules = slices.Clone(objects.Slices), slices.Clone(objects.TaintRules)
	objects.Nodes = slices.Clone(objects.Nodes)
	return inspect.New(objects, inspect.Config{Features: q.features, ServerVersion: q.serverVersion})
}

// answerOf lets the code under test decide about a node.
func answerOf(ctx context.Context, c *Cluster, q *question, node *corev1.Node, observer Observer) answer {
	result, err := c.Allocate(ctx, node, q.pending, observer)
	a := answer{err: err, variant: string(c.Variant())}
	if err != nil {
		a.outcome = gotAbort
		return a
	}
	a.steps, a.allocations = result.Steps, result.Allocations
	switch {
	case result.Outcome == Allocated:
		a.outcome = gotDevices
	case result.Outcome == Undecided:
		a.outcome = gotUndecided
	case result.InvalidPools:
		a.outcome = gotInvalidPools
	default:
		a.outcome = gotNothing
	}
	return a
}

// otherAnswer is difference without the steps, for searches with pruning.
func otherAnswer(ours, scheduler answer) string {
	ours.steps = scheduler.steps
	return difference(ours, scheduler)
}

// difference says how our answer differs from the scheduler's, or "".
func difference(ours, scheduler answer) string {
	if ours.variant != scheduler.variant {
		return fmt.Sprintf("variant: ours %s, scheduler %s", ours.variant, scheduler.variant)
	}
	if ours.outcome != scheduler.outcome {
		return fmt.Sprintf("outcome: ours %q (%v), scheduler %q (%v)", ours.outcome, ours.err, scheduler.outcome, scheduler.err)
	}
	if ours.outcome == gotAbort {
		var abort *AbortError
		if !errors.As(ours.err, &abort) {
			return fmt.Sprintf("abort with an error of type %T: %v", ours.err, ours.err)
		}
		return ""
	}
	if ours.steps != scheduler.steps {
		return fmt.Sprintf("steps: ours %d, scheduler %d", ours.steps, scheduler.steps)
	}
	if len(ours.allocations) != len(scheduler.allocations) {
		return fmt.Sprintf("allocations: ours %d, scheduler %d", len(ours.allocations), len(scheduler.allocations))
	}
	for i := range ours.allocations {
		if d := allocationDifference(&ours.allocations[i], &scheduler.allocations[i]); d != "" {
			return fmt.Sprintf("claim %d: %s", i, d)
		}
	}
	return ""
}

func allocationDifference(ours, scheduler *resourcev1.AllocationResult) string {
	a, b := ours.Devices.Results, scheduler.Devices.Results
	if len(a) != len(b) || (a == nil) != (b == nil) {
		return fmt.Sprintf("devices: ours %d (nil: %t), scheduler %d (nil: %t)", len(a), a == nil, len(b), b == nil)
	}
	for i := range a {
		if d := consumedDifference(&a[i], &b[i]); d != "" {
			return fmt.Sprintf("result %d: %s", i, d)
		}
		x, y := a[i], b[i]
		x.ShareID, y.ShareID = nil, nil // random
		x.ConsumedCapacity, y.ConsumedCapacity = nil, nil
		if !reflect.DeepEqual(x, y) {
			return fmt.Sprintf("result %d: ours %s, scheduler %s", i, x.String(), y.String())
		}
	}
	x, y := *ours, *scheduler
	x.Devices.Results, y.Devices.Results = nil, nil
	if !reflect.DeepEqual(x, y) {
		return fmt.Sprintf("node selector or config: ours %s, scheduler %s", x.String(), y.String())
	}
	return ""
}

func consumedDifference(ours, scheduler *resourcev1.DeviceRequestAllocationResult) string {
	a, b := ours.ConsumedCapacity, scheduler.ConsumedCapacity
	same := len(a) == len(b)
	for name := range b {
		x, ok := a[name]
		y := b[name]
		same = same && ok && x.Cmp(y) == 0 && x.String() == y.String()
	}
	if same {
		return ""
	}
	return fmt.Sprintf("consumed capacity: ours %v, scheduler %v", a, b)
}
