package conflict_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestClaimsOfSameTemplate asks for a pod with two claims from a template for four GPUs each. gpu-b-04 has
// most free, six. That is three for each, since to change the template is to change both.
func TestClaimsOfSameTemplate(t *testing.T) {
	spec := explaintest.GPUClaim(4, "gpu.example.com").Spec
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "pair"}}
	for _, name := range []string{"a", "b"} {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimTemplateName: ptr.To("four")})
	}
	made := pod.DeepCopy()
	for _, name := range []string{"a", "b"} {
		made.Status.ResourceClaimStatuses = append(made.Status.ResourceClaimStatuses,
			corev1.PodResourceClaimStatus{Name: name, ResourceClaimName: ptr.To("pair-" + name)})
	}
	older := func(o *inspect.Objects) { // the template has changed since the claims were made
		o.Templates[len(o.Templates)-1].Spec.Spec.Devices.Requests[0].Exactly.Count = 5
	}
	const both, one = "in the template four: ask for 3 devices instead of 4", "in claim pair-a: ask for 2 devices instead of 4 for gpu"
	for _, tt := range []struct {
		name   string
		pod    *corev1.Pod
		change func(*inspect.Objects)
		want   string
		size   int // the number of requirements of the conflict, among them the claim that holds the other two
	}{
		{"yet to be made", pod, nil, both, 2},
		{"made", made, nil, both, 2},
		{"made before the template changed", made, older, one, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := explaintest.DemoCluster(t).Snapshot().With(func(o *inspect.Objects) {
				o.Templates = append(o.Templates, &resourcev1.ResourceClaimTemplate{
					ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "four"},
					Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: *spec.DeepCopy()},
				})
				for i := range tt.pod.Status.ResourceClaimStatuses {
					claim := &resourcev1.ResourceClaim{Spec: *spec.DeepCopy()}
					claim.Namespace, claim.Name = "ml", *tt.pod.Status.ResourceClaimStatuses[i].ResourceClaimName
					o.Claims = append(o.Claims, claim)
				}
				if tt.change != nil {
					tt.change(o)
				}
			})
			e, err := question.PodObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), tt.pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
				t.Fatalf("%s, conflict %+v", e.Message, e.Conflict)
			}
			if len(e.Conflict.Requirements) != tt.size {
				t.Errorf("conflict %+v", e.Conflict.Requirements)
			}
			if !slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Message == tt.want }) {
				t.Errorf("fixes %+v", e.Fixes)
			}
		})
	}
}

// TestRequestOfSameTemplate asks for two claims of a template of a node with one device. That is one
// requirement, for each of the claims: they have the request in common.
func TestRequestOfSameTemplate(t *testing.T) {
	s := explaintest.DemoCluster(t).Snapshot().With(func(o *inspect.Objects) {
		o.Slices, o.Nodes, o.Claims = nil, []*corev1.Node{explaintest.Node("n")}, nil
		o.Slices = append(o.Slices, &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: "s"},
			Spec: resourcev1.ResourceSliceSpec{
				Driver: "gpu.example.com", NodeName: ptr.To("n"), Devices: []resourcev1.Device{{Name: "gpu-0"}},
				Pool: resourcev1.ResourcePool{Name: "n", Generation: 1, ResourceSliceCount: 1},
			},
		})
		o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}}
		o.Templates = []*resourcev1.ResourceClaimTemplate{{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "one"},
			Spec:       resourcev1.ResourceClaimTemplateSpec{Spec: explaintest.GPUClaim(1, "gpu").Spec},
		}}
	})
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "pair"}}
	for _, name := range []string{"a", "b"} {
		pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: name, ResourceClaimTemplateName: ptr.To("one")})
	}
	e, err := question.PodObject(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
		t.Fatalf("%s, conflict %+v", e.Message, e.Conflict)
	}
	var messages []string
	for _, r := range e.Conflict.Requirements {
		messages = append(messages, r.Message)
	}
	if want := []string{"gpu needs a device (for each of pair-a, pair-b)"}; !slices.Equal(messages, want) {
		t.Errorf("conflict %q, want %q", messages, want)
	}
}
