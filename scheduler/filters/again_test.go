package filters_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randompod"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// randomSnapshot is a snapshot of a server. Of some not all was read.
func randomSnapshot(g randompod.Maker, seed int) *inspect.Snapshot {
	o := g.World()
	features := inspect.DefaultFeatures(37).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: seed%2 == 0})
	config := inspect.Config{ServerVersion: "v1.37.1", Features: features, Health: map[inspect.Resource]inspect.Health{}}
	for _, r := range inspect.Resources() {
		config.Health[r] = inspect.Health{State: inspect.Synced}
	}
	switch seed % 8 {
	case 3:
		o.Namespaces, config.Health[inspect.Namespaces] = nil, inspect.Health{State: inspect.Forbidden}
	case 5:
		o.Nodes, config.Health[inspect.Nodes] = nil, inspect.Health{State: inspect.Forbidden}
	}
	return inspect.New(o, config)
}

// randomPod is a pod that is on no node, and asks for what random pods seldom do.
func randomPod(g randompod.Maker, r *rand.Rand, name string) *corev1.Pod {
	pod := g.Pod(name)
	pod.Spec.NodeName = ""
	for i := range pod.Spec.TopologySpreadConstraints {
		if r.IntN(2) == 0 {
			pod.Spec.TopologySpreadConstraints[i].NodeTaintsPolicy = ptr.To(corev1.NodeInclusionPolicyHonor)
		}
	}
	return pod
}

// sayAlike expects two pods to be answered alike, everywhere and on each node.
func sayAlike(t *testing.T, what string, nodes []*corev1.Node, want, got *filters.Prepared) {
	t.Helper()
	if diff := cmp.Diff(want.Everywhere, got.Everywhere); diff != "" {
		t.Fatalf("%s, everywhere (-anew +taken over):\n%s", what, diff)
	}
	for _, node := range nodes {
		if diff := cmp.Diff(want.On(inspect.NodeName(node.Name)), got.On(inspect.NodeName(node.Name))); diff != "" {
			t.Fatalf("%s, %s (-anew +taken over):\n%s", what, node.Name, diff)
		}
	}
}

// TestAgain changes parts of pods: what is taken over from pods before answers as if it were found out anew.
func TestAgain(t *testing.T) {
	for seed := range effort.Of(300, 30) {
		g, r := randompod.New(seed), rand.New(rand.NewPCG(uint64(seed), 1))
		x := filters.NewIndex(randomSnapshot(g, seed), nil)
		pod := randomPod(g, r, "asked")
		first := x.Prepare(pod)
		for i := range 12 {
			changed := changedPod(r, pod, randomPod(g, r, "asked"))
			got := first.Again(changed)
			sayAlike(t, fmt.Sprintf("seed %d, change %d", seed, i), x.Snapshot().Nodes(), x.Prepare(changed), got)
		}
	}
}

// changedPod returns a pod with one or two of its parts as those of another.
func changedPod(r *rand.Rand, pod, other *corev1.Pod) *corev1.Pod {
	out := pod.DeepCopy()
	for range 1 + r.IntN(2) {
		switch r.IntN(10) {
		case 0:
			out.Spec.Containers, out.Spec.InitContainers = other.Spec.Containers, other.Spec.InitContainers
		case 1:
			out.Spec.Volumes = other.Spec.Volumes
		case 2:
			out.Spec.Tolerations = other.Spec.Tolerations
		case 3:
			out.Spec.NodeSelector = other.Spec.NodeSelector
		case 4, 5:
			out.Spec.Affinity = other.Spec.Affinity
		case 6, 7:
			out.Spec.TopologySpreadConstraints = other.Spec.TopologySpreadConstraints
		case 8:
			out.Labels = other.Labels
		case 9:
			out.Namespace = other.Namespace
		}
	}
	return out
}

// TestWithout ends pods: what is taken over from the cluster in which they run answers as a cluster without
// them.
func TestWithout(t *testing.T) {
	for seed := range effort.Of(500, 40) {
		g, r := randompod.New(seed), rand.New(rand.NewPCG(uint64(seed), 2))
		s := randomSnapshot(g, seed)
		x := filters.NewIndex(s, nil)
		for i := range 4 {
			pod := randomPod(g, r, fmt.Sprint("asked-", i))
			p := x.Prepare(pod)
			sayAlike(t, fmt.Sprintf("seed %d, pod %d", seed, i), s.Nodes(), p, p)
			var gone []inspect.PodRef
			for step := range 3 {
				ended := []inspect.PodRef{{Namespace: "a", Name: "unknown"}}
				for range 1 + r.IntN(4) {
					other := s.Objects().Pods[r.IntN(len(s.Objects().Pods))]
					ended = append(ended, inspect.PodRef{Namespace: other.Namespace, Name: other.Name})
				}
				gone = append(gone, ended...)
				p = p.Without(ended...)
				anew := filters.NewIndex(s.With(func(o *inspect.Objects) {
					o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool {
						return slices.Contains(gone, inspect.PodRef{Namespace: p.Namespace, Name: p.Name})
					})
				}), nil).Prepare(pod)
				sayAlike(t, fmt.Sprintf("seed %d, pod %d, step %d, without %v", seed, i, step, gone), s.Nodes(), anew, p)
			}
			sayAlike(t, fmt.Sprintf("seed %d, pod %d, the cluster before", seed, i), s.Nodes(), filters.NewIndex(s, nil).Prepare(pod), x.Prepare(pod))
		}
	}
}

// TestIndexFollows places pods, ends some and takes nodes away and brings them back: an index that was made
// from another one says what one says that is built anew.
func TestIndexFollows(t *testing.T) {
	for seed := range effort.Of(300, 30) {
		g, r := randompod.New(seed), rand.New(rand.NewPCG(uint64(seed), 3))
		s := randomSnapshot(g, seed)
		x, all := filters.NewIndex(s, nil), s.Nodes()
		for step := range 8 {
			pods := s.Objects().Pods
			switch r.IntN(4) {
			case 0:
				s = s.With(func(o *inspect.Objects) { o.Pods = slices.Delete(o.Pods, 0, min(len(o.Pods), r.IntN(3))) })
			case 1:
				s = s.With(func(o *inspect.Objects) { o.Nodes = slices.Delete(slices.Clone(all), 0, r.IntN(2)) })
			default:
				pod := randomPod(g, r, fmt.Sprint("placed-", r.IntN(3)))
				if len(pods) > 0 && r.IntN(2) == 0 {
					pod = pods[r.IntN(len(pods))].DeepCopy()
				}
				pod.Spec.NodeName = all[r.IntN(len(all))].Name
				s = s.WithPlaced(nil, []*corev1.Pod{pod})
			}
			before := x
			x = filters.NewIndex(s, before)
			pod := randomPod(g, r, "asked")
			what := fmt.Sprintf("seed %d, step %d", seed, step)
			sayAlike(t, what, s.Nodes(), filters.NewIndex(s, nil).Prepare(pod), x.Prepare(pod))
			sayAlike(t, what+", the index before", before.Snapshot().Nodes(), filters.NewIndex(before.Snapshot(), nil).Prepare(pod), before.Prepare(pod))
		}
	}
}
