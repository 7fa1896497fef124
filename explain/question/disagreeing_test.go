package question_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestSlicesThatDisagree: n0 has a pool of two slices, which announce different numbers of slices.
// kube-scheduler goes by the one that it meets first, which was seen to change from one attempt to the next.
func TestSlicesThatDisagree(t *testing.T) {
	const chance = "slices of generation 1 of pool gpu.example.com/n0 announce from 2 to 3 slices: whether the scheduler takes its devices is chance"
	all := func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Requests[0].Exactly.AllocationMode, c.Spec.Devices.Requests[0].Exactly.Count = resourcev1.DeviceAllocationModeAll, 0
	}
	tests := []struct {
		name      string
		nodes     int
		announced []int64
		change    func(c *resourcev1.ResourceClaim)
		verdict   explain.Verdict
	}{
		{"the first is right", 1, []int64{2, 3}, nil, explain.Unknown},
		{"the second is right", 1, []int64{3, 2}, nil, explain.Unknown},
		{"neither is right", 1, []int64{3, 4}, nil, explain.Unsatisfiable},
		{"they agree", 1, []int64{2, 2}, nil, explain.Allocatable},
		{"there is another node", 2, []int64{3, 2}, nil, explain.Allocatable},
		{"all devices, the first is right", 1, []int64{2, 3}, all, explain.Unknown},
		{"all devices, the second is right", 1, []int64{3, 2}, all, explain.Unknown},
		{"too many devices", 1, []int64{2, 3}, func(c *resourcev1.ResourceClaim) { c.Spec.Devices.Requests[0].Exactly.Count = 9 }, explain.Unsatisfiable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(slices.Repeat([]int{1}, tt.nodes)...)
			second := o.Slices[0].DeepCopy()
			second.Name, second.Spec.Devices[0].Name = second.Name+"-second", "second"
			o.Slices = append(o.Slices, second)
			o.Slices[0].Spec.Pool.ResourceSliceCount, second.Spec.Pool.ResourceSliceCount = tt.announced[0], tt.announced[1]
			claim, pod := gpus("claim", 1), podOf("pod", 0, "claim")
			if tt.change != nil {
				tt.change(claim)
			}
			o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
			c := clusterOfServer(o, inspect.DefaultFeatures(inspect.NewestMinor))
			ofPod, err := question.PodObject(t.Context(), c, pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			ofClaim, err := question.Claim(t.Context(), c, inspect.RefOf(claim), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range []*explain.Explanation{ofPod, ofClaim} {
				if told := strings.Contains(strings.Join(e.Partial, "\n"), chance); e.Verdict != tt.verdict || told != (tt.verdict == explain.Unknown) {
					t.Errorf("%s: %s, %q, want %s", e.Verdict, e.Message, e.Partial, tt.verdict)
				}
			}
		})
	}
}
