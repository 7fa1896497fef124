package filters

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/allocator/filters"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// seed makes the problems. Another one makes others.
const seed = 37

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
	counts := counts{refusals: map[filters.Plugin]int{}, doubts: map[string]int{}}
	var found []disagreement
	for i := uint64(0); counts.pods < pods; i++ {
		p := generate(rand.New(rand.NewPCG(seed, i)))
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
	// doubts are the pods that were not decided on a node.
	doubts map[string]int
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
		for _, on := range result.ours[i].doubts {
			for plugin, message := range on {
				doubted[fmt.Sprint(plugin, ": ", message)] = true
			}
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

// check fails the test if it has not tried enough.
func (c counts) check(t *testing.T) {
	t.Helper()
	for _, plugin := range filters.Plugins() {
		if least := c.pods / 20; c.refusals[plugin] < least {
			t.Errorf("%s refused %d of %d pods, want at least %d", plugin, c.refusals[plugin], c.pods, least)
		}
	}
	if least := c.pods / 10; c.passing < least {
		t.Errorf("%d of %d pods pass on a node, want at least %d", c.passing, c.pods, least)
	}
}

// TestShrink makes a disagreement small of which nothing matters but a node, and a pod that is bound to another one.
func TestShrink(t *testing.T) {
	compare := pluginByPlugin(lacking(filters.NodeName))
	for i := range uint64(100) {
		p := generate(rand.New(rand.NewPCG(seed, i)))
		result, err := compare(t, p)
		if err != nil {
			t.Fatal(err)
		}
		of := func(d disagreement) bool { return d.plugin == filters.NodeName }
		if found := slices.IndexFunc(result.disagreements, of); found >= 0 {
			small, d := shrink(t, p, compare, result.disagreements[found])
			want := fmt.Sprintf(smallest, d.node, d.pod, small.asked[0].Spec.NodeName)
			if diff := cmp.Diff(want, small.manifest()); diff != "" {
				t.Errorf("what remains (-want +got):\n%s", diff)
			}
			return
		}
	}
	t.Error("found nothing to make small")
}

const smallest = `---
apiVersion: v1
kind: Node
metadata:
  name: %[1]s
# asked about:
apiVersion: v1
kind: Pod
metadata:
  name: %[2]s
  namespace: default
  uid: %[2]s
spec:
  containers:
  - image: example.com/app
    name: main
    resources: {}
  nodeName: %[3]s
`

// TestEveryPluginMatters takes each of our plugins away: the comparison has to notice.
func TestEveryPluginMatters(t *testing.T) {
	for _, plugin := range filters.Plugins() {
		t.Run(string(plugin), func(t *testing.T) {
			for i := range uint64(100) {
				p := generate(rand.New(rand.NewPCG(seed, i)))
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
