package conflict_test

import (
	"context"
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// partitions publishes devices that each draw the given amounts of the counters of one set.
func partitions(counters map[string]string, devices ...map[string]string) inspect.Objects {
	o := explaintest.NodesWithDevices(len(devices))
	amounts := func(texts map[string]string) map[string]resourcev1.Counter {
		out := map[string]resourcev1.Counter{}
		for name, text := range texts {
			out[name] = resourcev1.Counter{Value: resource.MustParse(text)}
		}
		return out
	}
	slice := o.Slices[0]
	slice.Spec.Pool.ResourceSliceCount = 2
	for i := range devices {
		slice.Spec.Devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0", Counters: amounts(devices[i])}}
	}
	shared := slice.DeepCopy()
	shared.Name += "-counters"
	shared.Spec.Devices, shared.Spec.SharedCounters = nil, []resourcev1.CounterSet{{Name: "gpu-0", Counters: amounts(counters)}}
	o.Slices = append(o.Slices, shared)
	return o
}

// TestConflictOfCounters checks that the counters that two partitions share are part of why they cannot be
// had together, and that those which run out are named.
func TestConflictOfCounters(t *testing.T) {
	const few, many = "devices share memory 80Gi and slices 7 of counter set gpu-0", "devices share the counters of set gpu-0"
	half := map[string]string{"memory": "40Gi", "slices": "4"}
	for _, tt := range []struct {
		name     string
		counters map[string]string
		devices  []map[string]string
		all      bool
		want     string
	}{
		{"one runs out", map[string]string{"memory": "80Gi", "slices": "7"}, []map[string]string{half, half}, false,
			few + "; slices runs out"},
		{"two run out together", map[string]string{"memory": "80Gi", "slices": "7"}, []map[string]string{{"memory": "50Gi", "slices": "4"}, {"memory": "50Gi", "slices": "4"}}, false,
			few + "; memory and slices run out"},
		{"all devices", map[string]string{"memory": "80Gi", "slices": "7"}, []map[string]string{half, half}, true,
			few + "; slices runs out"},
		// With plenty of a the first two would do, with plenty of b the last two, and so on.
		{"one or another", map[string]string{"a": "1", "b": "1", "c": "1"}, []map[string]string{{"a": "1", "c": "1"}, {"a": "1", "b": "1"}, {"b": "1", "c": "1"}}, false,
			many},
		{"three together", map[string]string{"a": "1", "b": "1", "c": "1"}, []map[string]string{{"a": "1", "b": "1", "c": "1"}, {"a": "1", "b": "1", "c": "1"}}, false,
			many},
	} {
		t.Run(tt.name, func(t *testing.T) {
			claim := explaintest.GPUClaim(2, "any")
			if tt.all {
				claim.Spec.Devices.Requests[0].Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
				claim.Spec.Devices.Requests[0].Exactly.Count = 0
			}
			e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(partitions(tt.counters, tt.devices...)), claim, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Conflict == nil {
				t.Fatal(e.Message)
			}
			var kinds []explain.RequirementKind
			text := ""
			for i := range e.Conflict.Requirements {
				kinds = append(kinds, e.Conflict.Requirements[i].Kind)
				if e.Conflict.Requirements[i].Kind == explain.CountersRequired {
					text = e.Conflict.Requirements[i].Sentence()
				}
			}
			if !slices.Equal(kinds, []explain.RequirementKind{explain.CountRequired, explain.CountersRequired}) {
				t.Errorf("conflict of %v", kinds)
			}
			if text != tt.want {
				t.Errorf("%q, want %q", text, tt.want)
			}
		})
	}
}
