package sharing

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCommon: what is equal becomes the same, however many there are, and what differs stays as it is; what
// other objects have already is not written to.
func TestCommon(t *testing.T) {
	c := New()
	node := func(i int) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), Labels: map[string]string{"type": fmt.Sprint(i % 2)}}}
		n.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse(fmt.Sprint(4 + i%2)), "memory": resource.MustParse("1Gi")}
		return n
	}
	var all []*corev1.Node
	for i := range 4 {
		n := node(i)
		c.Share(n)
		all = append(all, n)
		if diff := cmp.Diff(node(i), n); diff != "" {
			t.Errorf("node %d reads differently:\n%s", i, diff)
		}
	}
	at := func(m any) uintptr { return reflect.ValueOf(m).Pointer() }
	if at(all[0].Labels) != at(all[2].Labels) || at(all[1].Status.Capacity) != at(all[3].Status.Capacity) {
		t.Error("what is equal is in memory twice")
	}
	if at(all[0].Labels) == at(all[1].Labels) || at(all[0].Status.Capacity) == at(all[1].Status.Capacity) {
		t.Error("what differs is shared")
	}
	for i := range 3 * mostTexts {
		text := fmt.Sprint(i)
		shareText(c, &text)
		if text != fmt.Sprint(i) || len(c.texts) > mostTexts {
			t.Fatalf("%q, and %d texts are kept", text, len(c.texts))
		}
	}
}

// TestEqualAttributes: devices of different slices have one map if their attributes are equal in name, type
// and value, and maps of their own otherwise; each reads as it would by itself.
func TestEqualAttributes(t *testing.T) {
	type attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	one, zero, yes, no, text, empty := int64(1), int64(0), true, false, "a", ""
	kinds := []func() attributes{
		func() attributes { return attributes{"a": {IntValue: &one}, "b": {StringValue: &text}} },
		func() attributes { return attributes{"b": {IntValue: &one}, "a": {StringValue: &text}} },
		func() attributes { return attributes{"a": {IntValue: &zero}} },
		func() attributes { return attributes{"a": {BoolValue: &no}} },
		func() attributes { return attributes{"a": {BoolValue: &yes}} },
		func() attributes { return attributes{"a": {StringValue: &empty}} },
		func() attributes { return attributes{"a": {VersionValue: &empty}} },
		func() attributes { return attributes{"a": {VersionValue: &text}} },
		func() attributes { return attributes{"a": {IntValues: []int64{1}}} },
		func() attributes { return attributes{"a": {IntValues: []int64{2}}} },
	}
	// Empty and false values have the hash of others: each kind is given twice before the next one.
	c, seen := New(), map[uintptr]int{}
	for i, kind := range kinds {
		var maps [2]uintptr
		for j := range maps {
			s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i, j)}}
			s.Spec.Devices = []resourcev1.Device{{Name: "d", Attributes: kind()}}
			c.Share(s)
			if diff := cmp.Diff(kind(), s.Spec.Devices[0].Attributes); diff != "" {
				t.Errorf("kind %d reads differently:\n%s", i, diff)
			}
			maps[j] = reflect.ValueOf(s.Spec.Devices[0].Attributes).Pointer()
		}
		if lists := kind()["a"].IntValues != nil; (maps[0] != maps[1]) != lists {
			t.Errorf("kind %d: in memory twice is %v; only lists are", i, maps[0] != maps[1])
		}
		if other, ok := seen[maps[0]]; ok {
			t.Errorf("kinds %d and %d differ and are shared", other, i)
		}
		seen[maps[0]] = i
	}
}

// TestKnownTextAllocatesNothing: most texts are known already, and to find them takes no memory.
func TestKnownTextAllocatesNothing(t *testing.T) {
	c := New()
	text := "gpu.example.com"
	if n := testing.AllocsPerRun(10, func() { shareText(c, &text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSharedStaysAsItWas: whatever changes of a slice, its next state reads as it would by itself, and states
// before it stay as they were.
func TestSharedStaysAsItWas(t *testing.T) {
	random, c := rand.New(rand.NewPCG(1, 2)), New()
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	for i := range 8 {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i)})
	}
	type state struct{ got, want *resourcev1.ResourceSlice }
	var states []state
	for step := range 200 {
		device := &slice.Spec.Devices[random.IntN(8)]
		text := fmt.Sprint(random.IntN(3))
		switch random.IntN(5) {
		case 0:
			slice.Labels = map[string]string{"changed": text}
		case 1:
			device.Taints = []resourcev1.DeviceTaint{{Key: text, Effect: "NoSchedule"}}
		case 2:
			device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(text)}}
		default:
			device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"uuid": {StringValue: &text}}
		}
		decoded := slice.DeepCopy()
		c.Share(decoded)
		states = append(states[max(0, len(states)-10):], state{decoded, slice.DeepCopy()})
		for _, s := range states {
			if diff := cmp.Diff(s.want, s.got); diff != "" {
				t.Fatalf("step %d: reads differently (-alone +shared):\n%s", step, diff)
			}
		}
	}
}
