package demo

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func newLife(t *testing.T) *Life {
	t.Helper()
	l, err := NewLife(1, inspect.DefaultFeatures(inspect.NewestMinor))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func stateOf(s *inspect.Snapshot, driver, pool, device string) inspect.DeviceState {
	for _, d := range s.Devices() {
		if d.ID == (inspect.DeviceID{Driver: driver, Pool: pool, Device: device}) {
			return d.State
		}
	}
	return ""
}

// TestReleaseEndsPods: of a claim that a template made nothing is left, another one waits again; the life
// goes on from there.
func TestReleaseEndsPods(t *testing.T) {
	l := newLife(t)
	made := inspect.ClaimRef{Namespace: "infer", Name: "chat-7b-6d9f4c7b88-2xkqp-gpu-h7w2z"}
	own := inspect.ClaimRef{Namespace: "ml", Name: "pretrain-1"}
	before, _ := l.Snapshot().Claim(own)
	for _, ref := range []inspect.ClaimRef{made, own} {
		if err := l.Release(ref); err != nil {
			t.Fatal(err)
		}
		l.Written()
	}
	if before.Status.Allocation == nil {
		t.Error("the snapshot before was written to")
	}
	s := l.Step()
	if _, ok := s.Claim(made); ok {
		t.Errorf("%s outlives its pod", made)
	}
	claim, _ := s.Claim(own)
	if claim == nil || claim.Status.Allocation != nil || len(claim.Status.ReservedFor) > 0 || slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
		t.Errorf("%s is %+v", own, claim)
	}
	for _, pod := range s.PodsOf(own) {
		if p, ok := s.Pod(pod); ok && p.Status.Phase != corev1.PodSucceeded {
			t.Errorf("pod %s is %s", pod.Name, p.Status.Phase)
		}
	}
	if state := stateOf(s, gpuDriver, "gpu-b-01", "gpu-0"); state != inspect.DeviceFree {
		t.Errorf("the device is %s", state)
	}
	if err := l.Release(own); err == nil {
		t.Error("a claim without devices was released")
	}
}

// TestTaintedByUsers: a rule keeps jobs off the pool until it is taken back.
func TestTaintedByUsers(t *testing.T) {
	l := newLife(t)
	for _, node := range jobNodes {
		if err := l.Taint(inspect.DeviceID{Driver: gpuDriver, Pool: node}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Taint(inspect.DeviceID{Driver: gpuDriver, Pool: "nowhere"}); err == nil {
		t.Error("a pool was tainted that does not exist")
	}
	for range 30 {
		for _, claim := range l.Step().Objects().Claims {
			if claim.Namespace == jobNamespace && claim.Status.Allocation != nil {
				t.Fatalf("%s got tainted devices", claim.Name)
			}
		}
	}
	if state := stateOf(l.Snapshot(), gpuDriver, "gpu-a-02", "gpu-2"); state != inspect.DeviceTainted {
		t.Errorf("the device is %s", state)
	}
	for _, node := range jobNodes {
		if err := l.Taint(inspect.DeviceID{Driver: gpuDriver, Pool: node}); err != nil {
			t.Fatal(err)
		}
	}
	running := func(c *resourcev1.ResourceClaim) bool {
		return c.Namespace == jobNamespace && c.Status.Allocation != nil
	}
	if !slices.ContainsFunc(l.Step().Objects().Claims, running) {
		t.Error("jobs still wait, with nothing tainted")
	}
}

// TestJobsCanBeWrittenTo: a job that waits gets devices from users and runs then; it can be released.
func TestJobsCanBeWrittenTo(t *testing.T) {
	l := newLife(t)
	for _, node := range jobNodes { // so that jobs wait
		if err := l.Taint(inspect.DeviceID{Driver: gpuDriver, Pool: node}); err != nil {
			t.Fatal(err)
		}
	}
	for len(l.jobs) == 0 {
		l.Step()
	}
	ref := inspect.ClaimRef{Namespace: jobNamespace, Name: l.jobs[0].name}
	claim, _ := l.Snapshot().Claim(ref)
	claim = claim.DeepCopy()
	claim.Status.Allocation = &resourcev1.AllocationResult{NodeSelector: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{"gpu-b-04"}}}}}}}
	claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "gpus", Driver: gpuDriver, Pool: "gpu-b-04", Device: "gpu-0"}}
	if err := l.Allocate(claim); err != nil {
		t.Fatal(err)
	}
	if err := l.Allocate(claim); err == nil {
		t.Error("allocated twice")
	}
	s := l.Written()
	if now, _ := s.Claim(ref); inspect.StateOf(now) != inspect.ClaimAllocated {
		t.Errorf("the claim is %s", inspect.StateOf(now))
	}
	s = l.Step()
	pod, _ := s.Pod(inspect.PodRef(ref))
	if now, _ := s.Claim(ref); inspect.StateOf(now) != inspect.ClaimReserved || pod.Spec.NodeName != "gpu-b-04" || stateOf(s, gpuDriver, "gpu-b-04", "gpu-0") != inspect.DeviceAllocated {
		t.Errorf("the claim is %s, its pod on %q", inspect.StateOf(now), pod.Spec.NodeName)
	}
	if err := l.Deallocate(ref); err == nil {
		t.Error("a reserved claim was deallocated")
	}
	if err := l.Release(ref); err != nil {
		t.Fatal(err)
	}
	if s = l.Written(); stateOf(s, gpuDriver, "gpu-b-04", "gpu-0") != inspect.DeviceFree {
		t.Error("the device is not free")
	}
}

// TestWritesAreSeenAtOnce: who writes to a life that goes on by itself does not wait for its next step.
func TestWritesAreSeenAtOnce(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	a, err := Live(ctx, 1, inspect.DefaultFeatures(inspect.NewestMinor), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	first := <-a.Updates()
	ref := inspect.ClaimRef{Namespace: "dev", Name: "notebook-omar"}
	if err := a.Write(func(l *Life) error { return l.Deallocate(ref) }); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-a.Updates():
		if claim, _ := s.Claim(ref); claim.Status.Allocation != nil || a.Snapshot() != s {
			t.Error("the devices were not taken back")
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was delivered")
	}
	if claim, _ := first.Claim(ref); claim.Status.Allocation == nil {
		t.Error("the snapshot before was written to")
	}
	stop()
	for range a.Updates() { // until it is closed
	}
	if err := a.Write(func(l *Life) error { return l.Release(ref) }); err == nil {
		t.Error("something was written to a life that has ended")
	}
}
