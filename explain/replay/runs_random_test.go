package replay

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestRunsAtRandom compares what becomes of queues of random pods with what is seen when every node and every
// order is tried, without regard to what looks alike.
func TestRunsAtRandom(t *testing.T) {
	tests := effort.Of(400, 120)
	seen, solvable := map[Certainty]int{}, map[bool]int{}
	for seed := range tests {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		c := randomCluster(rng)
		entities := randomRow(rng, c)
		queue := QueueOf(t.Context(), c, entities)
		queue.MaxAsks = 100_000
		got, err := Explore(t.Context(), queue)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Explore(t.Context(), Queue{Base: c, Entities: likeNoOther(entities), MaxAsks: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		if got.Open || want.Open {
			t.Fatalf("seed %d: not all runs were tried", seed)
		}
		for i := range entities {
			if got.Met(i) != want.Met(i) {
				t.Errorf("seed %d: entity %d finds room: %d, want %d", seed, i, got.Met(i), want.Met(i))
			}
			for m := range entities[i].Members {
				seen[want.Of(i, m)]++
				if got.Of(i, m) != want.Of(i, m) {
					t.Errorf("seed %d: %s (local %t): %d, want %d", seed, entities[i].Members[m].Subject.Name, queue.Local, got.Of(i, m), want.Of(i, m))
				}
			}
		}
		solvable[solveBothWays(t, seed, queue)]++
		if got.Asks > want.Asks+8 {
			t.Errorf("seed %d: %d questions instead of %d", seed, got.Asks, want.Asks)
		}
	}
	t.Log(seen, solvable)
	if solvable[true] < tests/10 || solvable[false] < tests/10 {
		t.Errorf("all could be placed together, or not: %v", solvable)
	}
	for _, c := range []Certainty{Always, Never, Depends} {
		if seen[c] < tests/10 {
			t.Errorf("certainty %d came up only %d times", c, seen[c])
		}
	}
}

// solveBothWays reports whether all members can be placed together, which has to be found with and without
// regard to what looks alike. What is found has to be a run.
func solveBothWays(t *testing.T, seed int, queue Queue) bool {
	t.Helper()
	need := 0
	var members []*Member
	for i := range queue.Entities {
		need += len(queue.Entities[i].Members)
		members = append(members, queue.Entities[i].Members...)
	}
	got, err := Solve(t.Context(), queue, need)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Solve(t.Context(), Queue{Base: queue.Base, Entities: likeNoOther(queue.Entities), MaxAsks: queue.MaxAsks}, need)
	if err != nil {
		t.Fatal(err)
	}
	if got.Impossible != want.Impossible || got.Impossible == (got.Run != nil) {
		t.Errorf("seed %d: impossible %t with the run %v, want %t", seed, got.Impossible, got.Run, want.Impossible)
	}
	if got.Run != nil {
		if c, _, err := Follow(t.Context(), queue.Base, members, got.Run); err != nil || c == nil || len(got.Run.Placed()) < need {
			t.Errorf("seed %d: %v is no run that places all: %v", seed, got.Run, err)
		}
	}
	return got.Run != nil
}

// likeNoOther are entities whose members are all tried.
func likeNoOther(entities []Entity) []Entity {
	out := make([]Entity, len(entities))
	for i, e := range entities {
		out[i] = Entity{Need: e.Need}
		for _, m := range e.Members {
			member := *m
			member.Shape = ""
			out[i].Members = append(out[i].Members, &member)
		}
	}
	return out
}

// randomCluster has up to four nodes with some CPUs and devices, which may also be reached from all of them.
func randomCluster(rng *rand.Rand) *scheduler.Cluster {
	var devices []int
	for range 2 + rng.IntN(3) {
		devices = append(devices, rng.IntN(3))
	}
	o := explaintest.NodesWithDevices(devices...)
	for _, node := range o.Nodes {
		node.Status.Allocatable = corev1.ResourceList{
			corev1.ResourceCPU: *resource.NewQuantity(int64(2+2*rng.IntN(3)), resource.DecimalSI), corev1.ResourceMemory: resource.MustParse("9Gi"),
			corev1.ResourcePods: resource.MustParse("9"), corev1.ResourceEphemeralStorage: resource.MustParse("9Gi"),
		}
	}
	if rng.IntN(4) == 0 {
		slice := o.Slices[0].DeepCopy()
		slice.Name, slice.Spec.Pool.Name, slice.Spec.NodeName = "net", "net", nil
		slice.Spec.AllNodes = new(bool)
		*slice.Spec.AllNodes = true
		slice.Spec.Devices = []resourcev1.Device{{Name: "d00"}}
		o.Slices = append(o.Slices, slice)
	}
	o.Claims = []*resourcev1.ResourceClaim{explaintest.GPUClaim(1, "any")}
	o.Claims[0].Name = "shared"
	for i := range 5 {
		claim := explaintest.GPUClaim(int64(1+i%2), "any")
		claim.Name = fmt.Sprintf("c%d", i)
		o.Claims = append(o.Claims, claim)
	}
	return explaintest.NewCluster(o)
}

// randomRow is a queue of up to five pods, some of them as groups.
func randomRow(rng *rand.Rand, c *scheduler.Cluster) []Entity {
	var out []Entity
	sharing, distinct := rng.IntN(4) == 0, rng.IntN(3) == 0
	for i, n := 0, 2+rng.IntN(3); i < n; i++ {
		if len(out) == 0 || rng.IntN(2) == 0 {
			out = append(out, Entity{Need: rng.IntN(4)})
		}
		e := &out[len(out)-1]
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprintf("p%d", i)}}
		cpus := int64(2)
		if distinct {
			cpus = int64(1 + rng.IntN(4))
		}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(cpus, resource.DecimalSI)},
		}}}
		switch claim := fmt.Sprintf("c%d", i); {
		case sharing && rng.IntN(2) == 0:
			claim = "shared"
			fallthrough
		case rng.IntN(2) == 0:
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		}
		m := PodMember(c, pod, cycle.Options{})
		if claims := pod.Spec.ResourceClaims; len(claims) > 0 && *claims[0].ResourceClaimName != "shared" {
			claim, _ := c.Snapshot().Claim(inspect.ClaimRef{Namespace: "ml", Name: *claims[0].ResourceClaimName})
			m.Shape = fmt.Sprintf("%d CPUs and %d devices", cpus, claim.Spec.Devices.Requests[0].Exactly.Count)
		}
		m.Class = rng.IntN(2)
		if len(e.Members) > 0 {
			m.Class = max(m.Class, e.Members[len(e.Members)-1].Class)
		}
		e.Members = append(e.Members, m)
	}
	for i := range out {
		out[i].Need = min(out[i].Need, len(out[i].Members))
	}
	return out
}
