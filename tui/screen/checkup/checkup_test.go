package checkup

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// faulty is a cluster of nodes with eight devices each, of which every other has a pool that is not complete.
func faulty(nodes int) inspect.Objects {
	var o inspect.Objects
	for n := range nodes {
		name := fmt.Sprintf("node-%05d", n)
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}})
		slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.example.com", NodeName: &name, Pool: resourcev1.ResourcePool{Name: name, ResourceSliceCount: int64(1 + n%2)},
		}}
		for d := range 8 {
			slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprintf("gpu-%d", d)})
		}
		o.Slices = append(o.Slices, slice)
	}
	return o
}

// TestKeysDoNotWait: whatever is done before the next key can be pressed is as much in a cluster of 5,000
// nodes as in one of 50. The answer itself grows with the cluster, in the background.
func TestKeysDoNotWait(t *testing.T) {
	const small, large = 50, 5000
	type work struct{ opening, waiting, asking, drawing, reading float64 } // allocations
	measure := func(nodes int) (out work) {
		w := screentest.World(t, faulty(nodes))
		var s screen.Screen
		var ask tea.Cmd
		out.opening = testing.AllocsPerRun(1, func() {
			s = New()
			ask = s.Update(w, screen.Shown{})
		})
		press := func() {
			for _, key := range []string{"j", "k", "G", "g"} {
				screentest.Give(w, s, screentest.Key(key))
				s.View(w, 100, 30)
			}
		}
		out.waiting = testing.AllocsPerRun(3, press)
		var answer tea.Msg
		var text string
		out.asking = once(func() { answer = ask() })
		s.Update(w, answer)
		out.drawing = once(func() { text = s.View(w, 100, 30) })
		out.reading = testing.AllocsPerRun(3, press)
		if !strings.Contains(text, "PoolIncomplete") {
			t.Errorf("with %d nodes it shows\n%s", nodes, text)
		}
		return out
	}
	few, many := measure(small), measure(large)
	t.Logf("allocations with %d nodes %+v, with %d nodes %+v", small, few, large, many)
	for what, of := range map[string][2]float64{
		"opening": {few.opening, many.opening}, "waiting": {few.waiting, many.waiting}, "drawing": {few.drawing, many.drawing}, "reading": {few.reading, many.reading},
	} {
		if of[1] > 2*of[0]+100 {
			t.Errorf("%s the view takes %.0f allocations with %d nodes, and %.0f with %d", what, of[0], small, of[1], large)
		}
	}
	if many.asking < large/small/4*few.asking || many.asking < 100*many.waiting {
		t.Errorf("the answer takes %.0f allocations with %d nodes and %.0f with %d: the cluster is not looked at", few.asking, small, many.asking, large)
	}
}

// once counts the allocations of what can be done only once.
func once(do func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// TestPoolsAreLinks: what is wrong with a pool is told of its slices, which have no page; the pool has one.
func TestPoolsAreLinks(t *testing.T) {
	w := screentest.World(t, faulty(2))
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	s.View(w, 100, 30)
	screentest.Settle(w, s, screentest.Key("j"))
	if want := (screen.Ref{Kind: screen.Pool, Name: "gpu.example.com/node-00001"}); s.State().Selection != want {
		t.Errorf("the first link leads to %v", s.State().Selection)
	}
}

// TestEverything: v shows everything, keeps it when the cluster changes, and shows less again.
func TestEverything(t *testing.T) {
	w := screentest.World(t, faulty(40))
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	if text := s.View(w, 100, 300); strings.Contains(text, "node-00039") {
		t.Errorf("it is not brief:\n%s", text)
	}
	screentest.Settle(w, s, screentest.Key("v"))
	if text := s.View(w, 100, 300); !strings.Contains(text, "node-00039") {
		t.Errorf("not everything is shown:\n%s", text)
	}
	w = screentest.World(t, faulty(44))
	w.Version = 7
	screentest.Settle(w, s, screen.Changed{})
	if text := s.View(w, 100, 300); !strings.Contains(text, "node-00043") {
		t.Errorf("it does not follow the cluster:\n%s", text)
	}
	screentest.Settle(w, s, screentest.Key("v"))
	if text := s.View(w, 100, 300); strings.Contains(text, "node-00043") {
		t.Errorf("it does not become brief again:\n%s", text)
	}
}
