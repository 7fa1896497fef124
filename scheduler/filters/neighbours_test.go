package filters

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// labelAliases are short for labels of nodes.
var labelAliases = map[string]string{"zone": corev1.LabelTopologyZone, "host": corev1.LabelHostname}

// nodeOf makes a node: "n1 zone=a host=n1".
func nodeOf(text string) *corev1.Node {
	name, labels := nameAndLabels(text)
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}

// podOf makes a pod, of namespace ml and on no node if the text does not say otherwise: "db/web-0@n1
// app=web".
func podOf(text string, changes ...func(*corev1.Pod)) *corev1.Pod {
	name, labels := nameAndLabels(text)
	name, node, _ := strings.Cut(name, "@")
	namespace, name, ok := strings.Cut(name, "/")
	if !ok {
		namespace, name = "ml", namespace
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Spec: corev1.PodSpec{NodeName: node}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func nameAndLabels(text string) (string, map[string]string) {
	words := strings.Fields(text)
	labels := map[string]string{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if alias := labelAliases[key]; alias != "" {
			key = alias
		}
		labels[key] = value
	}
	return words[0], labels
}

// nodesOf makes nodes from texts with commas between them.
func nodesOf(texts string) []*corev1.Node {
	var out []*corev1.Node
	for text := range strings.SplitSeq(texts, ",") {
		out = append(out, nodeOf(text))
	}
	return out
}

func podsOf(texts string) []*corev1.Pod {
	var out []*corev1.Pod
	for text := range strings.SplitSeq(texts, ",") {
		out = append(out, podOf(text))
	}
	return out
}

// matchLabels makes a selector: "app=web tier=a".
func matchLabels(text string) *metav1.LabelSelector {
	_, labels := nameAndLabels("x " + text)
	return &metav1.LabelSelector{MatchLabels: labels}
}

func leaving(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{} }

func nominatedTo(node string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Status.NominatedNodeName = node }
}

// neighbourCase is a pod and what plugins have against it.
type neighbourCase struct {
	nodes      string
	pods       []*corev1.Pod
	namespaces []*corev1.Namespace
	groups     inspect.Objects // only its PodGroups, CompositePodGroups and Claims
	pod        *corev1.Pod
	gates      []inspect.Gate
	off        []inspect.Gate
	minor      int
	config     inspect.Config
	// want is what is said everywhere, and of each node: "CODE key", "? key" for doubts, "ok". Lines with
	// nothing are left out.
	want string
}

func (c *neighbourCase) snapshot() *inspect.Snapshot {
	config := c.config
	config.Features = inspect.DefaultFeatures(max(c.minor, 0))
	if c.minor == 0 {
		config.Features = inspect.DefaultFeatures(inspect.NewestMinor)
	}
	gates := map[inspect.Gate]bool{}
	for _, g := range c.gates {
		gates[g] = true
	}
	for _, g := range c.off {
		gates[g] = false
	}
	config.Features = config.Features.With(gates)
	objects := inspect.Objects{Pods: slices.Clone(c.pods), Namespaces: c.namespaces, PodGroups: c.groups.PodGroups, CompositePodGroups: c.groups.CompositePodGroups, Claims: c.groups.Claims}
	if c.nodes != "" {
		objects.Nodes = nodesOf(c.nodes)
	}
	return inspect.New(objects, config)
}

func summary(o Outcome) string {
	var out []string
	for _, r := range o.Refusals {
		out = append(out, fmt.Sprintf("%s %s", r.Code, r.Key))
	}
	for _, d := range o.Doubts {
		out = append(out, "? "+d.Key)
	}
	return strings.Join(out, "; ")
}

// saidBy keeps what a plugin says.
func saidBy(plugin Plugin, o Outcome) Outcome {
	var out Outcome
	for _, r := range o.Refusals {
		if r.Plugin == plugin {
			out.Refusals = append(out.Refusals, r)
		}
	}
	for _, d := range o.Doubts {
		if d.Plugin == plugin {
			out.Doubts = append(out.Doubts, d)
		}
	}
	return out
}

func (c *neighbourCase) ask(plugin Plugin) (everywhere Outcome, nodes map[string]Outcome) {
	x := NewIndex(c.snapshot(), nil)
	p := x.Prepare(c.pod)
	nodes = map[string]Outcome{}
	for _, n := range x.snapshot.Nodes() {
		nodes[n.Name] = saidBy(plugin, p.On(inspect.NodeName(n.Name)))
	}
	return saidBy(plugin, p.Everywhere), nodes
}

func (c *neighbourCase) run(t *testing.T, plugin Plugin) {
	t.Helper()
	everywhere, nodes := c.ask(plugin)
	var got []string
	if text := summary(everywhere); text != "" {
		got = append(got, text)
	}
	for _, n := range c.snapshot().Nodes() {
		if text := summary(nodes[n.Name]); text != "" {
			got = append(got, n.Name+": "+text)
		}
	}
	var want []string
	for line := range strings.Lines(c.want) {
		want = append(want, strings.TrimSpace(line))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("(-want +got):\n" + diff)
	}
}

// TestNeighboursLike changes a cluster at random, again and again. An index that takes over what another one
// knows has to answer as one that is built anew.
func TestNeighboursLike(t *testing.T) {
	for seed := range uint64(effort.Of(40, 10)) {
		r := rand.New(rand.NewPCG(seed, 3))
		objects := inspect.Objects{Nodes: nodesOf("a zone=a host=a, b zone=b host=b, c zone=b host=c"), Namespaces: namespacesOf("ml", "db team=x")}
		x := NewIndex(inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), nil)
		for step := range 25 {
			said := neighboursSay(x)
			s := x.snapshot.With(func(o *inspect.Objects) {
				for range r.IntN(3) {
					changeNeighbours(r, o)
				}
			})
			like, anew := NewIndex(s, x), NewIndex(s, nil)
			if diff := cmp.Diff(neighboursSay(anew), neighboursSay(like)); diff != "" {
				t.Fatalf("seed %d, step %d (-anew +like):\n%s", seed, step, diff)
			}
			if diff := cmp.Diff(said, neighboursSay(x)); diff != "" {
				t.Fatalf("seed %d, step %d: the index before has changed (-before +after):\n%s", seed, step, diff)
			}
			x = like
		}
	}
}

// changeNeighbours adds, removes or replaces a pod and, seldom, a node.
func changeNeighbours(r *rand.Rand, o *inspect.Objects) {
	if r.IntN(12) == 0 {
		name := string("abcd"[r.IntN(4)])
		o.Nodes = slices.DeleteFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == name })
		if r.IntN(4) > 0 {
			o.Nodes = append(o.Nodes, nodeOf(fmt.Sprintf("%s zone=%c host=%[1]s", name, "ab"[r.IntN(2)])))
		}
	}
	name := fmt.Sprintf("%s/p%d", []string{"ml", "db"}[r.IntN(2)], r.IntN(8))
	namespace, short, _ := strings.Cut(name, "/")
	o.Pods = slices.DeleteFunc(o.Pods, func(p *corev1.Pod) bool { return p.Namespace == namespace && p.Name == short })
	if r.IntN(4) == 0 {
		return
	}
	if node := r.IntN(5); node < 4 {
		name += "@" + string("abcd"[node])
	}
	pod := podOf(fmt.Sprintf("%s app=%d", name, r.IntN(3)))
	if r.IntN(2) == 0 {
		key := []string{"zone", "host"}[r.IntN(2)]
		apartFrom(key, matchLabels(fmt.Sprint("app=", r.IntN(3))), []termChange{anywhere, inNamespacesWith("team=x"), func(*corev1.PodAffinityTerm) {}}[r.IntN(3)])(pod)
	}
	if pod.Spec.NodeName == "" {
		nominatedTo(string("abc"[r.IntN(3)]))(pod)
	}
	o.Pods = append(o.Pods, pod)
}

// neighboursSay is all that an index says of some pods.
func neighboursSay(x *Index) map[string]Outcome {
	out := map[string]Outcome{}
	for i, pod := range []*corev1.Pod{
		podOf("new app=0"), podOf("db/new app=1"), podOf("new app=2", apartFrom("zone", matchLabels("app=1"))),
		podOf("new app=1", nearTo("host", matchLabels("app=1"), anywhere)), podOf("new app=0", spread("zone", 1, matchLabels("app=0"))),
	} {
		p := x.Prepare(pod)
		out[fmt.Sprint(i)] = p.Everywhere
		for _, n := range x.nodes {
			out[fmt.Sprint(i, n.Name)] = p.On(inspect.NodeName(n.Name))
		}
	}
	return out
}

// TestNodeRemoved removes a node with a pod that keeps others away from its zone. The scheduler then knows
// nothing of the pod.
func TestNodeRemoved(t *testing.T) {
	o := inspect.Objects{Nodes: nodesOf("a1 zone=a, a2 zone=a"), Pods: []*corev1.Pod{podOf("v@a1", apartFrom("zone", matchLabels("app=web")))}}
	s, pod := inspect.New(o, inspect.Config{}), podOf("w app=web")
	x := NewIndex(s, nil)
	if len(x.Prepare(pod).On("a2").Refusals) == 0 {
		t.Fatal("nothing refuses while the node is there")
	}
	after := s.With(func(o *inspect.Objects) { o.Nodes = o.Nodes[1:] })
	if got := NewIndex(after, x).Prepare(pod).On("a2").Refusals; len(got) > 0 {
		t.Errorf("once the node is gone: %+v", got)
	}
}
