package plan

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestCountIsTrue compares what is proved by counting with all runs of small problems.
func TestCountIsTrue(t *testing.T) {
	counted := map[replay.Certainty]int{}
	for seed := range effort.Of(3000, 300) {
		rng := rand.New(rand.NewPCG(uint64(seed), 56))
		p := randomProblem(rng)
		p.pods = nil
		kinds := 1 + rng.IntN(3)
		for k := range kinds {
			like := p.pod(rng, fmt.Sprintf("w%d", k))
			for i := range 1 + rng.IntN(3) {
				pod := like.DeepCopy()
				pod.Name = fmt.Sprintf("w%d-%d", k, i)
				p.pods = append(p.pods, pod)
			}
		}
		base, pods := Admitted(p.cluster(), p.pods)
		queue := replay.NewQueue(t.Context(), base, cycle.InQueueOrder(base.Snapshot(), pods), cycle.Options{})
		queue.InAnyOrder()
		got, text, err := queue.Count(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		counted[got]++
		if got == replay.Unclear {
			continue
		}
		all, err := replay.Explore(t.Context(), queue)
		if err != nil {
			t.Fatal(err)
		}
		placed := 0
		for _, pod := range pods {
			switch c := all.About(cycle.SubjectOf(pod)); {
			case got == replay.Always && c != replay.Always && c != replay.Unclear:
				t.Errorf("seed %d: all are always placed, but %s is not: %d", seed, pod.Name, c)
			case c == replay.Always:
				placed++
			}
		}
		if got == replay.Never && (placed == len(pods) || text == "") {
			t.Errorf("seed %d: %q, but all are placed", seed, text)
		}
	}
	t.Log(counted)
	if counted[replay.Always] < 20 || counted[replay.Never] < 20 {
		t.Errorf("too few proofs: %v", counted)
	}
}

// TestCountManyEqual compares what is proved of many pods of a few shapes on alike nodes with runs in random
// orders in which nodes are chosen at random.
func TestCountManyEqual(t *testing.T) {
	counted := map[string]int{}
	for seed := range effort.Of(64, 12) {
		rng := rand.New(rand.NewPCG(uint64(seed), 57))
		o := explaintest.Farm(10 + rng.IntN(effort.Of(200, 30)))
		for _, slice := range o.Slices {
			for d := range slice.Spec.Devices {
				slice.Spec.Devices[d].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: ptr.To("a100")}}
			}
		}
		free := 8 * len(o.Nodes)
		var pods []*corev1.Pod
		kinds := 1 + rng.IntN(3)
		for k := range kinds {
			n := 1 + rng.IntN(4)
			name := fmt.Sprint("kind", k)
			o.Templates = append(o.Templates, explaintest.Template(name, int64(n), ""))
			cpu := resource.NewQuantity(int64(1+rng.IntN(16)), resource.DecimalSI)
			for _, pod := range explaintest.Workers(free*(1+rng.IntN(5))/(4*n*kinds), name, name) {
				pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *cpu
				pods = append(pods, pod)
			}
		}
		p := place(t, o, pods...)
		verdict := "unclear"
		switch {
		case p.Replay.Certain && len(p.Replay.Pending) == 0:
			verdict = "all are placed"
		case p.Joint.Verdict == explain.Infeasible:
			verdict = "not all can be placed"
		}
		counted[verdict]++
		cluster := explaintest.NewCluster(*o)
		for range effort.Of(20, 5) {
			base, pods := Admitted(cluster, pods)
			r := replay.New(base, nil)
			r.Choose = func(_ *corev1.Pod, nodes []*corev1.Node) int { return rng.IntN(len(nodes)) }
			rng.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
			placed := 0
			for _, pod := range pods {
				ok, _, err := r.One(t.Context(), pod)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					placed++
				}
			}
			if verdict == "all are placed" && placed < len(pods) || verdict == "not all can be placed" && placed == len(pods) {
				t.Errorf("seed %d: %s, but %d of %d are", seed, verdict, placed, len(pods))
			}
		}
	}
	t.Log(counted)
	if counted["all are placed"] < 2 || counted["not all can be placed"] < 1 {
		t.Errorf("too few proofs: %v", counted)
	}
}

// TestCountMeasures: what is proved is said by what is short. Each node has eight devices and 64 CPU.
func TestCountMeasures(t *testing.T) {
	type asked struct {
		pods    int
		devices int64
		cpu     string
	}
	for want, test := range map[string]struct{ a, b asked }{
		"however they fill the nodes, there is room for 6 of these 7 pods at most":                     {asked{4, 3, "1"}, asked{3, 4, "1"}},
		"they need 27 devices, and however they fill the nodes, they can have no more than 24 devices": {asked{3, 7, "1"}, asked{6, 1, "1"}},
		"they need 208 CPU, and however they fill the nodes, they can have no more than 192 CPU":       {asked{4, 1, "40"}, asked{2, 1, "24"}},
	} {
		o := explaintest.Farm(3)
		o.Templates = append(o.Templates, explaintest.Template("a", test.a.devices, ""), explaintest.Template("b", test.b.devices, ""))
		pods := append(explaintest.Workers(test.a.pods, "a", "a"), explaintest.Workers(test.b.pods, "b", "b")...)
		for i, pod := range pods {
			cpu := test.a.cpu
			if i >= test.a.pods {
				cpu = test.b.cpu
			}
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		}
		c, pods := Admitted(explaintest.NewCluster(*o), pods)
		queue := replay.NewQueue(t.Context(), c, pods, cycle.Options{})
		if got, text, err := queue.Count(t.Context()); err != nil || got != replay.Never || text != want {
			t.Errorf("%q, %d, want %q, %v", text, got, want, err)
		}
	}
}
