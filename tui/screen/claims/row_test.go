package claims

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestRowsFollow makes random changes to claims, pods, reasons and the namespace that is shown, and compares the rows that follow
// from those before with rows that are made from nothing.
func TestRowsFollow(t *testing.T) {
	for seed := range uint64(effort.Of(50, 15)) {
		q := rand.New(rand.NewPCG(seed, 1))
		var known plainRows
		var objects inspect.Objects
		reasons := map[inspect.ClaimRef]*reason{}
		w := screentest.World(t, objects)
		for step := range 50 {
			change(q, &objects)
			ref := inspect.ClaimRef{Namespace: fmt.Sprintf("ns-%d", q.IntN(2)), Name: fmt.Sprintf("claim-%d", q.IntN(8))}
			reasons[ref] = &reason{text: fmt.Sprint(step), verdict: []explain.Verdict{explain.Unsatisfiable, explain.Allocatable}[q.IntN(2)], possible: []string{"", "possible"}[q.IntN(2)]}
			config := inspect.Config{Revision: int64(step + 2), Time: demo.Now().Add(time.Duration(step) * time.Second), Features: w.Snapshot.Features()}
			w = w.Next(step+2, w.Snapshot.Next(objects, config))
			w.Namespace = []string{"", "", "ns-0", "ns-1"}[q.IntN(4)]
			w.Supposed = nil
			if q.IntN(3) == 0 {
				w.Supposed = []screen.Change{{Kind: screen.ReleaseClaim, Ref: screen.Ref{Kind: screen.Claim, Namespace: ref.Namespace, Name: ref.Name}}}
			}
			got, err := builder(&known, reasons, reasons)(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			want, err := builder(&plainRows{}, reasons, reasons)(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d step %d:\n got %+v\nwant %+v", seed, step, got, want)
			}
			if !slices.IsSortedFunc(got, func(a, b row) int { return a.rank() - b.rank() }) {
				t.Fatalf("seed %d step %d: what needs a look does not come first: %+v", seed, step, got)
			}
		}
	}
}

// TestRowIsSmall: rows of all claims are made for every world, so what follows from the claim alone is not copied into each.
func TestRowIsSmall(t *testing.T) {
	if size := unsafe.Sizeof(row{}); size > 32 {
		t.Errorf("a row takes %d bytes", size)
	}
}

// change puts a claim and a pod of few names into lists that are sorted, or takes one out.
func change(q *rand.Rand, o *inspect.Objects) {
	meta := func(kind string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: fmt.Sprintf("ns-%d", q.IntN(2)), Name: fmt.Sprintf("%s-%d", kind, q.IntN(8)), CreationTimestamp: metav1.NewTime(demo.Now())}
	}
	claim := &resourcev1.ResourceClaim{ObjectMeta: meta("claim")}
	switch q.IntN(3) {
	case 0:
		claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "gpu.example.com", Pool: "p", Device: "d"}}}}
	case 1:
		claim.DeletionTimestamp = &claim.CreationTimestamp
	}
	o.Claims = put(q, o.Claims, claim)
	pod := &corev1.Pod{ObjectMeta: meta("pod")}
	pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "c", ResourceClaimName: ptr.To(fmt.Sprintf("claim-%d", q.IntN(8)))}}
	o.Pods = put(q, o.Pods, pod)
}

func put[T metav1.Object](q *rand.Rand, list []T, o T) []T {
	list = slices.DeleteFunc(slices.Clone(list), func(other T) bool { return other.GetNamespace() == o.GetNamespace() && other.GetName() == o.GetName() })
	if q.IntN(4) > 0 {
		list = append(list, o)
	}
	return list
}

// TestRowsAreKept: the row of a claim that does not change is not made again.
func TestRowsAreKept(t *testing.T) {
	w := screentest.Demo(t)
	var known plainRows
	before, err := known.of(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	after, err := known.of(t.Context(), w.Next(2, w.Snapshot.Next(*w.Snapshot.Objects(), inspect.Config{Revision: 2, Features: w.Snapshot.Features()})))
	if err != nil {
		t.Fatal(err)
	}
	if len(before) == 0 || !slices.Equal(before, after) {
		t.Error("rows were made again")
	}
}
