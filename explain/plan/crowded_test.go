package plan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestCrowdedIsTrue compares what is proved by counting with a search for a placement of all.
func TestCrowdedIsTrue(t *testing.T) {
	proofs, placed := map[bool]int{}, 0
	for seed := range effort.Of(3000, 300) {
		rng := rand.New(rand.NewPCG(uint64(seed), 55))
		p := randomProblem(rng)
		three := explaintest.Template("three", 3, "")
		three.Spec.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("gpu.example.com/model"))}}
		admin := explaintest.Template("admin", 2, "")
		admin.Spec.Spec.Devices.Requests[0].Exactly.AdminAccess = ptr.To(rng.IntN(2) == 0)
		p.objects.Templates = append(p.objects.Templates, three, admin)
		p.pods = nil
		for i := range 2 + rng.IntN(4) {
			pod := p.pod(rng, fmt.Sprintf("w%d", i))
			if rng.IntN(3) == 0 {
				pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimTemplateName: ptr.To([]string{"three", "admin"}[rng.IntN(2)])}
			}
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("100m")
			p.pods = append(p.pods, pod)
		}
		base, pods := Admitted(p.cluster(), p.pods)
		r := &Placement{Replay: replay.New(base, nil)}
		r.Tried = cycle.InQueueOrder(base.Snapshot(), pods)
		joint, err := r.crowded(t.Context(), base)
		if err != nil {
			t.Fatal(err)
		}
		queue := replay.NewQueue(t.Context(), base, r.Tried, cycle.Options{})
		solution, err := replay.Solve(t.Context(), queue, len(replay.MembersOf(queue.Entities)))
		if err != nil {
			t.Fatal(err)
		}
		if solution.Run != nil {
			placed++
		}
		if joint == nil {
			continue
		}
		proofs[strings.Contains(joint.Message, "of their own")]++
		if joint.Verdict != explain.Infeasible || len(joint.Conflict) == 0 || solution.Run != nil {
			t.Errorf("seed %d: %s, but %v", seed, joint.Message, solution.Run)
		}
	}
	t.Log(proofs, placed)
	if proofs[true] < 1 || proofs[false] < 5 || placed < 20 {
		t.Errorf("too few proofs: %v, or placements: %d", proofs, placed)
	}
}

func TestTooMany(t *testing.T) {
	for name, test := range map[string]struct {
		template *resourcev1.ResourceClaimTemplate
		pods     [2]int // with five devices, and with the template
		want     string
	}{
		"room":        {explaintest.Template("four", 4, ""), [2]int{3, 0}, ""},
		"one shape":   {explaintest.Template("four", 4, ""), [2]int{4, 0}, "there is room for 3 pods like five-0000 in the whole cluster, if nothing else is placed, and 4 are wanted"},
		"devices":     {explaintest.Template("four", 3, ""), [2]int{3, 4}, "7 pods like five-0000 need 27 devices, and 24 are free on the nodes where they fit"},
		"just enough": {explaintest.Template("four", 3, ""), [2]int{3, 3}, ""},
		"kept apart":  {explaintest.Template("four", 4, ""), [2]int{3, 1}, "4 pods like five-0000 each need a node of their own, since the devices of no node are enough for two of them, and they fit on 3 nodes"},
		"beside":      {explaintest.Template("four", 3, ""), [2]int{3, 1}, ""},
		"a node each": {explaintest.Template("seven", 7, ""), [2]int{2, 2}, "4 pods like seven-0000 each need a node of their own, since the devices of no node are enough for two of them, and they fit on 3 nodes"},
		"nobody's loss": {func() *resourcev1.ResourceClaimTemplate {
			a := explaintest.Template("admin", 8, "")
			a.Spec.Spec.Devices.Requests[0].Exactly.AdminAccess = ptr.To(true)
			return a
		}(), [2]int{3, 3}, ""},
	} {
		o := explaintest.Farm(3)
		o.Templates = append(o.Templates, explaintest.Template("five", 5, ""), test.template)
		pods := append(explaintest.Workers(test.pods[0], "five", "five"), explaintest.Workers(test.pods[1], test.template.Name, test.template.Name)...)
		c, pods := Admitted(explaintest.NewCluster(*o), pods)
		joint, err := TooMany(t.Context(), c, pods)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if joint != nil {
			got = joint.Message
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestTooManyWithOneClaim: pods that share a claim take its devices once.
func TestTooManyWithOneClaim(t *testing.T) {
	o := explaintest.Farm(3)
	o.Claims = append(o.Claims, &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "shared"}, Spec: explaintest.Template("", 8, "").Spec.Spec})
	pods := explaintest.Workers(4, "w", "")
	for _, pod := range pods {
		pod.Spec.ResourceClaims[0] = corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("shared")}
	}
	c, pods := Admitted(explaintest.NewCluster(*o), pods)
	if joint, err := TooMany(t.Context(), c, pods); joint != nil || err != nil {
		t.Errorf("%v, %v", joint, err)
	}
	if got := place(t, o, pods...); len(got.Replay.Placed) != 4 {
		t.Errorf("placed: %v", got.Replay.Placed)
	}
	for _, node := range o.Nodes { // of which each has room for two, and the claim is on one
		node.Status.Allocatable[corev1.ResourceCPU] = resource.MustParse("2")
	}
	c, pods = Admitted(explaintest.NewCluster(*o), pods[:3])
	if joint, err := TooMany(t.Context(), c, pods); joint == nil || err != nil || len(joint.Conflict) != 3 {
		t.Errorf("without room: %v, %v", joint, err)
	}
}
