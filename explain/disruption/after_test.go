package disruption

import (
	"context"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestAfter sees who is gone, who waits and with which claims, before anything is placed.
func TestAfter(t *testing.T) {
	o := explaintest.BusyFarm()
	changed := o.Templates[2] // since the claim was made
	o.Pods[0].Spec.ResourceClaims[0].ResourceClaimTemplateName = &changed.Name
	s := inspect.New(*o, inspect.Config{})
	after := After(s, Drain(s, "node-0000"))
	got := placesOf(after)
	if node, there := got["five"]; !there || node != "" {
		t.Errorf("the pod of a job: %q, %v; it waits", node, there)
	}
	if _, there := got["orphan"]; there || got["daemon"] != "node-0000" || got["two"] != "node-0001" {
		t.Errorf("pods %v", got)
	}
	claim, ok := after.Claim(inspect.ClaimRef{Namespace: "ml", Name: "five-gpus"})
	if !ok || claim.Status.Allocation != nil || len(claim.Status.ReservedFor) > 0 {
		t.Fatalf("the claim of the pod that waits: %v, %+v", ok, claim)
	}
	if claim.Spec.Devices.Requests[0].Exactly.Count != changed.Spec.Spec.Devices.Requests[0].Exactly.Count {
		t.Errorf("the claim is not made from the template as it is: %+v", claim.Spec.Devices.Requests[0].Exactly)
	}
	if pods := after.PodsOf(inspect.ClaimRef{Namespace: "ml", Name: "five-gpus"}); len(pods) != 1 {
		t.Errorf("its pods: %v", pods)
	}
	if _, ok := after.Claim(inspect.ClaimRef{Namespace: "ml", Name: "orphan-gpus"}); ok {
		t.Error("the claim of a pod that is gone for good is still there")
	}
	if node, _ := after.Node("node-0000"); !node.Spec.Unschedulable {
		t.Error("the node is not cordoned")
	}
	if before, _ := s.Claim(inspect.ClaimRef{Namespace: "ml", Name: "five-gpus"}); before.Status.Allocation == nil || placesOf(s)["five"] != "node-0000" {
		t.Error("the cluster itself was changed")
	}
}

// TestAfterWithoutTemplate: nobody can make a claim from a template that is gone. If templates could not be
// read, it is that one.
func TestAfterWithoutTemplate(t *testing.T) {
	o := explaintest.BusyFarm()
	o.Templates = nil
	for _, unread := range []bool{false, true} {
		s := inspect.New(*o, inspect.Config{})
		if unread {
			s = s.WithHealth(map[inspect.Resource]inspect.Health{inspect.Templates: {State: inspect.Forbidden}})
		}
		after := After(s, Drain(s, "node-0000"))
		if _, ok := after.Claim(inspect.ClaimRef{Namespace: "ml", Name: "five-gpus"}); ok != unread {
			t.Errorf("templates unread %v: the claim is there: %v", unread, ok)
		}
	}
}

// TestAfterIsWhatIsPlayedFrom compares what kube-scheduler makes of the cluster after an event with what Play
// says of the event.
func TestAfterIsWhatIsPlayedFrom(t *testing.T) {
	gone := 0
	for seed := range effort.Of(500, 60) {
		r := rand.New(rand.NewPCG(uint64(seed), 17))
		cluster := randomCrowd(r).cluster()
		s := cluster.Snapshot()
		node := inspect.NodeName(s.Nodes()[r.IntN(len(s.Nodes()))].Name)
		event := []*Event{Drain(s, node), LoseNodes(s, node), Evict(s.Objects().Pods...), LoseDevices(s, "some", func(id inspect.DeviceID) bool { return id.Device == "g0" })}[r.IntN(4)]
		d, err := Play(t.Context(), cluster, event)
		if err != nil {
			t.Fatal(err)
		}
		gone += len(d.Gone)
		after := After(s, event)
		waiting, _ := plan.Waiting(after, func(*corev1.Pod) bool { return true })
		p, err := plan.Place(context.Background(), scheduler.NewCluster(after, scheduler.Options{}), waiting, plan.Options{NoJoint: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := explaintest.ReplayText(&p.Replay), explaintest.ReplayText(&d.Replay); got != want {
			t.Fatalf("seed %d, %s:\nafter it %s\nplayed   %s", seed, event.What, got, want)
		}
	}
	if gone < 50 {
		t.Errorf("only %d pods went", gone)
	}
}

// TestEvictLeavesAlone: a pod that waits, or has ended, is not evicted.
func TestEvictLeavesAlone(t *testing.T) {
	waits, ended := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "waits"}}, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "ended"}}
	ended.Spec.NodeName, ended.Status.Phase = "n", corev1.PodSucceeded
	if e := Evict(waits, ended); len(e.Evicted) > 0 {
		t.Errorf("evicted: %v", e.Evicted)
	}
}
