package inspect_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestIdle(t *testing.T) {
	pod := func(name string, phase corev1.PodPhase, claims ...string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}, Status: corev1.PodStatus{Phase: phase}}
		for i := range claims {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: claims[i], ResourceClaimName: &claims[i]})
		}
		return p
	}
	pods := []*corev1.Pod{
		pod("done", corev1.PodSucceeded), pod("broken", corev1.PodFailed), pod("busy", corev1.PodRunning),
		pod("waiting", corev1.PodPending, "shared"),
	}
	consumer := func(resource string, names ...string) (out []resourcev1.ResourceClaimConsumerReference) {
		for _, name := range names {
			out = append(out, resourcev1.ResourceClaimConsumerReference{Resource: resource, Name: name})
		}
		return out
	}
	tests := []struct {
		name      string
		by        []resourcev1.ResourceClaimConsumerReference
		allocated bool
		idle      bool
	}{
		{"unreserved", nil, true, true},
		{"unallocated", nil, false, true},
		{"ended", consumer("pods", "done", "broken"), true, true},
		{"one-runs", consumer("pods", "done", "busy"), true, false},
		{"running", consumer("pods", "busy"), true, false},
		{"unknown", consumer("pods", "not-read"), true, false},
		{"no-pod", consumer("podgroups", "training"), true, false},
		{"shared", consumer("pods", "done"), true, false}, // another pod is going to use it
	}
	o := inspect.Objects{Pods: pods}
	var holders []string
	for _, test := range tests {
		claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: test.name}}
		claim.Status.ReservedFor = test.by
		if test.allocated {
			claim.Status.Allocation = &resourcev1.AllocationResult{}
		}
		o.Claims = append(o.Claims, claim)
		if test.allocated && test.idle {
			holders = append(holders, test.name)
		}
	}
	s := inspect.New(o, inspect.Config{})
	for _, test := range tests {
		if got := s.Idle(inspect.ClaimRef{Namespace: "ml", Name: test.name}); got != test.idle {
			t.Errorf("claim %s: idle %t, want %t", test.name, got, test.idle)
		}
	}
	if s.Idle(inspect.ClaimRef{Namespace: "ml", Name: "missing"}) {
		t.Error("a claim that does not exist is idle")
	}
	var got []string
	for _, claim := range s.IdleHolders() {
		got = append(got, claim.Name)
	}
	slices.Sort(got)
	slices.Sort(holders)
	if !slices.Equal(got, holders) {
		t.Errorf("idle holders %v, want %v", got, holders)
	}
}
