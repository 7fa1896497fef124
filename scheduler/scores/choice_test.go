package scores_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// threeNodes has a node on which the most is left, one on which a little less is, and one that is nearly
// full.
func threeNodes() *cluster {
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("full"), node("little"), node("most")}}}
	c.Pods = []*corev1.Pod{pod("a", "full", "cpu", "9", "memory", "9Gi"), pod("b", "little", "cpu", "1", "memory", "1Gi")}
	return c
}

func chosen(c *cluster, p *corev1.Pod, o scores.Options, nodes ...scores.Candidate) scores.Choice {
	if nodes == nil {
		nodes = all(c)
	}
	return scores.Prepare(c.index(), p, o, nil).Choose(nodes)
}

func TestChoose(t *testing.T) {
	c := threeNodes()
	p := pod("p", "", "cpu", "100m", "memory", "100Mi")
	wanted := func(what string, got scores.Choice, want ...inspect.NodeName) {
		t.Helper()
		if !slices.Equal(got.Nodes, want) || got.Failure != "" {
			t.Errorf("%s: %q, want %q (%+v)", what, got.Nodes, want, got)
		}
	}
	wanted("the most points", chosen(c, p, known(c)), "most")
	wanted("without the best", chosen(c, p, known(c), scores.Candidate{Node: "little"}, scores.Candidate{Node: "full"}), "little")
	wanted("a single one", chosen(c, p, scores.Options{}, scores.Candidate{Node: "full"}), "full")
	wanted("nothing known", chosen(c, p, scores.Options{}), "full", "little", "most")
	wanted("one that is not known", chosen(c, p, known(c), scores.Candidate{Node: "gone"}, scores.Candidate{Node: "full"}), "full")
	nominated := p.DeepCopy()
	nominated.Status.NominatedNodeName = "full"
	wanted("nominated", chosen(c, nominated, known(c)), "full")
	wanted("nominated for one that does not fit", chosen(c, nominated, known(c), scores.Candidate{Node: "little"}, scores.Candidate{Node: "most"}), "most")
	foreign := p.DeepCopy()
	foreign.Spec.SchedulerName = "other"
	if got := chosen(c, foreign, known(c)); len(got.Nodes) != 3 || len(got.Doubts) != 1 || got.Scores() != nil {
		t.Errorf("for another scheduler: %+v, want any node and a doubt", got)
	}
	c.Pods = c.Pods[:1]
	wanted("equal", chosen(c, p, known(c)), "little", "most")
	if got := scores.Prepare(c.index(), p, known(c), nil).Choose(nil); got.Nodes != nil || got.Compared != 0 {
		t.Errorf("nothing fits: %+v", got)
	}
}

// What is not known can make up for a hundred points, and no more.
func TestDoubts(t *testing.T) {
	c := threeNodes()
	p := pod("p", "", "cpu", "100m", "memory", "100Mi")
	unknown := known(c)
	unknown.Images = nil
	got := chosen(c, p, unknown)
	if want := []inspect.NodeName{"full", "little", "most"}; !slices.Equal(got.Nodes, want) || len(got.Doubts) != 1 || got.Doubts[0].Plugin != scores.ImageLocality {
		t.Errorf("images are not known: %q, %+v, want %q and a doubt", got.Nodes, got.Doubts, want)
	}
	for _, score := range got.Scores() {
		if score.Most-score.Least != 100 {
			t.Errorf("%s gets between %d and %d, want a difference of 100", score.Node, score.Least, score.Most)
		}
	}
	c.Nodes[0].Spec.Taints = []corev1.Taint{{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule}}
	if got := chosen(c, p, unknown); !slices.Equal(got.Nodes, []inspect.NodeName{"little", "most"}) {
		t.Errorf("300 points behind: %q, want the others", got.Nodes)
	}
	c.unread = []inspect.Resource{inspect.Pods}
	if got := chosen(c, p, known(c)); len(got.Nodes) != 3 || len(got.Doubts) == 0 {
		t.Errorf("pods were not read: %q, %+v", got.Nodes, got.Doubts)
	}
}

// Images of a snapshot count if there are any, and only if the pod says which ones it has.
func TestImagesOfSnapshot(t *testing.T) {
	c := threeNodes()
	c.Nodes[0].Status.Images = []corev1.ContainerImage{{Names: []string{"app:latest"}, SizeBytes: 1}}
	o := scores.Options{Workloads: &inspect.Selecting{}}
	p := pod("p", "")
	if got := chosen(c, p, o); len(got.Doubts) > 0 {
		t.Errorf("images of nodes: %+v, want no doubt", got.Doubts)
	}
	p.Spec.Containers[0].Image = ""
	if got := chosen(c, p, o); len(got.Doubts) != 1 {
		t.Errorf("images of the pod are not known: %+v, want a doubt", got.Doubts)
	}
	o.Whole = pod("p", "")
	if got := chosen(c, p, o); len(got.Doubts) > 0 {
		t.Errorf("images of the pod as it was: %+v, want no doubt", got.Doubts)
	}
	p.Spec.Containers[0].Image = "app"
	c.Nodes[1].Status.Images = []corev1.ContainerImage{{Names: []string{"app:latest"}, SizeBytes: 2}}
	if got := chosen(c, p, o); len(got.Doubts) != 1 {
		t.Errorf("nodes that do not agree: %+v, want a doubt", got.Doubts)
	}
}

// In a large cluster the scheduler stops looking: of 400 nodes that fit it compares 188 (47 %), so 212 may be
// left out.
func TestCompared(t *testing.T) {
	c := &cluster{}
	for i := range 400 {
		n := node(fmt.Sprintf("n%03d", i))
		c.Nodes = append(c.Nodes, n)
		c.Pods = append(c.Pods, pod(fmt.Sprintf("p%03d", i), n.Name, "cpu", fmt.Sprint(1+i/100), "memory", fmt.Sprint(1+i/100, "Gi")))
	}
	p := pod("p", "", "cpu", "1", "memory", "1Gi")
	got := chosen(c, p, known(c))
	// The first hundred have the most, then each hundred has less. 212 are more than the first two hundred.
	if got.Compared != 188 || len(got.Nodes) != 300 || got.Nodes[299] != "n299" {
		t.Errorf("of 400: %d compared, %d may be chosen, want 188 and the first 300", got.Compared, len(got.Nodes))
	}
	config, err := schedulerconfig.Read([]byte("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\npercentageOfNodesToScore: 30"), func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	x := filters.NewIndex(c.index().Snapshot().WithScheduler(config), nil)
	if got := scores.Prepare(x, p, known(c), nil).Choose(all(c)); got.Compared != 120 {
		t.Errorf("with 30%%, %d of 400 are compared, want 120", got.Compared)
	}
	if got := chosen(c, p, known(c), all(c)[:150]...); got.Compared != 150 || len(got.Nodes) != 100 {
		t.Errorf("of 150 that fit: %d compared, %d may be chosen, want all and the first 100", got.Compared, len(got.Nodes))
	}
	c.Nodes[399].Spec.Taints = []corev1.Taint{{Key: "slow", Effect: corev1.TaintEffectPreferNoSchedule}}
	if got := chosen(c, p, known(c)); len(got.Nodes) != 400 {
		t.Errorf("where points depend on which nodes are compared %d may be chosen, want all", len(got.Nodes))
	}
	named := p.DeepCopy()
	named.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"x"}}},
	}}}}}
	if got := chosen(c, named, known(c)); got.Compared != 100 {
		t.Errorf("for a pod that names nodes %d are compared, want 100", got.Compared)
	}
}

// Pods that do not say how they are spread are spread with those of their services and controllers.
func TestWorkloads(t *testing.T) {
	zone := corev1.LabelTopologyZone
	c := &cluster{Objects: inspect.Objects{Nodes: []*corev1.Node{node("a", zone, "1"), node("b", zone, "2")}}}
	p := labelled(pod("p", ""), "app", "web", "track", "new")
	spread := func(w *inspect.Selecting) scores.Choice {
		o := known(c)
		o.Workloads = w
		return chosen(c, p, o)
	}
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web"}}}
	if got := spread(nil); len(got.Doubts) > 0 {
		t.Errorf("alone in its namespace: %+v, want no doubt", got.Doubts)
	}
	c.Pods = []*corev1.Pod{labelled(pod("x", "a"), "app", "web")}
	if got := spread(nil); len(got.Doubts) != 1 || len(got.Nodes) != 2 {
		t.Errorf("services are not known: %+v, want a doubt", got)
	}
	// log(4) for one pod on the node, log(4) for it in the zone, and 2+4 everywhere: 8.77, about 9; and 6.
	if diff := cmp.Diff([]int64{132, 200}, points(spread(&inspect.Selecting{Services: []*corev1.Service{service}}), filters.PodTopologySpread)); diff != "" {
		t.Errorf("with a service (-want +got):\n%s", diff)
	}
	c.Pods[0].Labels["app"] = "db"
	if got := spread(nil); len(got.Doubts) > 0 {
		t.Errorf("no label in common: %+v, want no doubt", got.Doubts)
	}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", Controller: ptr.To(true)}}
	if got := spread(nil); len(got.Doubts) != 1 {
		t.Errorf("a selector that could be any: %+v, want a doubt", got.Doubts)
	}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "r"}, Spec: appsv1.ReplicaSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}}
	if diff := cmp.Diff([]int64{132, 200}, points(spread(&inspect.Selecting{ReplicaSets: []*appsv1.ReplicaSet{set}}), filters.PodTopologySpread)); diff != "" {
		t.Errorf("with a ReplicaSet (-want +got):\n%s", diff)
	}
	c.Nodes[1].Labels = nil
	p.OwnerReferences, c.Pods = nil, nil
	if got := spread(nil); len(got.Doubts) != 1 {
		t.Errorf("nodes with different labels: %+v, want a doubt", got.Doubts)
	}
	// A node without the labels is compared all the same: 9, as above, and nothing.
	c.Pods = []*corev1.Pod{labelled(pod("x", "a"), "app", "web")}
	if diff := cmp.Diff([]int64{0, 200}, points(spread(&inspect.Selecting{Services: []*corev1.Service{service}}), filters.PodTopologySpread)); diff != "" {
		t.Errorf("with a node without labels (-want +got):\n%s", diff)
	}
}
