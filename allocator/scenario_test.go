package allocator_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
)

const scenarioFiles = "../testdata/scenarios/*.txtar"

// TestScenarios puts the questions of every scenario to our allocator and to the scheduler's. Both must
// give the wanted answer, and where a scenario leaves something open they must agree.
func TestScenarios(t *testing.T) {
	paths, err := filepath.Glob(scenarioFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			s, err := scenario.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range s.Questions {
				q := &s.Questions[i]
				t.Run(fmt.Sprintf("%d-%s", i+1, q.Node), func(t *testing.T) { askBoth(t, s, q) })
			}
		})
	}
}

func askBoth(t *testing.T, s *scenario.Scenario, q *scenario.Question) {
	ours, err := ask(t.Context(), s, q)
	if err != nil {
		t.Fatal(err)
	}
	theirs := askScheduler(t.Context(), t, s, q)
	complain := func(who string, differences []string) {
		t.Helper()
		for _, d := range differences {
			t.Errorf("%s: %s", who, d)
		}
	}
	complain("ours", check(q, ours))
	complain("scheduler", check(q, theirs))
	if q.Want.Outcome == scenario.Abort {
		complain("ours", checkSays(ours.Err, q.Want.Says))
		complain("scheduler", checkSays(theirs.Err, q.Want.SchedulerSays))
		if ours.Code() != q.Want.Code {
			t.Errorf("ours: code %q, want %q (error: %v)", ours.Code(), q.Want.Code, ours.Err)
		}
		if len(q.Want.SchedulerSays) == 0 {
			t.Errorf("want has no line scheduler says: it might abort for another reason (error: %v)", theirs.Err)
		}
	}
	complain("ours", checkRejections(q, ours))
	if ours.Outcome == scenario.Allocated && theirs.Outcome == scenario.Allocated {
		equal := cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
		if diff := cmp.Diff(withoutShareIDs(theirs.Allocations), ours.Allocations, equal); diff != "" {
			t.Errorf("allocations (-scheduler +ours):\n%s", diff)
		}
	}
}

// withoutShareIDs copies results with empty share IDs in place of random ones.
func withoutShareIDs(in []resourcev1.AllocationResult) []resourcev1.AllocationResult {
	out := []resourcev1.AllocationResult{}
	for i := range in {
		a := in[i].DeepCopy()
		for j := range a.Devices.Results {
			if a.Devices.Results[j].ShareID != nil {
				a.Devices.Results[j].ShareID = new(types.UID)
			}
		}
		out = append(out, *a)
	}
	return out
}

// askScheduler puts a question to the scheduler's allocator, a fresh instance as for a new pod.
func askScheduler(ctx context.Context, t *testing.T, s *scenario.Scenario, q *scenario.Question) *answer {
	t.Helper()
	structured.EnableAllocators() // all of them, whatever a test before wanted: the features choose the variant
	features := schedulerFeatures(s.Snapshot.Features())
	one, err := structured.NewAllocator(ctx, features, schedulerState(s.Snapshot, features.ConsumableCapacity),
		classesOf{s.Snapshot}, schedulerSlices(s.Snapshot), cel.NewCache(10, cel.Features{
			EnableConsumableCapacity: features.ConsumableCapacity, EnableListTypeAttributes: features.ListTypeAttributes,
		}))
	if err != nil {
		t.Fatal(err)
	}
	node, claims := s.Objects(q)
	results, err := one.Allocate(ctx, node, claims)
	switch {
	case errors.Is(err, structured.ErrFailedAllocationOnNode):
		if !strings.Contains(err.Error(), "invalid resource pools were encountered") {
			t.Fatalf("scheduler: unexpected reason for one node: %v", err)
		}
		return &answer{Outcome: scenario.InvalidPools, Err: err}
	case err != nil:
		return &answer{Outcome: scenario.Abort, Err: err}
	case results == nil:
		return &answer{Outcome: scenario.Unsatisfiable}
	}
	return &answer{Outcome: scenario.Allocated, Allocations: results}
}

// schedulerFeatures maps gates as the scheduler's plugin does. It is written down apart from
// allocator.FeaturesOf on purpose.
func schedulerFeatures(f inspect.Features) structured.Features {
	return structured.Features{
		AdminAccess:             f.Enabled("DRAAdminAccess"),
		CompatibilityGroups:     f.Enabled("DRADeviceCompatibilityGroups"),
		ConsumableCapacity:      f.Enabled("DRAConsumableCapacity"),
		DerivedAttributes:       f.Enabled("DRADerivedAttributes"),
		DeviceBindingAndStatus:  f.Enabled("DRADeviceBindingConditions") && f.Enabled("DRAResourceClaimDeviceStatus"),
		DeviceTaints:            f.Enabled("DRADeviceTaints"),
		FractionalCapacityRange: f.Enabled("DRAFractionalCapacityRange"),
		ListTypeAttributes:      f.Enabled("DRAListTypeAttributes"),
		OptionalNodeOperations:  f.Enabled("DRAOptionalNodeOperations"),
		PartitionableDevices:    f.Enabled("DRAPartitionableDevices"),
		PrioritizedList:         f.Enabled("DRAPrioritizedList"),
	}
}

// schedulerState collects what allocated claims hold, by the rules of the scheduler's plugin.
func schedulerState(s *inspect.Snapshot, shares bool) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			id := structured.MakeDeviceID(r.Driver, r.Pool, r.Device)
			switch {
			case r.AdminAccess != nil && *r.AdminAccess:
			case shares && r.ShareID != nil:
				state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, r.ShareID))
				if r.ConsumedCapacity != nil {
					state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, r.ConsumedCapacity))
				}
			default:
				state.AllocatedDevices.Insert(id)
			}
		}
	}
	return state
}

// schedulerSlices returns copies of the slices with the taints of DeviceTaintRules added, as the
// scheduler's tracker of slices gives them.
func schedulerSlices(s *inspect.Snapshot) []*resourcev1.ResourceSlice {
	var out []*resourcev1.ResourceSlice
	for _, slice := range s.Objects().Slices {
		slice = slice.DeepCopy()
		out = append(out, slice)
		if !s.Features().Enabled("DRADeviceTaints") || !s.Features().Enabled("DRADeviceTaintRules") {
			continue
		}
		for _, rule := range s.Objects().TaintRules {
			selector := rule.Spec.DeviceSelector
			if selector == nil {
				continue
			}
			for i := range slice.Spec.Devices {
				selected := (selector.Driver == nil || *selector.Driver == slice.Spec.Driver) &&
					(selector.Pool == nil || *selector.Pool == slice.Spec.Pool.Name) &&
					(selector.Device == nil || *selector.Device == slice.Spec.Devices[i].Name)
				if selected {
					slice.Spec.Devices[i].Taints = append(slice.Spec.Devices[i].Taints, rule.Spec.Taint)
				}
			}
		}
	}
	return out
}

// classesOf lists the classes of a snapshot to the scheduler's allocator.
type classesOf struct{ snapshot *inspect.Snapshot }

func (c classesOf) List() ([]*resourcev1.DeviceClass, error) {
	return c.snapshot.Objects().Classes, nil
}

func (c classesOf) Get(name string) (*resourcev1.DeviceClass, error) {
	if class, ok := c.snapshot.Class(name); ok {
		return class, nil
	}
	return nil, apierrors.NewNotFound(resourcev1.Resource("deviceclasses"), name)
}

// hardCases is the number of the last of the numbered cases that the scheduler's allocator is known by.
// A scenario hard-NN-name shows case NN.
const hardCases = 93

func TestEveryHardCaseHasAScenario(t *testing.T) {
	paths, err := filepath.Glob(scenarioFiles)
	if err != nil {
		t.Fatal(err)
	}
	var have []int
	for _, path := range paths {
		parts := strings.SplitN(filepath.Base(path), "-", 3)
		if len(parts) != 3 || parts[0] != "hard" {
			continue
		}
		n, err := strconv.Atoi(parts[1])
		if err != nil || n < 1 || n > hardCases {
			t.Errorf("%s: there is no such case", path)
		}
		have = append(have, n)
	}
	for n := 1; n <= hardCases; n++ {
		if !slices.Contains(have, n) {
			t.Errorf("case %d has no scenario", n)
		}
	}
}

// A scenario is about what can happen in a cluster, so its objects are those that an API server accepts
// without remark, except where the remark is the point.
func TestScenariosAreValid(t *testing.T) {
	meant := []string{
		"hard-17-device-listed-for-two-nodes",
		"hard-37-nothing-asked",
		"hard-48-attribute-without-value",
		"hard-67-effects-of-taints",
		"hard-68-tolerations",
		"more-bad-node-selector",
		"more-negative-amount",
		"more-negative-counters",
		"more-slice-for-no-node",
		"more-taint-rules",
		"more-two-node-selector-terms",
	}
	paths, err := filepath.Glob(scenarioFiles)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		s, err := scenario.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(meant, s.Name) != (len(s.Warnings) > 0) {
			t.Errorf("%s: warnings: %v", s.Name, s.Warnings)
		}
	}
}

// Case 50: a context that ended gives its error, even where the answer would be trivial.
func TestExpiredContextIsAnErrorAndNoAnswer(t *testing.T) {
	s, err := scenario.Load("../testdata/scenarios/hard-50-expired-context.txtar")
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the caller has lost patience")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	q := &s.Questions[0]
	node, claims := s.Objects(q)
	result, err := allocator.NewCluster(s.Snapshot, allocator.Options{}).Allocate(ctx, node, claims, nil)
	if !errors.Is(err, cause) || result != nil {
		t.Errorf("ours: got %v, %v, want an error that wraps the cause", result, err)
	}
	if abort := new(allocator.AbortError); errors.As(err, &abort) {
		t.Errorf("ours: %v blames the input", err)
	}
	theirs := askScheduler(ctx, t, s, q)
	if theirs.Outcome != scenario.Abort || !errors.Is(theirs.Err, context.Canceled) && !errors.Is(theirs.Err, cause) {
		t.Errorf("scheduler: got %s, %v, want an error that wraps that of the context", theirs.Outcome, theirs.Err)
	}
}
