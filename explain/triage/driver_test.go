package triage_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// classFor adds a device class with a selector, and lets the claim of a pod ask for it.
func classFor(o *inspect.Objects, pod, class, selector string) {
	if !slices.ContainsFunc(o.Classes, func(c *resourcev1.DeviceClass) bool { return c.Name == class }) {
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{
			ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CELSelectors(selector)},
		})
	}
	for _, claim := range o.Claims {
		if claim.Name == pod {
			claim.Spec.Devices.Requests[0].Exactly.DeviceClassName = class
		}
	}
}

// TestDriverDown: pods that ask for different numbers of different classes have one cause where one driver
// publishes nothing. Who still holds its devices is told, and what looks for its pods; nothing of that is
// called a fix.
func TestDriverDown(t *testing.T) {
	o := explaintest.NodesWithDevices(2) // of another driver
	waiting(&o, "a", 1, 0)
	classFor(&o, "a", "gpu", `device.driver == "gpu.vendor.com"`)
	waiting(&o, "b", 5, 1)
	classFor(&o, "b", "gpu-80gb", `device.driver == "gpu.vendor.com" && device.capacity["gpu.vendor.com"].memory.compareTo(quantity("80Gi")) >= 0`)
	waiting(&o, "c", 1, 2)
	classFor(&o, "c", "gpu", "")
	waiting(&o, "other", 3, 3)
	held(&o, "p", 0, "d0", "d1")
	held(&o, "q", 0, "d2")
	at := metav1.NewTime(time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC))
	for _, claim := range o.Claims[len(o.Claims)-2:] {
		claim.Status.Allocation.AllocationTimestamp = &at
		for i := range claim.Status.Allocation.Devices.Results {
			claim.Status.Allocation.Devices.Results[i].Driver = "gpu.vendor.com"
		}
	}
	got := triageOf(t, o, triage.Options{})
	if len(got.Causes) != 2 {
		t.Fatalf("%q", outline(got))
	}
	c := &got.Causes[0]
	if len(c.Subjects) != 3 || c.Actor != explain.DriverAdmin || len(c.Fixes) > 0 || len(c.Advice) != 1 || c.Message != "no driver publishes devices of class gpu or gpu-80gb (is it running?)" {
		t.Fatalf("%q, %+v", outline(got), c)
	}
	a := c.Advice[0]
	if want := "see whether the driver gpu.vendor.com runs: it publishes no devices, though 2 claims still hold 3 that it once published"; a.Message != want {
		t.Errorf("%q, want %q", a.Message, want)
	}
	if want := "kubectl get daemonsets,pods -A -o wide | grep -i -E 'gpu|vendor'"; strings.Join(a.Commands, "\n") != want {
		t.Errorf("%q, want %q", a.Commands, want)
	}
	if len(got.Causes[1].Advice) > 0 || got.Causes[1].Subjects[0].Name != "other" {
		t.Errorf("the driver that runs: %+v", got.Causes[1])
	}
}

// TestAskedTooMuch: where only what is asked for is in the way, the cause says what that is, of whichever of
// the subjects are asked about.
func TestAskedTooMuch(t *testing.T) {
	o := explaintest.NodesWithDevices(2, 1)
	waiting(&o, "a", 3, 0)
	waiting(&o, "b", 5, 1)
	waiting(&o, "c", 3, 2)
	for i, pod := range o.Pods {
		pod.Labels = map[string]string{"apps.kubernetes.io/pod-index": strconv.Itoa(i)} // which tells no shapes apart
	}
	for selector, want := range map[string]string{
		"":                                      "want 3 to 5 devices of class any; no node has more than 2",
		"apps.kubernetes.io/pod-index in (1,2)": "want 3 to 5 devices of class any; no node has more than 2",
		"apps.kubernetes.io/pod-index=2":        "needs 3 devices of class any; no node has more than 2 (3 in all)",
	} {
		var opts triage.Options
		if opts.Selector, _ = labels.Parse(selector); selector == "" {
			opts.Selector = nil
		}
		got := triageOf(t, o, opts)
		if len(got.Causes) != 1 || got.Causes[0].Message != want || got.Causes[0].Wants != strings.HasPrefix(want, "want") {
			t.Errorf("%q: %q\nwant\n%q", selector, outline(got), want)
		}
	}
}

// TestAskedTooMuchInSeveralWays: where no sentence about one request tells what is asked for, nothing is said
// of all nodes.
func TestAskedTooMuchInSeveralWays(t *testing.T) {
	o := explaintest.NodesWithDevices(2)
	for i, name := range []string{"a", "b"} {
		waiting(&o, name, 1, i)
		claim := o.Claims[len(o.Claims)-1]
		claim.Spec.Devices.Requests = nil
		for n := range 3 + i {
			claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, resourcev1.DeviceRequest{
				Name: "r" + strconv.Itoa(n), Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
			})
		}
	}
	got := triageOf(t, o, triage.Options{})
	for _, c := range got.Causes {
		if strings.Contains(c.Message, "no node") || c.Wants || !strings.HasPrefix(c.Message, "even the nodes that come closest cannot give what these want: ") {
			t.Errorf("%q", outline(got))
		}
	}
}

// TestDriverDownUnderPods: that a driver publishes nothing is one cause for those that wait for its devices
// and for those that have some, on whichever nodes; what another driver has taken back on a node is a cause
// of that node.
func TestDriverDownUnderPods(t *testing.T) {
	o := explaintest.NodesWithDevices(1, 1) // of another driver
	runs := func(name, driver string, node int, device string) {
		held(&o, name, node, device)
		o.Claims[len(o.Claims)-1].Status.Allocation.Devices.Results[0].Driver = driver
		pod := explaintest.NewPod(func(p *corev1.PodSpec) {
			p.NodeName = explaintest.NodeName(node)
			p.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &name}}
		})
		pod.Name, pod.Status.Phase = name, corev1.PodRunning
		o.Pods = append(o.Pods, pod)
	}
	runs("p", "gpu.vendor.com", 0, "x0")
	runs("q", "gpu.vendor.com", 1, "x1")
	runs("r", explaintest.Driver, 0, "gone")
	runs("s", explaintest.Driver, 1, "gone")
	got := triageOf(t, o, triage.Options{})
	if len(got.Causes) != 3 {
		t.Fatalf("%q", outline(got))
	}
	c := &got.Causes[0]
	if want := "the driver gpu.vendor.com no longer publishes any devices, and pods use some (is it running?)"; c.Message != want || c.Verdict != explain.Allocated {
		t.Errorf("%q, want %q", c.Message, want)
	}
	if len(c.Subjects) != 2 || c.Subjects[1].Message != "has devices on n1 that are no longer published" || len(c.Advice) != 1 || len(c.Commands) > 0 {
		t.Errorf("%+v", c)
	}
	for i, node := range []string{"n0", "n1"} {
		want := "the driver " + explaintest.Driver + " no longer publishes devices of " + node + " that pods use"
		if c := &got.Causes[1+i]; c.Message != want || len(c.Subjects) != 1 {
			t.Errorf("%q, want %q", c.Message, want)
		}
	}

	waiting(&o, "a", 1, 0)
	classFor(&o, "a", "gpu", `device.driver == "gpu.vendor.com"`)
	waiting(&o, "b", 2, 1)
	classFor(&o, "b", "gpu", "")
	got = triageOf(t, o, triage.Options{})
	if len(got.Causes) != 3 || len(got.Causes[0].Subjects) != 4 || len(got.Causes[0].Advice) != 1 {
		t.Fatalf("%q", outline(got))
	}
	if want := "no driver publishes devices of class gpu (is it running?); 2 pods use some that it published"; got.Causes[0].Message != want {
		t.Errorf("%q, want %q", got.Causes[0].Message, want)
	}
}

// TestNoClassForAHeadline: what a class that does not exist would have to select is not known, so that
// creating it is no change to begin with, however many wait for it.
func TestNoClassForAHeadline(t *testing.T) {
	o := explaintest.NodesWithDevices(8)
	for i, name := range []string{"a", "b", "c"} {
		waiting(&o, name, 1, i)
		o.Claims[len(o.Claims)-1].Spec.Devices.Requests[0].Exactly.DeviceClassName = "absent"
	}
	waiting(&o, "many", 9, 4)
	got := triageOf(t, o, triage.Options{})
	if len(got.Causes) != 2 || len(got.Causes[0].Fixes) != 2 || got.Causes[0].Fixes[1].Kind != explain.CreateClass {
		t.Fatalf("%q", outline(got))
	}
	if _, best := got.Best(); best == nil || best.Kind != explain.UseClass {
		t.Errorf("the best is %+v", best)
	}
	got.Causes[0].Fixes = got.Causes[0].Fixes[1:]
	if _, best := got.Best(); best != nil {
		t.Errorf("the best is %q", best.Message)
	}
}

// TestChangeOfManyClaims: a change that is made in the claims of many pods says of how many.
func TestChangeOfManyClaims(t *testing.T) {
	o := explaintest.NodesWithDevices(4)
	for i, name := range []string{"a", "b", "c"} {
		waiting(&o, name, 5, i)
	}
	got := triageOf(t, o, triage.Options{})
	if len(got.Causes) != 1 || len(got.Causes[0].Fixes) == 0 {
		t.Fatalf("%q", outline(got))
	}
	if m := got.Causes[0].Fixes[0].Message; !strings.HasPrefix(m, "in claim a and 2 alike: ask for 4 devices") {
		t.Errorf("%q", m)
	}
	if s := got.Causes[0].Subjects[0]; s.Owner != "" {
		t.Errorf("%q made %s", s.Owner, s.Name)
	}
}

// TestOneKind: only what was asked about is told.
func TestOneKind(t *testing.T) {
	o := explaintest.NodesWithDevices(4)
	waiting(&o, "a", 5, 0)
	o.Claims = append(o.Claims, explaintest.GPUClaim(5, "any"))
	for kind, want := range map[string]int{"": 2, "Pod": 1, "ResourceClaim": 1} {
		got := triageOf(t, o, triage.Options{Kind: kind})
		if n := got.Stuck(); n != want {
			t.Errorf("%q: %d are stuck, want %d", kind, n, want)
		}
	}
}
