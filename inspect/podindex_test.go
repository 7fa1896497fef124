package inspect_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestPodsOf makes random changes to pods and claims: a Snapshot that follows from another knows the same
// pods of each claim as one that is made anew.
func TestPodsOf(t *testing.T) {
	for seed := range uint64(effort.Of(100, 30)) {
		q := &sequence{Rand: rand.New(rand.NewPCG(seed, 3))}
		s := inspect.New(inspect.Objects{}, inspect.Config{})
		for step := range 60 {
			q.Objects = *s.Objects()
			if q.IntN(3) == 0 {
				q.Claims = changed(q, q.Claims, q.claim(), q.IntN(4) == 0)
			}
			pod := q.pod()
			switch q.IntN(5) {
			case 0: // what a pod reports does not matter
				if len(q.Pods) > 0 {
					pod = q.Pods[q.IntN(len(q.Pods))].DeepCopy()
					pod.Status.Phase = corev1.PodRunning
				}
			case 1:
				pod.Spec.ResourceClaims[0].ResourceClaimName = nil
				pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "c", ResourceClaimName: ptr.To(q.name("claim", 10))}}
			case 2:
				pod.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: q.name("claim", 10)}
			case 3:
				pod.Spec.ResourceClaims = append(pod.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "d", ResourceClaimName: ptr.To(q.name("claim", 10))})
			}
			q.Pods = changed(q, q.Pods, pod, q.IntN(4) == 0)
			next := s.Next(q.Objects, inspect.Config{Revision: int64(step)})
			fresh := inspect.New(*next.Objects(), inspect.Config{})
			for n := range 10 {
				ref := inspect.ClaimRef{Namespace: "ns-0", Name: fmt.Sprintf("claim-%d", n)}
				if got, want := next.PodsOf(ref), fresh.PodsOf(ref); !slices.Equal(got, want) {
					t.Fatalf("seed %d step %d: %v is used by %v, want %v", seed, step, ref, got, want)
				}
			}
			s = next
		}
	}
}
