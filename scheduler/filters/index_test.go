package filters

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// list is a list of resources, of names and amounts in turn.
func list(pairs ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		out[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return out
}

// testNode is a node with so much allocatable.
func testNode(name string, allocatable ...string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Allocatable: list(allocatable...)}}
}

// testPod is a pod with one container that requests so much. It is on the node if one is named.
func testPod(name, node string, requests ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{
			{Name: "main", Resources: corev1.ResourceRequirements{Requests: list(requests...)}},
		}},
	}
}

func snapshotOf(objects inspect.Objects) *inspect.Snapshot {
	return inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
}

// TestIndexSums has pods that count on their node, and some that do not.
func TestIndexSums(t *testing.T) {
	done := testPod("done", "a", "cpu", "4")
	done.Status.Phase = corev1.PodSucceeded
	leaving := testPod("leaving", "a", "cpu", "500m", "example.com/gpu", "1")
	leaving.DeletionTimestamp = &metav1.Time{}
	nominated := testPod("nominated", "", "cpu", "4")
	nominated.Status.NominatedNodeName = "a"
	x := NewIndex(snapshotOf(inspect.Objects{
		Nodes: []*corev1.Node{testNode("a", "cpu", "8", "memory", "16Gi", "pods", "10", "example.com/gpu", "2"), testNode("b", "cpu", "1")},
		Pods: []*corev1.Pod{testPod("one", "a", "cpu", "1500m", "memory", "1Gi"), done, leaving, nominated,
			testPod("elsewhere", "c", "cpu", "1"), testPod("waits", "", "cpu", "1")},
	}), nil)
	for resource, want := range map[corev1.ResourceName]int64{"cpu": 6000, "memory": 15 << 30, "pods": 8, "example.com/gpu": 1, "example.com/other": 0} {
		if got := x.Left("a", resource); got != want {
			t.Errorf("%s left: %d, want %d", resource, got, want)
		}
	}
	if got := x.Left("b", "cpu"); got != 1000 {
		t.Errorf("cpu left on b: %d", got)
	}
}

// TestIndexLike has what-if changes: what another index knows must not show, except in pointers that are
// kept.
func TestIndexLike(t *testing.T) {
	objects := inspect.Objects{}
	for i := range 4 {
		objects.Nodes = append(objects.Nodes, testNode(fmt.Sprint("n", i), "cpu", "8", "pods", "10"))
		objects.Pods = append(objects.Pods, testPod(fmt.Sprint("p", i), fmt.Sprint("n", i), "cpu", fmt.Sprint(i+1)))
	}
	before := NewIndex(snapshotOf(objects), nil)
	changes := map[string]func(*inspect.Objects){
		"nothing":     func(*inspect.Objects) {},
		"pod removed": func(o *inspect.Objects) { o.Pods = o.Pods[1:] },
		"pod added":   func(o *inspect.Objects) { o.Pods = append(o.Pods, testPod("a", "n2", "cpu", "2")) },
		"pod changed": func(o *inspect.Objects) { o.Pods[2] = testPod("p2", "n2", "cpu", "7") },
		"pod moved":   func(o *inspect.Objects) { o.Pods[2] = testPod("p2", "n1", "cpu", "3") },
		"node added":  func(o *inspect.Objects) { o.Nodes = append(o.Nodes, testNode("n0a", "cpu", "3")) },
		"node grown":  func(o *inspect.Objects) { o.Nodes[3] = testNode("n3", "cpu", "80") },
		"node gone":   func(o *inspect.Objects) { o.Nodes = o.Nodes[1:] },
	}
	for name, change := range changes {
		s := before.Snapshot().With(change)
		got, want := NewIndex(s, before), NewIndex(s, nil)
		if !reflect.DeepEqual(got.nodes, want.nodes) || !reflect.DeepEqual(got.position, want.position) || !reflect.DeepEqual(got.nominated, want.nominated) ||
			!reflect.DeepEqual(got.elsewhere, want.elsewhere) {
			t.Errorf("%s: the index differs from one that is built anew", name)
		}
		if last := "n1"; name != "pod moved" && got.node(last) != before.node(last) {
			t.Errorf("%s: node %s, to which nothing happened, was built anew", name, last)
		}
	}
	s := before.Snapshot()
	if other := NewIndex(s, before); other.node("n2") != before.node("n2") {
		t.Error("the index of the same snapshot shares nothing")
	}
	resized := testPod("a", "n2", "cpu", "1")
	resized.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", AllocatedResources: list("cpu", "3")}}
	x := NewIndex(s.With(func(o *inspect.Objects) { o.Pods = append(o.Pods, resized) }), before)
	off := x.Snapshot().WithFeatures(s.Features().With(map[inspect.Gate]bool{inspect.GateInPlacePodVerticalScaling: false}))
	if on, off := x.Left("n2", "cpu"), NewIndex(off, x).Left("n2", "cpu"); on != 2000 || off != 4000 {
		t.Errorf("%d and %d are left with a pod that is being resized, as one gate is on or off", on, off)
	}
}

// TestLedger: what is told of nodes and pods to whoever looks for room.
func TestLedger(t *testing.T) {
	x := NewIndex(snapshotOf(inspect.Objects{
		Nodes: []*corev1.Node{testNode("n", "cpu", "4", "pods", "10")},
		Pods:  []*corev1.Pod{testPod("z", "n", "cpu", "1"), testPod("a", "n", "memory", "1Gi", "cpu", "2500m"), testPod("w", "", "cpu", "1")},
	}), nil)
	var got []string
	for _, o := range x.Occupants("n") {
		got = append(got, fmt.Sprint(o.Name, o.Requests))
	}
	if want := []string{"a[2.5 CPUs 1Gi of memory]", "z[1 CPU]"}; !slices.Equal(got, want) {
		t.Errorf("the pods on the node are %v, want %v", got, want)
	}
	if got := x.Requests(testPod("p", "", "example.com/gpu", "2", "cpu", "1")); !slices.Equal(got, []Amount{{"cpu", 1000}, {"example.com/gpu", 2}}) {
		t.Errorf("the pod asks for %v", got)
	}
	for resource, want := range map[corev1.ResourceName][2]int64{"cpu": {4000, 500}, "memory": {0, -1 << 30}, "pods": {10, 8}, "example.com/gpu": {0, 0}} {
		if got := [2]int64{x.Allocatable("n", resource), x.Left("n", resource)}; got != want {
			t.Errorf("%s: %d allocatable and left, want %d", resource, got, want)
		}
	}
	if x.Left("m", "cpu") != 0 || x.Allocatable("m", "cpu") != 0 || x.Occupants("m") != nil {
		t.Error("a node that is not there has something")
	}
}
