package scores_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// claim is a claim with a request, and a list of three alternatives.
func claim(name string) *resourcev1.ResourceClaim {
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
			{Name: "nic", Exactly: &resourcev1.ExactDeviceRequest{}},
			{Name: "gpu", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "large"}, {Name: "small"}, {Name: "slice"}}},
		}}},
	}
}

// allocation is what a claim gets for some of its requests.
func allocation(requests ...string) resourcev1.AllocationResult {
	var out resourcev1.AllocationResult
	for _, r := range requests {
		out.Devices.Results = append(out.Devices.Results, resourcev1.DeviceRequestAllocationResult{Request: r})
	}
	return out
}

func TestDynamicResources(t *testing.T) {
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a"), node("b"), node("c")}}}
	nodes := []scores.Candidate{
		{Node: "a", Allocations: []resourcev1.AllocationResult{allocation("nic", "gpu/small"), allocation("nic", "gpu/slice", "gpu/slice")}},
		{Node: "b", Allocations: []resourcev1.AllocationResult{allocation("nic", "gpu/large"), allocation("nic", "gpu/large")}},
		{Node: "c", Allocations: []resourcev1.AllocationResult{allocation("nic"), allocation("nic")}},
	}
	given := func(claims ...*resourcev1.ResourceClaim) []int64 {
		o := known(c)
		o.Claims = claims
		return points(scores.Prepare(c.index(), pod("p", ""), o, nil).Choose(nodes), filters.DynamicResources)
	}
	// 7+6, 8+8 and nothing.
	if diff := cmp.Diff([]int64{162, 200, 0}, given(claim("x"), claim("y"))); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	shared, small := claim("shared"), allocation("gpu/small")
	shared.Status.Allocation = &small
	// 7 everywhere, and 7, 8 and 0.
	if diff := cmp.Diff([]int64{186, 200, 92}, given(shared, claim("y"))); diff != "" {
		t.Errorf("points with a claim that is allocated already (-want +got):\n%s", diff)
	}
	if got := given(shared); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("points with no claim that is not allocated: %v, want none", got)
	}
	c.minor = 34
	if got := given(claim("x"), claim("y")); !slices.Equal(got, []int64{0, 0, 0}) {
		t.Errorf("points in Kubernetes 1.34: %v, want none", got)
	}
}

// TestSomeClaimsAllocated: before 1.35.6 and 1.36.2, kube-scheduler fails to compare nodes for a pod of
// which only some claims are allocated (computeScore counts all claims, and has results of the others
// alone).
func TestSomeClaimsAllocated(t *testing.T) {
	shared, small := claim("shared"), allocation("gpu/small")
	shared.Status.Allocation = &small
	for _, test := range []struct {
		minor, patch int
		fails        bool
	}{{34, 13, false}, {35, 0, true}, {35, 5, true}, {35, 6, false}, {36, 0, true}, {36, 1, true}, {36, 2, false}, {37, 0, false}} {
		c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a"), node("b")}}, minor: test.minor, patch: test.patch}
		nodes := []scores.Candidate{
			{Node: "a", Allocations: []resourcev1.AllocationResult{allocation("gpu/small")}},
			{Node: "b", Allocations: []resourcev1.AllocationResult{allocation("gpu/large")}},
		}
		o := known(c)
		o.Claims = []*resourcev1.ResourceClaim{shared, claim("y")}
		got := scores.Prepare(c.index(), pod("p", ""), o, nil).Choose(nodes)
		if fails := got.Failure != "" && got.Nodes == nil; fails != test.fails {
			t.Errorf("1.%d.%d: %+v, want a failure: %t", test.minor, test.patch, got, test.fails)
		}
	}
}
