package question_test

import (
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestInvalidPoolIsBlamed checks that what makes a pool invalid is named if it is what stands in the way.
func TestInvalidPoolIsBlamed(t *testing.T) {
	counter := func(set string) []resourcev1.DeviceCounterConsumption {
		return []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: map[string]resourcev1.Counter{"units": {}}}}
	}
	for name, devices := range map[string][]resourcev1.Device{
		"device d1 is published twice":                           {{Name: "d1"}, {Name: "d1"}},
		"device d2 consumes counter set s, which does not exist": {{Name: "d1"}, {Name: "d2", ConsumesCounters: counter("s")}},
	} {
		t.Run(name, func(t *testing.T) {
			slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s1"}, Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: ptr.To("n1"), Devices: devices,
				Pool: resourcev1.ResourcePool{Name: "n1", Generation: 1, ResourceSliceCount: 1}}}
			s := inspect.New(inspect.Objects{
				Slices: []*resourcev1.ResourceSlice{slice}, Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
			}, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
			e, err := question.ClaimObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), explaintest.GPUClaim(1, "gpu"), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Unsatisfiable || e.Conflict == nil || len(e.Fixes) == 0 {
				t.Fatalf("%s, conflict %+v, fixes %+v", e.Verdict, e.Conflict, e.Fixes)
			}
			blamed := false
			for _, r := range e.Conflict.Requirements {
				blamed = blamed || r.Kind == explain.PoolRequired && strings.Contains(r.Message, name)
			}
			if !blamed || !strings.Contains(e.Fixes[0].Message, "correct pool gpu.example.com/n1: "+name) {
				t.Errorf("conflict %+v, first fix %q", e.Conflict.Requirements, e.Fixes[0].Message)
			}
		})
	}
}

// TestAllOfAnIncompletePool: up to 1.37 a request for all devices that comes to an incomplete pool makes the
// scheduler give up; since 1.38 it is refused on that node, and the answer says why.
func TestAllOfAnIncompletePool(t *testing.T) {
	o := explaintest.NodesWithDevices(1, 1)
	o.Slices[0].Spec.Pool.ResourceSliceCount = 2
	claim := explaintest.GPUClaim(0, "any")
	claim.Spec.Devices.Requests[0].Exactly.AllocationMode = resourcev1.DeviceAllocationModeAll
	for minor, want := range map[int]explain.Verdict{37: explain.Invalid, 38: explain.Allocatable} {
		s := inspect.New(o, inspect.Config{Features: inspect.DefaultFeatures(minor)})
		e, err := question.ClaimObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != want {
			t.Errorf("1.%d: %s, want %s", minor, e.Verdict, want)
		}
		blamed := false
		for i := range e.Groups {
			for _, r := range e.Groups[i].Reasons {
				blamed = blamed || r.Code == allocator.PoolIncomplete && strings.Contains(r.Message, "is currently being updated")
			}
		}
		if !blamed {
			t.Errorf("1.%d: the pool is not named: %+v", minor, e.Groups)
		}
	}
}
