package scores_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// cluster is a cluster of which all was read.
type cluster struct {
	inspect.Objects
	minor  int // of the release, or 0 for the newest
	patch  int // of the release
	gates  map[inspect.Gate]bool
	unread []inspect.Resource
}

func (c *cluster) index() *filters.Index {
	minor := c.minor
	if minor == 0 {
		minor = inspect.NewestMinor
	}
	health := map[inspect.Resource]inspect.Health{}
	for _, r := range inspect.Resources() {
		health[r] = inspect.Health{State: inspect.Synced}
	}
	for _, r := range c.unread {
		health[r] = inspect.Health{State: inspect.Forbidden}
	}
	return filters.NewIndex(inspect.New(c.Objects, inspect.Config{
		Features: inspect.DefaultFeatures(minor).With(c.gates), Health: health, ServerVersion: fmt.Sprintf("v1.%d.%d", minor, c.patch),
	}), nil)
}

// node is a node with 10 CPUs and 10Gi of memory, on which no images are, and with labels (key, value, key,
// value, …).
func node(name string, labels ...string) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
	for i := 0; i < len(labels); i += 2 {
		n.Labels[labels[i]] = labels[i+1]
	}
	n.Status.Allocatable = list("cpu", "10", "memory", "10Gi", "pods", "110")
	return n
}

func list(values ...string) corev1.ResourceList {
	out := corev1.ResourceList{}
	for i := 0; i < len(values); i += 2 {
		out[corev1.ResourceName(values[i])] = resource.MustParse(values[i+1])
	}
	return out
}

// pod is a pod with one container that requests something. It is on the node if one is named.
func pod(name, node string, requests ...string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: "u"},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "main", Image: "app", Resources: corev1.ResourceRequirements{Requests: list(requests...)},
		}}},
	}
}

func labelled(p *corev1.Pod, labels ...string) *corev1.Pod {
	p.Labels = map[string]string{}
	for i := 0; i < len(labels); i += 2 {
		p.Labels[labels[i]] = labels[i+1]
	}
	return p
}

// known are options with which all is known that is not in a snapshot.
func known(c *cluster) scores.Options {
	return scores.Options{Images: scores.ImagesOf(c.Nodes), Workloads: &inspect.Selecting{}}
}

// all are the nodes of a cluster.
func all(c *cluster) []scores.Candidate {
	var out []scores.Candidate
	for _, n := range c.Nodes {
		out = append(out, scores.Candidate{Node: inspect.NodeName(n.Name)})
	}
	return out
}

// points are what a plugin gives to each node. Those of a plugin that gives none are 0.
func points(c scores.Choice, plugin filters.Plugin) []int64 {
	var out []int64
	for _, score := range c.Scores() {
		i := slices.IndexFunc(score.Parts, func(p scores.Part) bool { return p.Plugin == plugin })
		if i < 0 {
			out = append(out, 0)
		} else {
			out = append(out, score.Parts[i].Least)
		}
	}
	return out
}

// give expects a plugin to give points to the nodes of a cluster, in their order.
func give(t *testing.T, c *cluster, p *corev1.Pod, plugin filters.Plugin, want ...int64) {
	t.Helper()
	got := scores.Prepare(c.index(), p, known(c), nil).Choose(all(c))
	if diff := cmp.Diff(want, points(got, plugin)); diff != "" || len(got.Doubts) > 0 {
		t.Errorf("points by %s (-want +got), with doubts %v:\n%s", plugin, got.Doubts, diff)
	}
}

func TestNodeResources(t *testing.T) {
	half := node("half")
	half.Status.Allocatable = list("cpu", "5", "memory", "10Gi", "pods", "110")
	none := node("none")
	none.Status.Allocatable = list("cpu", "0", "memory", "0", "pods", "110")
	full := node("full")
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{full, half, none, node("rest")}}}
	c.Pods = []*corev1.Pod{pod("a", "rest", "cpu", "5", "memory", "5Gi"), pod("b", "rest")}
	// 90 and 90; 80 and 90; nothing; 39 (rounded down: the other pod counts as 100m) and 38 (as 200Mi).
	give(t, c, pod("p", "", "cpu", "1", "memory", "1Gi"), filters.NodeResourcesFit, 90, 85, 0, 38)
	// A pod that asks for nothing counts as 100m and 200Mi: 99 and 98; 98 and 98; 48 and 46 (what is there as
	// above).
	give(t, c, pod("p", ""), filters.NodeResourcesFit, 98, 98, 0, 47)
	give(t, c, pod("p", ""), scores.NodeResourcesBalancedAllocation, 0, 0, 0, 0)
	// As balanced as before: 75. A tenth more of the CPU: (100-5)-100 = -5, so 50 + (50-5)/2. A fifth: -10.
	// Without anything: 75.
	give(t, c, pod("p", "", "cpu", "1"), scores.NodeResourcesBalancedAllocation, 72, 70, 75, 72)
	c.minor = 35
	give(t, c, pod("p", "", "cpu", "1"), scores.NodeResourcesBalancedAllocation, 95, 90, 100, 95)
}

// What the pod as a whole requests counts in one plugin and not in the other, and from 1.38 on in both.
func TestPodLevelRequests(t *testing.T) {
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a"), node("b")}}}
	p := pod("p", "")
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu", "4", "memory", "4Gi")}
	give(t, c, p, filters.NodeResourcesFit, 98, 98)
	give(t, c, p, scores.NodeResourcesBalancedAllocation, 75, 75)
	there := p.DeepCopy()
	there.Name, there.Spec.NodeName = "q", "b"
	c.Pods = []*corev1.Pod{there}
	give(t, c, p, filters.NodeResourcesFit, 98, 58)
	c.minor = 38
	give(t, c, p, filters.NodeResourcesFit, 60, 20)
	p.Spec.Resources.Requests = list("memory", "4Gi") // the CPU is filled in: 99 and 60; 59 and 20
	give(t, c, p, filters.NodeResourcesFit, 79, 39)
}

func TestTaintToleration(t *testing.T) {
	taint := func(key string, effect corev1.TaintEffect) corev1.Taint {
		return corev1.Taint{Key: key, Effect: effect}
	}
	one, two, other := node("one"), node("two"), node("other")
	one.Spec.Taints = []corev1.Taint{taint("a", corev1.TaintEffectPreferNoSchedule), taint("b", corev1.TaintEffectPreferNoSchedule)}
	two.Spec.Taints = []corev1.Taint{taint("b", corev1.TaintEffectPreferNoSchedule), taint("c", corev1.TaintEffectPreferNoSchedule), taint("d", corev1.TaintEffectPreferNoSchedule), taint("e", corev1.TaintEffectPreferNoSchedule)}
	other.Spec.Taints = []corev1.Taint{taint("a", corev1.TaintEffectNoSchedule)}
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("free"), one, other, two}}}
	p := pod("p", "")
	give(t, c, p, filters.TaintToleration, 300, 150, 300, 0)
	p.Spec.Tolerations = []corev1.Toleration{{Key: "b", Operator: corev1.TolerationOpExists}, {Key: "c", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	give(t, c, p, filters.TaintToleration, 300, 201, 300, 0)
}

func TestNodeAffinity(t *testing.T) {
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a", "disk", "ssd", "rack", "1"), node("b", "disk", "ssd"), node("c")}}}
	p := pod("p", "")
	give(t, c, p, filters.NodeAffinity, 0, 0, 0)
	term := func(weight int32, key, value string) corev1.PreferredSchedulingTerm {
		return corev1.PreferredSchedulingTerm{Weight: weight, Preference: corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}}}}}
	}
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{term(20, "disk", "ssd"), term(10, "rack", "1")}}}
	give(t, c, p, filters.NodeAffinity, 200, 132, 0) // 66 of 100
	p.Spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution[0].Preference.MatchExpressions[0].Values[0] = "-1"
	if got := scores.Prepare(c.index(), p, known(c), nil).Choose(all(c)); got.Failure == "" || got.Nodes != nil {
		t.Errorf("a term that cannot be read: %+v, want a failure and no nodes", got)
	}
}

func TestImageLocality(t *testing.T) {
	with := func(n *corev1.Node, images ...string) *corev1.Node {
		for _, name := range images {
			n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{name}, SizeBytes: 400 << 20})
		}
		return n
	}
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{with(node("a"), "app:latest", "model:v1"), with(node("b"), "app:latest"), node("c"), node("d")}}}
	p := pod("p", "")
	// Half of the nodes have it: 200 MB of between 23 and 1000, 177/977 = 18 %.
	give(t, c, p, scores.ImageLocality, 18, 18, 0, 0)
	p.Spec.Volumes = []corev1.Volume{{Name: "m", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "model:v1"}}}}
	// A quarter has the other one: 300 MB of between 23 and 2000, 277/1977; and 177/1977.
	give(t, c, p, scores.ImageLocality, 14, 8, 0, 0)
	c.minor = 36 // of between 23 and 1000
	give(t, c, p, scores.ImageLocality, 28, 18, 0, 0)
	c.minor = 35
	give(t, c, p, scores.ImageLocality, 18, 18, 0, 0)
}

func TestPodTopologySpread(t *testing.T) {
	zone := corev1.LabelTopologyZone
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a", zone, "1"), node("b", zone, "1"), node("c", zone, "2"), node("d")}}}
	c.Pods = []*corev1.Pod{labelled(pod("x", "a"), "app", "web"), labelled(pod("y", "a"), "app", "web"), labelled(pod("z", "c"), "app", "web"), labelled(pod("other", "b"), "app", "db")}
	p := labelled(pod("p", ""), "app", "web")
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: selector}}
	// Two zones, log(4): 2 pods are 2.77, about 3; 1 is 1.39, about 1. 100*(3+1-3)/3, 100*(3+1-1)/3. A node
	// without the label: nothing.
	give(t, c, p, filters.PodTopologySpread, 66, 66, 200, 0)
	p.Spec.TopologySpreadConstraints[0].TopologyKey = corev1.LabelHostname
	// Four nodes, log(6): 2 are 3.58, about 4; 1 is 1.79, about 2; 0.
	give(t, c, p, filters.PodTopologySpread, 0, 200, 100, 200)
	p.Spec.TopologySpreadConstraints[0].WhenUnsatisfiable = corev1.DoNotSchedule
	give(t, c, p, filters.PodTopologySpread, 0, 0, 0, 0)
	// An empty selector counts no pods, and from 1.38 on all: 3 are 4.16, about 4; 1 is about 1.
	// 100*(4+1-4)/4, 100*(4+1-1)/4.
	p.Spec.TopologySpreadConstraints[0] = corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: zone, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{}}
	give(t, c, p, filters.PodTopologySpread, 200, 200, 200, 0)
	c.minor = 38
	give(t, c, p, filters.PodTopologySpread, 50, 50, 200, 0)
}

func TestInterPodAffinity(t *testing.T) {
	zone := corev1.LabelTopologyZone
	term := func(app string) corev1.PodAffinityTerm {
		return corev1.PodAffinityTerm{TopologyKey: zone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
	}
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a", zone, "1"), node("b", zone, "2"), node("c", zone, "3"), node("d", zone, "4"), node("e")}}}
	likes, needs := labelled(pod("likes", "b"), "app", "x"), labelled(pod("needs", "c"), "app", "x")
	likes.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 3, PodAffinityTerm: term("web")}}}}
	needs.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term("web")}}}
	c.Pods = []*corev1.Pod{likes, needs, labelled(pod("db", "a"), "app", "db")}
	p := labelled(pod("p", ""), "app", "web")
	// -3 on b, 1 on c, 0 elsewhere: of between -3 and 1.
	give(t, c, p, filters.InterPodAffinity, 150, 0, 200, 150, 150)
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 7, PodAffinityTerm: term("db")}}}}
	give(t, c, p, filters.InterPodAffinity, 200, 0, 80, 60, 60) // 7, -3, 1, 0, 0
}

// A selector of namespaces that selects one without labels selected all until 1.36.
func TestNamespacesOfPreferences(t *testing.T) {
	zone := corev1.LabelTopologyZone
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a", zone, "1"), node("b", zone, "2")}}}
	c.Namespaces = []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "default", Labels: map[string]string{"private": "yes"}}}}
	c.Pods = []*corev1.Pod{labelled(pod("db", "a"), "app", "db")}
	p := pod("p", "")
	p.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 7, PodAffinityTerm: corev1.PodAffinityTerm{
		TopologyKey: zone, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}},
		NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "private", Operator: metav1.LabelSelectorOpDoesNotExist}}},
	}}}}}
	give(t, c, p, filters.InterPodAffinity, 0, 0)
	c.minor = 36
	give(t, c, p, filters.InterPodAffinity, 200, 0)
}

// TestProfile: a profile has plugins off, counts them otherwise, and compares by another strategy.
func TestProfile(t *testing.T) {
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("empty"), node("used")}, Pods: []*corev1.Pod{pod("q", "used", "cpu", "4", "memory", "4Gi")}}}
	for _, test := range []struct {
		profile string
		want    []int64 // points of NodeResourcesFit for a pod that asks for 1 CPU and 3Gi
	}{
		{"", []int64{80, 40}},
		{"plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 3}]}}", []int64{240, 120}},
		{"plugins: {score: {disabled: [{name: NodeResourcesFit}]}}", []int64{0, 0}},
		{"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}]", []int64{20, 60}},
		{"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}, {name: memory, weight: 1}]}}}]", []int64{15, 55}},
		{"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: LeastAllocated, resources: [{name: memory}]}}}]", []int64{70, 30}},
		// What the pod does not ask for does not count; ephemeral storage does, as far as a node has any.
		{"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated, resources: [{name: example.com/gpu, weight: 9}, {name: ephemeral-storage, weight: 9}, {name: memory}]}}}]", []int64{30, 70}},
		// On lines from 0 at 0% over 100 at 50% to 20 at 100%: 20 and 60; 100 and 68.
		{"pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 50, score: 10}, {utilization: 100, score: 2}]}}}}]", []int64{40, 84}},
	} {
		config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{"+test.profile+"}]"), func(string) bool { return false })
		if err != nil {
			t.Fatal(err)
		}
		x := filters.NewIndex(c.index().Snapshot().WithScheduler(config), nil)
		got := scores.Prepare(x, pod("p", "", "cpu", "1", "memory", "3Gi"), known(c), nil).Choose(all(c))
		if diff := cmp.Diff(test.want, points(got, filters.NodeResourcesFit)); diff != "" || len(got.Doubts) > 0 {
			t.Errorf("%s (-want +got), with doubts %v:\n%s", test.profile, got.Doubts, diff)
		}
	}
	config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: 'http://x', prioritizeVerb: p, weight: 1}]"), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	x := filters.NewIndex(c.index().Snapshot().WithScheduler(config), nil)
	if got := scores.Prepare(x, pod("p", "", "cpu", "1"), known(c), nil).Choose(all(c)); len(got.Nodes) != 2 || len(got.Doubts) != 1 {
		t.Errorf("with an extender that gives points: %v, %v", got.Nodes, got.Doubts)
	}
}
