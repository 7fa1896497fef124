package allocator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// Proof that the comparison can fail: with something broken on our side it must find a disagreement.

// mutationSeeds bounds the search for a disagreement; it stops at the first.
const mutationSeeds = 4_000

// disagreement looks for a problem on which our side, built by the function, answers differently. The
// name of the variant does not count, only what is answered.
func disagreement(t *testing.T, ours func(*question) *Cluster) string {
	t.Helper()
	ctx := context.Background()
	for seed := range uint64(mutationSeeds) {
		q := generate(seeded(seed))
		cluster := ours(q)
		for _, node := range q.objects.Nodes {
			scheduler, err := newScheduler(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			b := ask(ctx, scheduler, q, node, stepBudget)
			if b.outcome == gotUndecided || b.outcome == gotPanic {
				continue
			}
			a := answerOf(ctx, cluster, q, node, nil)
			a.variant = b.variant
			if d := difference(a, b); d != "" {
				return fmt.Sprintf("seed %d: %s", seed, d)
			}
		}
	}
	return ""
}

func TestComparisonNoticesAFlippedGate(t *testing.T) {
	for _, gate := range switches {
		found := disagreement(t, func(q *question) *Cluster {
			flipped := *q
			flipped.setGates(maps.Clone(q.gates))
			flipped.features = flipped.features.With(map[inspect.Gate]bool{gate: !q.gates[gate]})
			return newOurs(&flipped, stepBudget)
		})
		if found == "" {
			t.Errorf("with %s flipped on our side, no disagreement in %d problems", gate, mutationSeeds)
		}
		t.Logf("%s: %.150s", gate, found)
	}
}

// TestComparisonNoticesAMissingCheck leaves out each check that is made when a device is taken, but for that
// of the preview, which TestReleases counts.
func TestComparisonNoticesAMissingCheck(t *testing.T) {
	if effort.Usual() {
		t.Skip("looks through many problems; the run of a change does")
	}
	all := slices.Clone(takeChecks)
	defer func() { takeChecks = all }()
	for i := range all {
		if reflect.ValueOf(all[i]).Pointer() == reflect.ValueOf((*walk).checkShares).Pointer() {
			continue
		}
		takeChecks = slices.Delete(slices.Clone(all), i, i+1)
		found := disagreement(t, func(q *question) *Cluster { return newOurs(q, stepBudget) })
		if found == "" {
			t.Errorf("without check %d, no disagreement in %d problems", i, mutationSeeds)
		}
		t.Logf("without check %d: %.150s", i, found)
	}
}

func TestComparisonNoticesForgottenHolders(t *testing.T) {
	found := disagreement(t, func(q *question) *Cluster {
		mutated := *q
		mutated.objects.Claims = nil
		return newOurs(&mutated, stepBudget)
	})
	if found == "" {
		t.Error("without the allocated claims, no disagreement")
	}
}

func TestComparisonNoticesAnotherOrderOfDevices(t *testing.T) {
	found := disagreement(t, func(q *question) *Cluster {
		mutated := *q
		mutated.objects.Slices = nil
		for _, slice := range q.objects.Slices {
			slice = slice.DeepCopy()
			slices.Reverse(slice.Spec.Devices)
			mutated.objects.Slices = append(mutated.objects.Slices, slice)
		}
		return newOurs(&mutated, stepBudget)
	})
	if found == "" {
		t.Error("with the devices in another order, no disagreement")
	}
}

// fullAnswer is an answer in which every field is set.
func fullAnswer() answer {
	yes, share := true, types.UID("1")
	return answer{
		outcome: gotDevices, steps: 5, variant: "experimental",
		allocations: []resourcev1.AllocationResult{{
			Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{
					Request: "r", Driver: "d", Pool: "p", Device: "x", AdminAccess: &yes, ShareID: &share,
					Tolerations:              []resourcev1.DeviceToleration{{Key: "k"}},
					BindingConditions:        []string{"a"},
					BindingFailureConditions: []string{"b"},
					ConsumedCapacity:         map[resourcev1.QualifiedName]resource.Quantity{"mem": resource.MustParse("1")},
					SkipNodeOperations:       []resourcev1.SkipNodeOperation{resourcev1.SkipNodeOperationAll},
				}},
				Config: []resourcev1.DeviceAllocationConfiguration{{Source: resourcev1.AllocationConfigSourceClaim, Requests: []string{"r"}}},
			},
			NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}},
		}},
	}
}

func TestDifferenceSeesEveryField(t *testing.T) {
	type result = resourcev1.DeviceRequestAllocationResult
	inResult := func(change func(*result)) func(*answer) {
		return func(a *answer) { change(&a.allocations[0].Devices.Results[0]) }
	}
	no := false
	changes := map[string]func(*answer){
		"outcome":                    func(a *answer) { a.outcome = gotNothing },
		"more steps":                 func(a *answer) { a.steps++ },
		"fewer steps":                func(a *answer) { a.steps-- },
		"variant":                    func(a *answer) { a.variant = "incubating" },
		"claims":                     func(a *answer) { a.allocations = nil },
		"devices":                    func(a *answer) { a.allocations[0].Devices.Results = nil },
		"request":                    inResult(func(r *result) { r.Request = "r/s" }),
		"driver":                     inResult(func(r *result) { r.Driver = "e" }),
		"pool":                       inResult(func(r *result) { r.Pool = "q" }),
		"device":                     inResult(func(r *result) { r.Device = "y" }),
		"admin access":               inResult(func(r *result) { r.AdminAccess = &no }),
		"tolerations":                inResult(func(r *result) { r.Tolerations = nil }),
		"binding conditions":         inResult(func(r *result) { r.BindingConditions = nil }),
		"binding failure conditions": inResult(func(r *result) { r.BindingFailureConditions = nil }),
		"node operations":            inResult(func(r *result) { r.SkipNodeOperations = nil }),
		"consumed capacity": inResult(func(r *result) {
			r.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"mem": resource.MustParse("2")}
		}),
		"name of consumed capacity": inResult(func(r *result) {
			r.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"cores": resource.MustParse("1")}
		}),
		"config source":   func(a *answer) { a.allocations[0].Devices.Config[0].Source = resourcev1.AllocationConfigSourceClass },
		"config requests": func(a *answer) { a.allocations[0].Devices.Config[0].Requests = nil },
		"config":          func(a *answer) { a.allocations[0].Devices.Config = nil },
		"node selector":   func(a *answer) { a.allocations[0].NodeSelector = nil },
		"foreign error":   func(a *answer) { a.outcome, a.err = gotAbort, errors.New("not an AbortError") },
	}
	for name, change := range changes {
		changed, want := fullAnswer(), fullAnswer()
		change(&changed)
		if name == "foreign error" {
			want.outcome = gotAbort
		}
		if difference(changed, want) == "" {
			t.Errorf("%s: not noticed", name)
		}
	}
	other := fullAnswer()
	share := types.UID("2")
	other.allocations[0].Devices.Results[0].ShareID = &share
	if d := difference(other, fullAnswer()); d != "" {
		t.Errorf("another share ID, which is random: %s", d)
	}
}
