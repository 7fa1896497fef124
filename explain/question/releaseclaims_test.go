package question_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// allocatedOn is a claim for any device that has the first device of a node.
func allocatedOn(name, node string, reservedBy ...string) *resourcev1.ResourceClaim {
	claim := explaintest.GPUClaim(1, "any")
	claim.Namespace, claim.Name = "default", name
	claim.Status.Allocation = &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "gpu", Driver: "gpu.example.com", Pool: node, Device: "d00"},
		}},
		NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}
	for _, pod := range reservedBy {
		claim.Status.ReservedFor = append(claim.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: pod, UID: types.UID(pod)})
	}
	return claim
}

// TestReleaseAllocatedClaims asks for pods with a device on a node that has too few for the rest of the pod.
// kube-scheduler clears an allocation that nothing but the pod reserves, and tries again.
func TestReleaseAllocatedClaims(t *testing.T) {
	twice := allocatedOn("held", "n0", "p", "other")
	const itself = ", as kube-scheduler does itself when no node fits, before it tries again"
	for _, tt := range []struct {
		name    string
		devices []int
		claims  []*resourcev1.ResourceClaim
		count   int64 // of the claim that has no devices yet, or 0 if there is none
		want    string
	}{
		{"reserved by nothing", []int{2, 3}, []*resourcev1.ResourceClaim{allocatedOn("held", "n0")}, 2,
			"ReleaseClaim n1 1 default/held release default/held" + itself},
		{"reserved by the pod", []int{2, 3}, []*resourcev1.ResourceClaim{allocatedOn("held", "n0", "p")}, 2,
			"ReleaseClaim n1 1 default/held release default/held" + itself},
		{"reserved by another pod as well", []int{2, 3}, []*resourcev1.ResourceClaim{allocatedOn("held", "n0", "p", "other")}, 2,
			"ReleaseClaim n1 1 default/held release default/held (used by pod other)"},
		{"named twice, allocated twice", []int{2, 4}, []*resourcev1.ResourceClaim{twice, twice}, 2,
			"ReleaseClaim n1 1 default/held release default/held (used by pod other)"},
		// Without it the rest fits on n0, but then there is no device for it.
		{"of no help", []int{2, 2}, []*resourcev1.ResourceClaim{allocatedOn("held", "n0")}, 2, ""},
		{"both", []int{2, 2, 4}, []*resourcev1.ResourceClaim{allocatedOn("first", "n0"), allocatedOn("second", "n0")}, 2,
			"ReleaseClaim n2 1 default/first default/second release default/first, default/second" + itself},
		{"two nodes", []int{2, 2}, []*resourcev1.ResourceClaim{allocatedOn("first", "n0"), allocatedOn("second", "n1")}, 0,
			"ReleaseClaim n1 1 default/first release default/first, as kube-scheduler does itself with one of the claims when no node fits, before it tries again"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(tt.devices...)
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "p"}}
			if tt.count > 0 {
				wanted := explaintest.GPUClaim(tt.count, "any")
				wanted.Namespace, wanted.Name = "default", "wanted"
				tt.claims = append(tt.claims, wanted)
			}
			for _, claim := range tt.claims {
				if !slices.Contains(o.Claims, claim) {
					o.Claims = append(o.Claims, claim)
				}
				name := fmt.Sprint(claim.Name, len(pod.Spec.ResourceClaims))
				pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimName: ptr.To(claim.Name)})
			}
			e, err := question.PodObject(context.Background(), explaintest.NewCluster(o), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range e.Fixes {
				switch f := &e.Fixes[i]; {
				case f.Kind != explain.ReleaseClaim:
				case got == "":
					got = describeRelease(f)
				case describeRelease(f) == got:
					t.Errorf("the same fix again: %s", describeRelease(f))
				}
			}
			if got != tt.want {
				t.Errorf("fix %q, want %q", got, tt.want)
			}
			if got != "" && len(e.NoHelp) > 0 {
				t.Errorf("no help: %q", e.NoHelp)
			}
		})
	}
}

// describeRelease prints what a fix releases, and its message.
func describeRelease(f *explain.Fix) string {
	text := fmt.Sprintf("%s %s %d", f.Kind, f.Node, f.Nodes)
	if len(f.Patch) > 0 {
		text += fmt.Sprint(" ", f.Patch)
	}
	for _, h := range f.Claims {
		text += " " + h.Claim.String()
	}
	return text + " " + f.Message
}
