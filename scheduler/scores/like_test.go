package scores_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// shape makes one of a few pods that scores tell apart.
func shape(r *rand.Rand, name, node string) *corev1.Pod {
	p := labelled(pod(name, node, "cpu", fmt.Sprint(1+r.IntN(2)), "memory", "1Gi"), "app", []string{"web", "db"}[r.IntN(2)])
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": []string{"web", "db"}[r.IntN(2)]}}
	near := []corev1.WeightedPodAffinityTerm{{Weight: 1 + r.Int32N(9), PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: selector}}}
	switch r.IntN(5) {
	case 0:
		if r.IntN(3) == 0 {
			selector = []*metav1.LabelSelector{nil, {}}[r.IntN(2)] // none and all pods, with the same text
		}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1 + r.Int32N(2), TopologyKey: []string{corev1.LabelTopologyZone, corev1.LabelHostname}[r.IntN(2)], WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector}}
	case 1:
		p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: near}}
	case 2:
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: near}}
	case 3:
		p.Spec.Tolerations = []corev1.Toleration{{Key: "slow", Operator: corev1.TolerationOpExists}}
	}
	return p
}

// TestLike places pods one after another, each with what was found out for the one before, and anew. Both
// must agree.
func TestLike(t *testing.T) {
	taken := 0
	for seed := range effort.Of(2000, 80) {
		r := rand.New(rand.NewPCG(uint64(seed), 17)) //nolint:gosec // nothing is secret
		c := &cluster{minor: 37 + seed%2}
		for i := range 6 {
			n := node(fmt.Sprint("n", i), corev1.LabelTopologyZone, fmt.Sprint(r.IntN(3)))
			if r.IntN(3) == 0 {
				n.Spec.Taints = []corev1.Taint{{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
			c.Nodes = append(c.Nodes, n)
		}
		index, o := c.index(), known(c)
		var like *scores.Scorer
		for step := range 12 {
			p := shape(r, fmt.Sprint("p", step), "")
			like = scores.Prepare(index, p, o, like)
			got, want := like.Choose(all(c)), scores.Prepare(index, p, o, nil).Choose(all(c))
			if diff := cmp.Diff(want.Scores(), got.Scores()); diff != "" {
				t.Fatalf("seed %d, pod %d (-anew +taken over):\n%s", seed, step, diff)
			}
			if len(got.Nodes) > 0 {
				taken++
			}
			p.Spec.NodeName = string(got.Nodes[r.IntN(len(got.Nodes))])
			index = filters.NewIndex(index.Snapshot().With(func(o *inspect.Objects) { o.Pods = append(o.Pods, p) }), index)
		}
	}
	if taken == 0 {
		t.Error("no pod was placed")
	}
}

func large(nodes int) *cluster {
	c := &cluster{}
	for i := range nodes {
		n := node(fmt.Sprintf("n%04d", i), corev1.LabelTopologyZone, fmt.Sprint(i%3))
		c.Nodes = append(c.Nodes, n)
		for k := range 10 {
			c.Pods = append(c.Pods, labelled(pod(fmt.Sprintf("p%04d-%d", i, k), n.Name, "cpu", "500m", "memory", "1Gi"), "app", "web"))
		}
	}
	return c
}

// BenchmarkReplay compares 500 nodes again and again, of which one has changed.
func BenchmarkReplay(b *testing.B) {
	c := large(500)
	indexes := []*filters.Index{c.index()}
	for k := range 2 {
		s := indexes[0].Snapshot().With(func(o *inspect.Objects) {
			o.Pods = append(o.Pods, pod(fmt.Sprint("more-", k), fmt.Sprintf("n%04d", k), "cpu", "1"))
		})
		indexes = append(indexes, filters.NewIndex(s, indexes[0]))
	}
	o := known(c)
	for _, test := range []struct {
		name   string
		change func(p *corev1.Pod)
	}{
		{"plain", func(*corev1.Pod) {}},
		{"spread", func(p *corev1.Pod) {
			selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
			p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector}}
		}},
		{"near", func(p *corev1.Pod) {
			p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 5, PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: corev1.LabelTopologyZone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}}}}}}
		}},
	} {
		b.Run(test.name, func(b *testing.B) {
			p := pod("p", "", "cpu", "1", "memory", "1Gi")
			test.change(p)
			nodes, like := all(c), (*scores.Scorer)(nil)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				like = scores.Prepare(indexes[1+i%2], p, o, like)
				like.Choose(nodes)
			}
		})
	}
}

// TestReducedPods keeps of pods what inspect/live does: but for images, nodes must get the same.
func TestReducedPods(t *testing.T) {
	for seed := range effort.Of(500, 25) {
		r := rand.New(rand.NewPCG(uint64(seed), 18)) //nolint:gosec // nothing is secret
		whole, reduced := &cluster{}, &cluster{}
		for i := range 4 {
			whole.Nodes = append(whole.Nodes, node(fmt.Sprint("n", i), corev1.LabelTopologyZone, fmt.Sprint(r.IntN(2))))
		}
		reduced.Nodes = whole.Nodes
		for i := range 12 {
			p := shape(r, fmt.Sprintf("p%02d", i), fmt.Sprint("n", r.IntN(4)))
			whole.Pods, reduced.Pods = append(whole.Pods, p), append(reduced.Pods, reducedPod(p))
		}
		p := shape(r, "p", "")
		want, got := chosen(whole, p, known(whole)), chosen(reduced, reducedPod(p), known(reduced))
		for _, plugin := range scores.Plugins() {
			if diff := cmp.Diff(points(want, plugin), points(got, plugin)); diff != "" && plugin != scores.ImageLocality {
				t.Fatalf("seed %d, points by %s (-whole +reduced):\n%s", seed, plugin, diff)
			}
		}
		if len(want.Doubts) > 0 || len(got.Doubts) != 1 {
			t.Fatalf("seed %d: doubts %v and of reduced pods %v, want none and one about images", seed, want.Doubts, got.Doubts)
		}
	}
}

func reducedPod(p *corev1.Pod) *corev1.Pod {
	out := p.DeepCopy()
	inspect.ReducePod(out)
	return out
}
