package live

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/store"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

func TestSliceSharesEqualCapacities(t *testing.T) {
	memory := func(amount string, policy *resourcev1.CapacityRequestPolicy) map[resourcev1.QualifiedName]resourcev1.DeviceCapacity {
		return map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(amount), RequestPolicy: policy}}
	}
	slice := &resourcev1.ResourceSlice{}
	for _, capacity := range []map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		memory("40Gi", nil), memory("40Gi", nil), memory("80Gi", nil), memory("80Gi", &resourcev1.CapacityRequestPolicy{}), nil,
	} {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Capacity: capacity})
	}
	before := slice.DeepCopy()
	sharing.New().Share(slice)
	if !reflect.DeepEqual(slice, before) {
		t.Errorf("the slice reads differently:\n%v\n%v", slice, before)
	}
	at := func(i int) uintptr { return reflect.ValueOf(slice.Spec.Devices[i].Capacity).Pointer() }
	if at(0) != at(1) {
		t.Error("equal capacities are not shared")
	}
	if at(1) == at(2) || at(2) == at(3) {
		t.Error("different capacities are shared")
	}
}

// TestPodsOfOneControllerShare: pods that were read one after the other share what they have in common, and
// nothing else changes.
func TestPodsOfOneControllerShare(t *testing.T) {
	pods, _ := wire.KindOf(inspect.Pods)
	list := func() *corev1.PodList {
		out := &corev1.PodList{}
		for i := range 3 {
			out.Items = append(out.Items, *typicalPod(i))
		}
		out.Items[1].Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("3")
		out.Items[2].Namespace = "elsewhere"
		return out
	}
	got, err := pods.Read(pods.Versions[0], list(), sharing.New())
	if err != nil {
		t.Fatal(err)
	}
	for i, item := range list().Items {
		wire.ReduceObject(&item)
		if diff := cmp.Diff(&item, got[i]); diff != "" {
			t.Errorf("pod %d reads differently (-alone +read):\n%s", i, diff)
		}
	}
	first, second, other := got[0].(*corev1.Pod), got[1].(*corev1.Pod), got[2].(*corev1.Pod)
	if &first.Spec.InitContainers[0] != &second.Spec.InitContainers[0] || reflect.ValueOf(first.Labels).Pointer() != reflect.ValueOf(second.Labels).Pointer() {
		t.Error("siblings do not share their init containers and labels")
	}
	if &first.Spec.Containers[0] == &second.Spec.Containers[0] {
		t.Error("containers that differ are shared")
	}
	if &second.Spec.InitContainers[0] == &other.Spec.InitContainers[0] {
		t.Error("pods of different namespaces share their containers")
	}
}

// TestChangedPodShares: a pod that changes while it is watched goes on to share what has not changed, with
// itself as it was.
func TestChangedPodShares(t *testing.T) {
	pods, _ := wire.KindOf(inspect.Pods)
	s := store.New(pods, func() {}, func() {})
	before, after := typicalPod(1), typicalPod(1)
	wire.ReduceObject(before)
	after.Labels["team"] = "other"
	wire.ReduceObject(after)
	for _, pod := range []*corev1.Pod{before, after} {
		if err := s.Update(pod); err != nil {
			t.Fatal(err)
		}
	}
	if &before.Spec.Containers[0] != &after.Spec.Containers[0] {
		t.Error("the containers are in memory twice")
	}
	if after.Labels["team"] != "other" {
		t.Errorf("the new labels are lost: %v", after.Labels)
	}
}

// TestWatchedPodsShare: so do those that a watch sends at its beginning.
func TestWatchedPodsShare(t *testing.T) {
	pods, _ := wire.KindOf(inspect.Pods)
	o := &opened{feed: &feed{kind: pods, size: func() int { return 0 }}, version: pods.Versions[0], common: sharing.New()}
	first := o.change(watch.Event{Type: watch.Added, Object: typicalPod(1)}).Object.(*corev1.Pod)
	o.change(watch.Event{Type: watch.Bookmark, Object: &corev1.Pod{}})
	second := o.change(watch.Event{Type: watch.Added, Object: typicalPod(2)}).Object.(*corev1.Pod)
	if first.Name == second.Name || &first.Spec.Containers[0] != &second.Spec.Containers[0] {
		t.Errorf("%s and %s do not share their containers", first.Name, second.Name)
	}
}

// TestReducedMetadata: what the scheduler reads of annotations stays, and nothing else of them.
func TestReducedMetadata(t *testing.T) {
	pod := typicalPod(1)
	pod.Annotations["kubernetes.io/egress-bandwidth"] = "10M"
	pod.Finalizers = []string{"example.com/f"}
	whole := pod.DeepCopy()
	wire.ReduceObject(pod)
	want := metav1.ObjectMeta{
		Name: whole.Name, Namespace: whole.Namespace, UID: whole.UID, Labels: whole.Labels, OwnerReferences: whole.OwnerReferences,
		CreationTimestamp: whole.CreationTimestamp, Annotations: map[string]string{"kubernetes.io/egress-bandwidth": "10M"},
	}
	if diff := cmp.Diff(want, pod.ObjectMeta); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConvertAllocatesNothing: an event of which nothing has to be changed costs no memory; once it cost that
// of a second object.
func TestConvertAllocatesNothing(t *testing.T) {
	claims, _ := wire.KindOf(inspect.Claims)
	f := &feed{kind: claims}
	event := watch.Event{Type: watch.Modified, Object: &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c"}}}
	if n := testing.AllocsPerRun(10, func() {
		if _, err := f.convert(claims.Versions[0], event); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
