package inspect_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestDisagreeingPools follows a cluster from without slices to slices that disagree and back: what a
// snapshot shares with the one before it is told again, and nothing else.
func TestDisagreeingPools(t *testing.T) {
	slice := func(name, pool string, generation, count int64) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", Pool: resourcev1.ResourcePool{Name: pool, Generation: generation, ResourceSliceCount: count},
		}}
	}
	s := inspect.New(inspect.Objects{}, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	for i, test := range []struct {
		slices []*resourcev1.ResourceSlice
		want   string
	}{
		{nil, "[]"},
		{[]*resourcev1.ResourceSlice{slice("a", "p", 1, 2), slice("b", "p", 1, 2), slice("c", "q", 1, 1)}, "[]"},
		{[]*resourcev1.ResourceSlice{slice("a", "p", 1, 2), slice("b", "p", 1, 3), slice("c", "q", 1, 1)}, "[{d/p 1 [2 3]}]"},
		{[]*resourcev1.ResourceSlice{slice("a", "p", 2, 1), slice("b", "p", 1, 3), slice("c", "p", 1, 2), slice("e", "q", 1, 2), slice("f", "q", 1, 1)}, "[{d/p 1 [2 3]} {d/q 1 [1 2]}]"},
		{[]*resourcev1.ResourceSlice{slice("c", "q", 1, 1)}, "[]"},
	} {
		s = s.With(func(o *inspect.Objects) { o.Slices = test.slices })
		again := s.With(func(o *inspect.Objects) {
			o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}})
		})
		for _, s := range []*inspect.Snapshot{s, again} {
			var got []string
			for _, p := range s.DisagreeingPools() {
				got = append(got, fmt.Sprintf("{%s %d %v}", p.ID, p.Generation, p.Announced))
			}
			if fmt.Sprint(got) != test.want {
				t.Errorf("%d: %v, want %s", i, got, test.want)
			}
		}
	}
}
