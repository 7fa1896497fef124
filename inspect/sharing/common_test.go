package sharing

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestCommon: what is equal becomes the same, however many there are, and what differs stays as it is; what other objects
// have already is not written to.
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

// TestKnownTextAllocatesNothing: most texts are known already, and to find them takes no memory.
func TestKnownTextAllocatesNothing(t *testing.T) {
	c := New()
	text := "gpu.example.com"
	if n := testing.AllocsPerRun(10, func() { shareText(c, &text) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
