package screen

import (
	"context"
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestWorldForgetsSlicesThatAreGone: what is known of devices is handed on from world to world, and with it
// the slices stay in memory. In a cluster whose slices change all the time that must not grow without end.
func TestWorldForgetsSlicesThatAreGone(t *testing.T) {
	const slices, limit, changed = 8 * fewSlices, 2 * fewSlices, 30
	var objects inspect.Objects
	for i := range slices {
		objects.Slices = append(objects.Slices, &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("slice-%05d", i)}})
	}
	w := NewWorld(context.Background(), 0, inspect.New(objects, inspect.Config{}))
	w.Cluster()
	forgot := 0
	for version := range 50 {
		next := objects
		next.Slices = append([]*resourcev1.ResourceSlice(nil), objects.Slices...)
		for i := range changed {
			at := (version*changed + i) % slices
			next.Slices[at] = next.Slices[at].DeepCopy()
		}
		objects = next
		before := w.derived.built.Load().retired
		w = w.Next(version+1, inspect.New(objects, inspect.Config{}))
		w.Cluster()
		switch gone := w.derived.built.Load().retired; {
		case gone == 0:
			forgot++
		case gone != before+changed:
			t.Fatalf("version %d: %d slices are gone, want %d", version, gone, before+changed)
		case gone > limit:
			t.Fatalf("version %d: %d slices that are gone are kept, more than %d", version, gone, limit)
		}
	}
	if want := 50 * changed / limit; forgot < want-2 || forgot > want {
		t.Errorf("forgot %d times, want about %d", forgot, want)
	}
}

func TestReplaced(t *testing.T) {
	a, b, c, d := &resourcev1.ResourceSlice{}, &resourcev1.ResourceSlice{}, &resourcev1.ResourceSlice{}, &resourcev1.ResourceSlice{}
	for name, s := range map[string]*resourcev1.ResourceSlice{"a": a, "b": b, "c": c, "d": d} {
		s.Name = name
	}
	changed := b.DeepCopy()
	for _, test := range []struct {
		before, after []*resourcev1.ResourceSlice
		want          int
	}{
		{nil, []*resourcev1.ResourceSlice{a}, 0},
		{[]*resourcev1.ResourceSlice{a, b, c}, []*resourcev1.ResourceSlice{a, b, c, d}, 0},
		{[]*resourcev1.ResourceSlice{a, b, c}, []*resourcev1.ResourceSlice{a, changed, d}, 2},
		{[]*resourcev1.ResourceSlice{b, d}, []*resourcev1.ResourceSlice{a, c}, 2},
		{[]*resourcev1.ResourceSlice{a, b}, nil, 2},
	} {
		if got := replaced(test.before, test.after); got != test.want {
			t.Errorf("replaced(%v, %v) = %d, want %d", test.before, test.after, got, test.want)
		}
	}
}
