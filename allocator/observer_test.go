package allocator

import (
	"context"
	"errors"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// held makes a claim that holds a device of the pool.
func held(device string, change func(*resourcev1.DeviceRequestAllocationResult)) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "holder-of-" + device}}
	result := resourcev1.DeviceRequestAllocationResult{Request: "r", Driver: drivers[0], Pool: "p", Device: device}
	if change != nil {
		change(&result)
	}
	claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{result},
	}}
	return claim
}

// devicesOf returns the devices of the only slice.
func devicesOf(q *question) []resourcev1.Device { return q.objects.Slices[0].Spec.Devices }

// TestWhatAnObserverIsTold: each refusal comes with what it is on account of. The last one counts.
func TestWhatAnObserverIsTold(t *testing.T) {
	rack := resourcev1.FullyQualifiedName("std.example.com/rack")
	zero := int64(0)
	taint := resourcev1.DeviceTaint{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	tests := map[string]struct {
		question *question
		change   func(*question)
		want     func(*testing.T, Rejection)
	}{
		"held by another claim": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			q.objects.Claims = append(q.objects.Claims, held("d0", nil))
		}, func(t *testing.T, r Rejection) { wantThat(t, r.Code == DeviceInUse && !r.InQuestion) }},
		"taken by an earlier request": {plainQuestion(1, exactly("r", 1), exactly("s", 1)), nil,
			func(t *testing.T, r Rejection) { wantThat(t, r.Code == DeviceInUse && r.InQuestion && r.Request == 1) }},
		"second selector of the request": {plainQuestion(1, exactly("r", 1, "true", "false")), nil,
			func(t *testing.T, r Rejection) { wantThat(t, r.Code == SelectorRejected && r.Selector == 1) }},
		"second selector of the class": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			q.objects.Classes[0].Spec.Selectors = exactly("r", 1, "true", "false").Exactly.Selectors
		}, func(t *testing.T, r Rejection) { wantThat(t, r.Code == ClassSelectorRejected && r.Selector == 1) }},
		"taint": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			devicesOf(q)[0].Taints = []resourcev1.DeviceTaint{{Effect: resourcev1.DeviceTaintEffectNone}, taint}
		}, func(t *testing.T, r Rejection) { wantThat(t, r.Code == DeviceTainted && *r.Taint == taint) }},
		"capacity that the device lacks": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			q.pending[0].Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
				Requests: map[resourcev1.QualifiedName]resource.Quantity{"mem": *quantity("1")},
			}
		}, func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == CapacityInsufficient && r.Capacity == "mem" && r.Available == nil)
		}},
		"capacity that is used up": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			yes, share := true, types.UID("1")
			devicesOf(q)[0].AllowMultipleAllocations = &yes
			devicesOf(q)[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"mem": {Value: *quantity("5")}}
			q.objects.Claims = append(q.objects.Claims, held("d0", func(r *resourcev1.DeviceRequestAllocationResult) {
				r.ShareID, r.ConsumedCapacity = &share, map[resourcev1.QualifiedName]resource.Quantity{"mem": *quantity("2")}
			}))
		}, func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == CapacityInsufficient && r.Capacity == "mem" && r.Needed.Cmp(*quantity("5")) == 0 && r.Available.Cmp(*quantity("3")) == 0)
		}},
		"attribute of the second constraint missing": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			q.pending[0].Spec.Devices.Constraints = []resourcev1.DeviceConstraint{
				{Requests: []string{"no-such"}, MatchAttribute: &rack}, {MatchAttribute: &rack},
			}
		}, func(t *testing.T, r Rejection) { wantThat(t, r.Code == AttributeMissing && r.Constraint == 1) }},
		"same rack twice": {plainQuestion(2, exactly("r", 2)), func(q *question) {
			for i := range devicesOf(q) {
				devicesOf(q)[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"std.example.com/rack": {IntValue: &zero}}
			}
			q.pending[0].Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &rack}}
		}, func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == DistinctAttributeConflict && r.Constraint == 0 && r.Device.Device == "d1")
		}},
		"binding conditions while the feature is off": {plainQuestion(1, exactly("r", 1)), func(q *question) {
			devicesOf(q)[0].BindingConditions = []string{"attached"}
			q.setGates(map[inspect.Gate]bool{inspect.GateDeviceBindingConditions: false})
		}, func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == FeatureDisabled && r.Feature == inspect.GateDeviceBindingConditions)
		}},
		"counter": {plainQuestion(1, exactly("r", 1)), withCounters("2", "3", nil), func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == CountersExhausted && r.CounterSet == "set" && r.Counter == "slots" && !r.Overdrawn &&
				r.Needed.Cmp(*quantity("3")) == 0 && r.Available.Cmp(*quantity("2")) == 0)
		}},
		"counter that is overdrawn already": {plainQuestion(2, exactly("r", 1)), func(q *question) {
			withCounters("2", "3", nil)(q)
			q.objects.Claims = append(q.objects.Claims, held("d0", nil))
		}, func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == CountersExhausted && r.Overdrawn && r.Device.Device == "d1" && r.Available.Cmp(*quantity("-1")) == 0)
		}},
		"groups": {plainQuestion(2, exactly("r", 2)), withCounters("9", "1", [][]string{{"mig"}, {"vgpu"}}), func(t *testing.T, r Rejection) {
			wantThat(t, r.Code == CompatibilityGroupConflict && r.CounterSet == "set" && r.Device.Device == "d1")
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.change != nil {
				test.change(test.question)
			}
			var seen rejections
			if got := compare(test.question, &seen); got.differs != "" || got.ours[0].outcome != gotNothing {
				t.Fatalf("%v, want nothing", got)
			}
			if len(seen) == 0 {
				t.Fatal("the observer was told nothing")
			}
			last := seen[len(seen)-1]
			if test.want(t, last); t.Failed() {
				t.Errorf("told %+v", last)
			}
		})
	}
}

func wantThat(t *testing.T, ok bool) {
	t.Helper()
	if !ok {
		t.Error("not as wanted")
	}
}

// withCounters makes every device consume an amount of one counter, with groups if there are any.
func withCounters(available, each string, groups [][]string) func(*question) {
	return func(q *question) {
		counters := q.objects.Slices[0].DeepCopy()
		counters.Name, counters.Spec.Devices = "counters", nil
		counters.Spec.SharedCounters = []resourcev1.CounterSet{{
			Name: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: *quantity(available)}},
		}}
		q.objects.Slices = append(q.objects.Slices, counters)
		for _, slice := range q.objects.Slices {
			slice.Spec.Pool.ResourceSliceCount = 2
		}
		for i := range devicesOf(q) {
			use := resourcev1.DeviceCounterConsumption{CounterSet: "set", Counters: map[string]resourcev1.Counter{"slots": {Value: *quantity(each)}}}
			if groups != nil {
				use.CompatibilityGroups = groups[i]
			}
			devicesOf(q)[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{use}
		}
		q.setGates(map[inspect.Gate]bool{inspect.GateDeviceCompatibilityGroups: groups != nil})
	}
}

// TestAbortSaysWhere: an abort names the selector, the class and the device at fault.
func TestAbortSaysWhere(t *testing.T) {
	ctx := context.Background()
	inRequest := plainQuestion(1, exactly("r", 1, "true", `device.attributes["x"].y == 1`))
	inClass := plainQuestion(1, exactly("r", 1))
	inClass.objects.Classes[0].Spec.Selectors = exactly("r", 1, "?!").Exactly.Selectors
	unsupported := plainQuestion(1, exactly("r", 1, "true"))
	requests := unsupported.pending[0].Spec.Devices.Requests
	requests[0].Exactly.Selectors = append(requests[0].Exactly.Selectors, resourcev1.DeviceSelector{})
	device := inspect.DeviceID{Driver: drivers[0], Pool: "p", Device: "d0"}
	tests := map[string]struct {
		question *question
		want     AbortError
	}{
		"selector of the request": {inRequest, AbortError{Code: SelectorError, Request: "r", Device: device, Selector: 1}},
		"selector of the class":   {inClass, AbortError{Code: SelectorError, Request: "r", Device: device, Class: "class"}},
		"unsupported selector":    {unsupported, AbortError{Code: Malformed, Request: "r", Selector: 1}},
		"missing class": {func() *question { q := plainQuestion(1, exactly("r", 1)); q.objects.Classes = nil; return q }(),
			AbortError{Code: ClassNotFound, Request: "r", Selector: -1}},
	}
	for name, test := range tests {
		a := answerOf(ctx, newOurs(test.question, 0), test.question, test.question.objects.Nodes[0], nil)
		var got *AbortError
		if !errors.As(a.err, &got) {
			t.Errorf("%s: %v, want an AbortError", name, a.err)
			continue
		}
		test.want.Claim = inspect.ClaimRef{Namespace: "ns", Name: "claim"}
		bare := *got
		bare.Err = nil
		if bare != test.want {
			t.Errorf("%s: %+v, want %+v", name, bare, test.want)
		}
	}
}
