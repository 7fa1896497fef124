package question_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestClaimOfAttempt: a pod asks for the only device as an extended resource, and a claim holds it. If
// kube-scheduler made that for the pod itself, it deletes it and tries again.
func TestClaimOfAttempt(t *testing.T) {
	tests := []struct {
		name    string
		change  func(p *corev1.Pod, c *resourcev1.ResourceClaim)
		verdict explain.Verdict
	}{
		{"of the pod", func(*corev1.Pod, *resourcev1.ResourceClaim) {}, explain.Allocatable},
		{"of an older pod of the same name", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { c.OwnerReferences[0].UID = "older" }, explain.Unsatisfiable},
		{"of a claim template", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) { c.Annotations = nil }, explain.Unsatisfiable},
		{"of a pod with a longer name", func(_ *corev1.Pod, c *resourcev1.ResourceClaim) {
			c.OwnerReferences[0].Name, c.OwnerReferences[0].UID = "pod-extended-resources-1", "other"
		}, explain.Unsatisfiable},
		{"with a name that was cut", func(p *corev1.Pod, c *resourcev1.ResourceClaim) {
			p.Name = strings.Repeat("p", 60)
			c.Name, c.OwnerReferences[0].Name = p.Name[:58]+"x7k2p", p.Name
		}, explain.Allocatable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithDevices(1)
			o.Classes[0].Spec.ExtendedResourceName = ptr.To("example.com/gpu")
			pod := podOf("pod", 0)
			pod.UID = "pod-uid"
			pod.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"example.com/gpu": resource.MustParse("1")}}}}
			claim := gpus("pod-extended-resources-x7k2p", 1)
			held(claim, 1)
			claim.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "pod", UID: "pod-uid", Controller: ptr.To(true)}}
			tt.change(pod, claim)
			o.Claims, o.Pods = []*resourcev1.ResourceClaim{claim}, []*corev1.Pod{pod}
			e, err := question.PodObject(t.Context(), clusterOfServer(o, inspect.DefaultFeatures(inspect.NewestMinor)), pod, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			told := false
			for _, note := range e.Waits {
				told = told || strings.Contains(note.Message, "kube-scheduler has made the claim "+claim.Name)
			}
			if e.Verdict != tt.verdict || told != (tt.verdict == explain.Allocatable) {
				t.Errorf("%s: %s %v, want %s", e.Verdict, e.Message, e.Waits, tt.verdict)
			}
		})
	}
}
