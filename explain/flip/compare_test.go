package flip_test

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestCounts: changes are counted by kind and by what became of the object.
func TestCounts(t *testing.T) {
	before, after := *cluster(), *cluster()
	node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	before.Nodes, after.Nodes = append(before.Nodes, node("gone")), append(after.Nodes, node("new-0"), node("new-1"))
	for _, change := range []edit{take(1), take(2), take(3), killers["ResourceSlice slice-n0"]} {
		change(&after)
	}
	d, err := flip.Compare(ctx, past{before}.snapshot(0), past{after}.snapshot(0))
	if err != nil {
		t.Fatal(err)
	}
	got := map[inspect.Resource][3]int{}
	for _, c := range d.Counts {
		if _, twice := got[c.Kind.Resource]; twice {
			t.Errorf("%s is counted twice", c.Kind.Name)
		}
		got[c.Kind.Resource] = [3]int{c.Made, c.Gone, c.Changed}
	}
	if want := (map[inspect.Resource][3]int{inspect.Nodes: {2, 1, 0}, inspect.Claims: {0, 0, 3}, inspect.Slices: {0, 1, 0}}); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestOtherDevices: of what has other devices than before, or another node, its own change is the reason, and
// nothing else is asked.
func TestOtherDevices(t *testing.T) {
	before, after := *cluster(), *cluster()
	take(1)(&before)
	take(1)(&after)
	free(4)(&after)
	moved := func(c *resourcev1.ResourceClaim) { c.Status.Allocation.Devices.Results[0].Device = device(2) }
	update(func(o *inspect.Objects) *[]*resourcev1.ResourceClaim { return &o.Claims }, holder(1), moved)(&after)
	update(func(o *inspect.Objects) *[]*corev1.Pod { return &o.Pods }, "pod-2", func(p *corev1.Pod) { p.Spec.NodeName = nodeOf(4) })(&after)
	killers["DeviceTaintRule bad"](&after)
	d, err := flip.Compare(ctx, past{before}.snapshot(0), past{after}.snapshot(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{holder(1), "pod-2"} {
		i := slices.IndexFunc(d.Flips, func(f flip.Flip) bool { return f.Subject.Name == name })
		if i < 0 {
			t.Errorf("%s: no flip among %+v", name, d.Flips)
			continue
		}
		f := d.Flips[i]
		if f.Before != explain.Allocated || f.After != explain.Allocated || !f.By.Undoing || len(f.By.Changes) != 1 || f.By.Changes[0].Object().GetName() != name {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// TestLastOfAll: what is only in one snapshot is found after all that is in the other, and what both did not
// read is said once.
func TestLastOfAll(t *testing.T) {
	less, more := *cluster(), *cluster()
	more.Pods = append(more.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "zz", Name: "last"}, Spec: corev1.PodSpec{NodeName: nodeOf(0)}})
	c := config(0)
	c.Health = map[inspect.Resource]inspect.Health{inspect.Classes: {State: inspect.Forbidden, Message: "cannot list classes"}}
	for _, back := range []bool{false, true} {
		before, after := less, more
		if back {
			before, after = more, less
		}
		d, err := flip.Compare(ctx, inspect.New(before, c), inspect.New(after, c))
		if err != nil {
			t.Fatal(err)
		}
		only := d.Made
		if back {
			only = d.Gone
		}
		if len(d.Made)+len(d.Gone) != 1 || len(only) != 1 || only[0].Subject.Name != "last" || len(d.Partial) != 1 {
			t.Errorf("back %t: made %+v, gone %+v, partial %q", back, d.Made, d.Gone, d.Partial)
		}
	}
}
