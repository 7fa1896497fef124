package allocator

import (
	"context"
	"maps"
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// Disagreements with the scheduler's allocator that the random problems found, made small and named,
// and corners of which there is no more than one.

// plainQuestion is one node with one pool of n devices, one class and one claim.
func plainQuestion(n int, requests ...resourcev1.DeviceRequest) *question {
	yes := true
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}}
	slice.Spec.Driver, slice.Spec.AllNodes = drivers[0], &yes
	slice.Spec.Pool = resourcev1.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 1}
	for i := range n {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: "d" + itoa(i)})
	}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "claim"}}
	claim.Spec.Devices.Requests = requests
	q := &question{
		objects: inspect.Objects{
			Nodes:   []*corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}},
			Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "class"}}},
			Slices:  []*resourcev1.ResourceSlice{slice},
		},
		pending: []*resourcev1.ResourceClaim{claim},
	}
	q.setGates(nil)
	return q
}

// exactly is a request for n devices of the class.
func exactly(name string, n int64, selectors ...string) resourcev1.DeviceRequest {
	e := &resourcev1.ExactDeviceRequest{DeviceClassName: "class", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: n}
	for _, s := range selectors {
		e.Selectors = append(e.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: s}})
	}
	return resourcev1.DeviceRequest{Name: name, Exactly: e}
}

// contradictoryGroups: two devices without a group in common are allocated from one counter set, one of
// them as a share. Nothing fits that counter set any more, but another share draws nothing from it.
func contradictoryGroups() *question {
	q := plainQuestion(2, exactly("r", 1))
	withCounters("9", "1", [][]string{{"mig"}, {"vgpu"}})(q)
	yes, share := true, types.UID("1")
	devicesOf(q)[0].AllowMultipleAllocations = &yes
	q.objects.Claims = []*resourcev1.ResourceClaim{
		held("d0", func(r *resourcev1.DeviceRequestAllocationResult) { r.ShareID = &share }), held("d1", nil),
	}
	return q
}

// allocatedGroups: of three devices on one counter set, with these groups, the first two are allocated.
func allocatedGroups(groups ...[]string) *question {
	q := plainQuestion(3, exactly("r", 1))
	withCounters("9", "1", groups)(q)
	q.objects.Claims = []*resourcev1.ResourceClaim{held("d0", nil), held("d1", nil)}
	return q
}

func TestRegressions(t *testing.T) {
	tolerant := exactly("r", 1)
	tolerant.Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
	cases := []struct {
		name     string
		question *question
		want     outcome
	}{
		{"tolerations of two requests with one name are those of the first", plainQuestion(2, tolerant, exactly("r", 1)), gotDevices},
		{"the largest count there is", plainQuestion(3, exactly("r", math.MaxInt64)), gotAbort},
		{"an expression that exceeds the cost limit", plainQuestion(1, exactly("r", 1,
			`lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))`)), gotAbort},
		{"another share of a device that others contradict draws on nothing", contradictoryGroups(), gotDevices},
		{"after a contradiction that began without groups, no groups fit", allocatedGroups(nil, []string{"mig"}, nil), gotDevices},
		{"after a contradiction that began without groups, groups do not fit", allocatedGroups(nil, []string{"mig"}, []string{"mig"}), gotNothing},
		{"after a contradiction that began with groups, these groups fit", allocatedGroups([]string{"mig"}, nil, []string{"mig"}), gotDevices},
		{"after a contradiction that began with groups, no groups do not fit", allocatedGroups([]string{"mig"}, nil, nil), gotNothing},
		{"no claim at all", func() *question { q := plainQuestion(1); q.pending = nil; return q }(), gotDevices},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := compare(c.question, nil)
			if got.differs != "" {
				t.Error(got.differs)
			}
			if len(got.ours) != 1 || got.ours[0].outcome != c.want {
				t.Errorf("got %v, want %s", got.ours, c.want)
			}
		})
	}
}

// TestPruningMindsWhatOthersHold: two devices that are equal but for what others hold of them are not
// interchangeable. With 4 and 5 left, only the second device can take 1 and 4.
func TestPruningMindsWhatOthersHold(t *testing.T) {
	asking := func(name, amount string) resourcev1.DeviceRequest {
		r := exactly(name, 1)
		r.Exactly.Capacity = &resourcev1.CapacityRequirements{
			Requests: map[resourcev1.QualifiedName]resource.Quantity{"mem": *quantity(amount)},
		}
		return r
	}
	q := plainQuestion(2, asking("first", "1"), asking("second", "4"), asking("third", "4"))
	yes, share := true, types.UID("1")
	for i, taken := range []string{"6", "5"} {
		device := &devicesOf(q)[i]
		device.AllowMultipleAllocations = &yes
		device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"mem": {Value: *quantity("10")}}
		q.objects.Claims = append(q.objects.Claims, held(device.Name, func(r *resourcev1.DeviceRequestAllocationResult) {
			r.ShareID, r.ConsumedCapacity = &share, map[resourcev1.QualifiedName]resource.Quantity{"mem": *quantity(taken)}
		}))
	}
	if got := compare(q, nil); got.differs != "" || got.ours[0].outcome != gotDevices {
		t.Fatalf("%v, want devices", got)
	}
	for _, bounds := range []bool{true, false} {
		if _, _, d := pruningDifference(q, bounds); d != "" {
			t.Error(d)
		}
	}
}

// TestPruningMindsAttributesWithTwoValues: without list support the type of the second device says what
// is compared, so {int 0, string y} then {int 0} match, and the other way round they do not.
func TestPruningMindsAttributesWithTwoValues(t *testing.T) {
	zero, text := int64(0), "y"
	rack := resourcev1.FullyQualifiedName("std.example.com/rack")
	values := []resourcev1.DeviceAttribute{
		{IntValue: &zero, StringValue: &text}, {StringValue: &text}, {IntValue: &zero}, {IntValue: &zero, StringValue: &text},
	}
	// All orders of the values, each with every count that may fit.
	for seed := range 4 * 3 * 4 * 4 {
		q := plainQuestion(4, exactly("r", int64(2+seed%3)), exactly("s", int64(seed/3%2)))
		for i := range devicesOf(q) {
			devicesOf(q)[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"std.example.com/rack": values[(seed/6+i*(1+seed/24))%4]}
		}
		q.pending[0].Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &rack}}
		if got := compare(q, nil); got.differs != "" {
			t.Fatal(got.differs)
		}
		for _, bounds := range []bool{true, false} {
			if _, _, d := pruningDifference(q, bounds); d != "" {
				t.Fatalf("%s\n%s", d, q)
			}
		}
	}
}

// TestIgnoreIsLikeReleasing: a cluster that ignores claims answers like one in which these claims have
// no allocation.
func TestIgnoreIsLikeReleasing(t *testing.T) {
	ctx := context.Background()
	n, changed := effort.Of(600, 150), 0
	for seed := range uint64(n) {
		q := generate(seeded(5_000_000 + seed))
		ignore := map[inspect.ClaimRef]bool{}
		released := *q
		released.objects.Claims = nil
		for _, claim := range q.objects.Claims {
			if claim.Status.Allocation != nil && len(ignore) == 0 {
				ignore[inspect.RefOf(claim)] = true
				continue
			}
			released.objects.Claims = append(released.objects.Claims, claim)
		}
		held := newOurs(q, stepBudget)
		ignoring := NewCluster(held.Snapshot(), Options{StepLimit: stepBudget, Ignore: ignore})
		want := newOurs(&released, stepBudget)
		for _, node := range q.objects.Nodes {
			a := answerOf(ctx, want, q, node, nil)
			if a.outcome == gotUndecided {
				continue
			}
			if d := otherAnswer(answerOf(ctx, ignoring, q, node, nil), a); d != "" {
				t.Fatalf("seed %d, node %s: %s", seed, node.Name, d)
			}
			if otherAnswer(answerOf(ctx, held, q, node, nil), a) != "" {
				changed++
			}
		}
	}
	if changed < n/30 {
		t.Errorf("the claims mattered only %d times", changed)
	}
}

// TestFeaturesCanBeChangedLater: a snapshot whose gates are changed answers like one that was built
// with these gates. Each gate is flipped alone.
func TestFeaturesCanBeChangedLater(t *testing.T) {
	ctx := context.Background()
	for seed := range uint64(effort.Of(300, 50)) {
		q := generate(seeded(6_000_000 + seed))
		for _, gate := range switches {
			changed := *q
			changed.setGates(maps.Clone(q.gates))
			changed.gates[gate] = !q.gates[gate]
			changed.setGates(changed.gates)
			want := newOurs(&changed, 500)
			got := NewCluster(newOurs(q, 500).Snapshot().WithFeatures(changed.features), Options{StepLimit: 500})
			node := q.objects.Nodes[0]
			a := answerOf(ctx, want, q, node, nil)
			if a.outcome == gotUndecided {
				continue
			}
			if d := otherAnswer(answerOf(ctx, got, q, node, nil), a); d != "" {
				t.Fatalf("seed %d, %s flipped: %s", seed, gate, d)
			}
		}
	}
}

// TestTaintRulesCountWhenTaintsAreTurnedOn: a what-if that turns DRADeviceTaints on sees the taints of
// rules, which were there all the time.
func TestTaintRulesCountWhenTaintsAreTurnedOn(t *testing.T) {
	ctx := context.Background()
	q := plainQuestion(1, exactly("r", 1))
	q.objects.TaintRules = []*resourcev1.DeviceTaintRule{{
		ObjectMeta: metav1.ObjectMeta{Name: "rule"},
		Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{},
			Taint:          resourcev1.DeviceTaint{Key: "broken", Effect: resourcev1.DeviceTaintEffectNoSchedule},
		},
	}}
	on := q.features
	q.features = on.With(map[inspect.Gate]bool{inspect.GateDeviceTaints: false})
	before := newOurs(q, 0)
	if a := answerOf(ctx, before, q, q.objects.Nodes[0], nil); a.outcome != gotDevices {
		t.Errorf("without taints: %s, want devices", a.outcome)
	}
	after := NewCluster(before.Snapshot().WithFeatures(on), Options{})
	if a := answerOf(ctx, after, q, q.objects.Nodes[0], nil); a.outcome != gotNothing {
		t.Errorf("with taints: %s, want nothing", a.outcome)
	}
}

// TestWrappedCountsWithPruning: where the sum of counts wraps around, the scheduler gives up on a first claim
// that needs too many devices, which pruning must not take for a claim that finds too few.
func TestWrappedCountsWithPruning(t *testing.T) {
	q := plainQuestion(1, exactly("r", math.MaxInt64), exactly("s", math.MaxInt64), exactly("t", 3))
	q.serverVersion = "v1.37.0"
	for _, plain := range []bool{true, false} {
		c := NewCluster(snapshotOf(q), Options{Plain: plain})
		c.plainSteps = 0
		if a := answerOf(context.Background(), c, q, q.objects.Nodes[0], nil); a.outcome != gotAbort {
			t.Errorf("plain %t: %s, want that it aborts", plain, a.outcome)
		}
	}
}
