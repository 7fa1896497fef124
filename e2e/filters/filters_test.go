package filters

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

var seed = flag.Uint64("seed", 37, "makes the random problems; another one makes others")

// shown is how many disagreements are made small and printed.
const shown = 8

// TestFilters asks kube-scheduler's plugins and ours about random pods.
func TestFilters(t *testing.T) {
	counts := compareMany(t, pluginByPlugin(ours), effort.Of(20_000, 2_000))
	t.Log(counts)
	counts.check(t)
}

// compareMany compares what both sides say of random pods, and reports the first disagreements of each sort.
func compareMany(t *testing.T, compare comparer, pods int) counts {
	t.Helper()
	return compareProblems(t, compare, pods, generate)
}

func compareProblems(t *testing.T, compare comparer, pods int, generate func(*rand.Rand) *problem) counts {
	t.Helper()
	counts := counts{refusals: map[filters.Plugin]int{}, doubts: map[string]int{}}
	var found []disagreement
	for i := uint64(0); counts.pods < pods; i++ {
		p := generate(rand.New(rand.NewPCG(*seed, i)))
		result, err := compare(t, p)
		if err != nil {
			t.Fatalf("problem %d: %v", i, err)
		}
		counts.add(result)
		for _, d := range result.disagreements {
			if len(found) < shown && !slices.ContainsFunc(found, d.like) {
				found = append(found, d)
				small, d := shrink(t, p, compare, d)
				t.Errorf("problem %d: %s\n%s", i, d, small.manifest())
			}
		}
	}
	if counts.disagreeing > 0 {
		t.Errorf("%d of %d pods are decided otherwise than by the scheduler", counts.disagreeing, counts.pods)
	}
	return counts
}

// counts are what the test has seen.
type counts struct {
	pods, passing, disagreeing int
	// refusals are the pods that a plugin of the scheduler refused on a node, or on all.
	refusals map[filters.Plugin]int
	// doubts are the pods that were not decided on a node. undecided are those of them of which that is not
	// because of their pod group, nor because the scheduler fails itself.
	doubts    map[string]int
	undecided int
}

func (c *counts) add(result comparison) {
	disagreeing := map[string]bool{}
	for _, d := range result.disagreements {
		disagreeing[d.pod] = true
	}
	c.disagreeing += len(disagreeing)
	c.pods += len(result.theirs)
	for i := range result.theirs {
		refusing, doubted, passes := map[filters.Plugin]bool{}, map[string]bool{}, false
		for _, on := range result.theirs[i].nodes {
			passes = passes || len(on) == 0
			for plugin := range on {
				refusing[plugin] = true
			}
		}
		undecided := false
		for _, on := range result.ours[i].doubts {
			for plugin, message := range on {
				doubted[fmt.Sprint(plugin, ": ", kindOf(message))] = true
				undecided = undecided || plugin != filters.GangScheduling
			}
		}
		if undecided && !result.theirs[i].fails {
			c.undecided++
		}
		if passes {
			c.passing++
		}
		for plugin := range refusing {
			c.refusals[plugin]++
		}
		for message := range doubted {
			c.doubts[message]++
		}
	}
}

// kindOf is a message without names and numbers, and without what follows a semicolon.
func kindOf(message string) string {
	message, _, _ = strings.Cut(message, ";")
	words := strings.Fields(message)
	for i, word := range words {
		if strings.ContainsAny(word, "/-0123456789") {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}

func (c counts) String() string {
	out := fmt.Sprintf("%d pods, %d of which pass on a node, %d decided otherwise than by the scheduler", c.pods, c.passing, c.disagreeing)
	for _, plugin := range slices.Sorted(maps.Keys(c.refusals)) {
		out += fmt.Sprintf("\n%6d refused by %s", c.refusals[plugin], plugin)
	}
	for _, message := range slices.Sorted(maps.Keys(c.doubts)) {
		out += fmt.Sprintf("\n%6d not decided: %s", c.doubts[message], message)
	}
	return out
}

// check fails the test if it has not tried enough of each plugin that the release has.
func (c counts) check(t *testing.T, without ...filters.Plugin) {
	t.Helper()
	for _, plugin := range filters.Plugins() {
		if least := c.pods / 20; c.refusals[plugin] < least && !slices.Contains(without, plugin) {
			t.Errorf("%s refused %d of %d pods, want at least %d", plugin, c.refusals[plugin], c.pods, least)
		}
	}
	c.checkUndecided(t)
	if least := c.pods / 10; c.passing < least {
		t.Errorf("%d of %d pods pass on a node, want at least %d", c.passing, c.pods, least)
	}
}

// checkUndecided fails the test if too much is not decided, besides what pod groups decide together and where
// the scheduler fails itself.
func (c counts) checkUndecided(t *testing.T) {
	t.Helper()
	if c.undecided*100 >= c.pods {
		t.Errorf("%d of %d pods are not decided, want less than one in a hundred", c.undecided, c.pods)
	}
}

// TestShrink makes a disagreement small of which nothing matters but a node, and a pod that is bound to
// another one.
func TestShrink(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(1, 1)), problem: &problem{gates: map[inspect.Gate]bool{gateGroups: true}}, aspects: []aspect{ports, taints}}
	g.objects.Nodes = []*corev1.Node{g.node("node-0"), g.node("node-1")}
	g.objects.Pods = []*corev1.Pod{g.pod("running", "node-0")}
	g.asked = []*corev1.Pod{g.pod("waiting", ""), g.pod("bound", "node-1")}
	compare := pluginByPlugin(lacking(filters.NodeName))
	small, d := shrink(t, g.problem, compare, disagreement{pod: "bound", node: "node-0", plugin: filters.NodeName, theirs: "refuses"})
	if diff := cmp.Diff(smallest, small.manifest()); d.node != "node-0" || diff != "" {
		t.Errorf("what remains, about %s (-want +got):\n%s", d.node, diff)
	}
}

const smallest = `---
apiVersion: v1
kind: Node
metadata:
  name: node-0
# asked about:
apiVersion: v1
kind: Pod
metadata:
  name: bound
  namespace: default
  uid: bound
spec:
  containers:
  - image: example.com/app
    name: main
    resources: {}
  nodeName: node-1
`

// TestEveryPluginMatters takes each of our plugins away: the comparison has to notice.
func TestEveryPluginMatters(t *testing.T) {
	for _, plugin := range filters.Plugins() {
		t.Run(string(plugin), func(t *testing.T) {
			for i := range uint64(100) {
				p := generate(rand.New(rand.NewPCG(*seed, i)))
				result, err := pluginByPlugin(lacking(plugin))(t, p)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(result.disagreements, func(d disagreement) bool { return d.plugin == plugin }) {
					return
				}
			}
			t.Error("without the plugin nothing is decided otherwise")
		})
	}
}
