package plan

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
)

// TestWithClaims: claims are made up for a pod that waits, from templates that there are, and only those that
// it has not got.
func TestWithClaims(t *testing.T) {
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod)
		taken  string // the name of a claim that there is
		want   string // the name of the claim that is made up
		copied bool   // although no claim is
	}{
		"waits":       {want: "p-gpus"},
		"of any kind": {change: func(p *corev1.Pod) { p.UID = "" }, want: "p-gpus"},
		"name taken":  {taken: "p-gpus", want: "p-gpus-planned"},
		"on a node":   {change: func(p *corev1.Pod) { p.Spec.NodeName = "node-0000" }},
		"ended":       {change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }},
		"deleted":     {change: func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1, 0))) }},
		"has it": {change: func(p *corev1.Pod) {
			p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpus", ResourceClaimName: ptr.To("mine")}}
		}},
		"no template":        {change: func(p *corev1.Pod) { p.Spec.ResourceClaims[0].ResourceClaimTemplateName = ptr.To("none") }},
		"another's template": {change: func(p *corev1.Pod) { p.Namespace = "other" }},
		"a claim by name": {change: func(p *corev1.Pod) {
			p.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("shared")}
		}},
		"no claims":       {change: func(p *corev1.Pod) { p.Spec.ResourceClaims = nil }},
		"nothing, as yet": {change: func(p *corev1.Pod) { p.Spec.ResourceClaims, p.UID = nil, "" }, copied: true},
	} {
		t.Run(name, func(t *testing.T) {
			o, pod := explaintest.SmallFarm(1), explaintest.Worker("p", "one")
			pod.UID = "uid"
			if test.change != nil {
				test.change(pod)
			}
			if test.taken != "" {
				o.Claims = append(o.Claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: test.taken}})
			}
			before := pod.DeepCopy()
			own, claims := withClaims(explaintest.NewCluster(*o).Snapshot(), pod)
			if len(pod.Status.ResourceClaimStatuses) != len(before.Status.ResourceClaimStatuses) || pod.UID != before.UID {
				t.Errorf("the pod that was given was changed: %+v", pod)
			}
			if test.want == "" {
				if len(claims) > 0 || (own != pod) != test.copied {
					t.Errorf("%+v, %+v", own, claims)
				}
				return
			}
			if own == pod || own.UID == "" || len(claims) != 1 {
				t.Fatalf("%+v, %+v", own, claims)
			}
			claim, owner := claims[0], claims[0].OwnerReferences[0]
			if claim.Name != test.want || claim.Namespace != "ml" || claim.UID == "" || owner.UID != own.UID || owner.Name != "p" {
				t.Errorf("%+v", claim)
			}
			if s := own.Status.ResourceClaimStatuses; len(s) != 1 || s[0].Name != "gpus" || *s[0].ResourceClaimName != test.want {
				t.Errorf("%+v", s)
			}
		})
	}
}

// TestAdmittedWith: who is asked about and waits as well is admitted once, and the order of each list stays.
func TestAdmittedWith(t *testing.T) {
	c := explaintest.NewCluster(*explaintest.SmallFarm(1))
	a, b, d := explaintest.Worker("a", "one"), explaintest.Worker("b", "one"), explaintest.Worker("d", "one")
	with, own, rest := admittedWith(c, []*corev1.Pod{b, a}, []*corev1.Pod{a, d, b})
	if len(own) != 2 || own[0].Name != "b" || own[1].Name != "a" || len(rest) != 1 || rest[0].Name != "d" {
		t.Fatalf("%+v, %+v", own, rest)
	}
	if n := len(with.Snapshot().Objects().Claims); n != 3 || len(with.Snapshot().Objects().Pods) != 3 {
		t.Errorf("%d claims, %d pods", n, len(with.Snapshot().Objects().Pods))
	}
	again, own := Admitted(with, own)
	if again != with || len(own) != 2 {
		t.Error("who was admitted is admitted again")
	}
}
