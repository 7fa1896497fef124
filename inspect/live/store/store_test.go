package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestStoreTakesLittle: what a store takes besides the objects is little more than a pointer of two words to
// each. Once it was a hundred bytes.
func TestStoreTakesLittle(t *testing.T) {
	pods, _ := wire.KindOf(inspect.Pods)
	const n = 50_000
	list := make([]any, n)
	for i := range list {
		list[i] = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprintf("pod-%06d", n-i)}}
	}
	s := New(pods, func() {}, func() {})
	before := liveHeap()
	if err := s.Replace(list, ""); err != nil {
		t.Fatal(err)
	}
	sorted, _ := s.list()
	took := int(liveHeap()-before) / n
	if took > 24 || s.Size() != n || sorted[0].GetName() != "pod-000001" {
		t.Errorf("%d bytes for each of %d objects, from %s on", took, s.Size(), sorted[0].GetName())
	}
	runtime.KeepAlive(list)
}

// TestStoreAsAMap: a store has what a map would have, whatever is added, changed, deleted and replaced, and
// says what it has sorted.
func TestStoreAsAMap(t *testing.T) {
	claims, _ := wire.KindOf(inspect.Claims)
	s, want := New(claims, func() {}, func() {}), map[string]string{}
	random := rand.New(rand.NewPCG(1, 2))
	claim := func() *resourcev1.ResourceClaim {
		return &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(random.IntN(20)), UID: types.UID(fmt.Sprint(random.Int()))}}
	}
	for step := range 5000 {
		o := claim()
		var err error
		switch random.IntN(12) {
		case 0:
			var all []any
			clear(want)
			for range random.IntN(30) {
				o := claim()
				all = append(all, o)
				want[o.Name] = string(o.UID)
			}
			err = s.Replace(all, "")
		case 1, 2, 3, 4:
			err = s.Delete(o)
			delete(want, o.Name)
		case 5:
			s.list()
		default:
			err = s.Update(o)
			want[o.Name] = string(o.UID)
		}
		if err != nil || s.Size() != len(want) {
			t.Fatalf("step %d: %d objects, want %d: %v", step, s.Size(), len(want), err)
		}
		if step%7 > 0 {
			continue
		}
		sorted, _ := s.list()
		names := slices.Sorted(maps.Keys(want))
		if got := slices.Collect(func(yield func(string) bool) {
			for _, o := range sorted {
				if want[o.GetName()] != string(o.GetUID()) || !yield(o.GetName()) {
					return
				}
			}
		}); !slices.Equal(got, names) {
			t.Fatalf("step %d: %v, want %v", step, got, names)
		}
		if _, changed := s.list(); changed {
			t.Fatalf("step %d: there is always something new", step)
		}
	}
}
