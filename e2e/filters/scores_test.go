package filters

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// TestScores compares what kube-scheduler's score plugins give to the nodes that fit random pods with what
// ours do, and the nodes that it chooses with those that we say it may choose.
func TestScores(t *testing.T) {
	c := scoreCounts{varied: map[filters.Plugin]int{}, doubts: map[string]int{}}
	for i := uint64(0); c.pods < effort.Of(20_000, 2_000); i++ {
		p := generateScored(rand.New(rand.NewPCG(*seed, i)))
		if err := c.compare(t, p); err != nil {
			t.Fatalf("problem %d: %v", i, err)
		}
		if t.Failed() {
			t.Fatalf("problem %d", i)
		}
	}
	t.Log(c)
	c.check(t, filters.VolumeBinding)
}

func generateScored(r *rand.Rand) *problem {
	p := generateOf(r, scoring)
	p.gates[gateGroups] = false
	for _, pod := range p.asked {
		if pod.Status.NominatedNodeName == "gone" {
			pod.Status.NominatedNodeName = "" // the scheduler reports an error and goes on
		}
	}
	for _, c := range p.objects.StorageCapacities {
		c.Capacity = cmp.Or(c.Capacity, c.MaximumVolumeSize) // the scheduler panics if only this is given
	}
	g := &generator{Rand: r, problem: p}
	if g.chance(0.5) {
		g.controllersOf(p)
	}
	return p
}

// scoreCounts are what the test has seen.
type scoreCounts struct {
	pods   int // for which several nodes fit
	sure   int // for which all is known
	single int // for which one node has the most points
	// devices are those for which nodes have devices that serve as a resource by which they are compared.
	devices int
	// varied are the pods for which a plugin does not give the same to all nodes.
	varied map[filters.Plugin]int
	doubts map[string]int
}

func (c *scoreCounts) compare(t *testing.T, p *problem) error {
	t.Helper()
	admitted, err := p.admitted()
	if err != nil {
		return err
	}
	withKubeScheduler(t, &admitted.objects, func(t *testing.T, s *kubeScheduler) {
		ours := newOurScores(admitted)
		for _, pod := range admitted.asked {
			theirs, failure := s.Score(pod)
			if err = failure; err != nil {
				return
			}
			if pod.Spec.NodeName != "" || len(theirs.Fitting) < 2 {
				continue
			}
			c.pods++
			choice := ours.choose(pod, theirs.Fitting)
			if ours.counted {
				c.devices++
			}
			if diff := c.differences(theirs, choice, pod); diff != "" {
				t.Errorf("pod %s: %s\n%s", pod.Name, diff, admitted.about(pod).manifest())
				return
			}
			if failure := c.choices(s, pod, choice); failure != "" {
				t.Errorf("pod %s: %s\n%s", pod.Name, failure, admitted.about(pod).manifest())
				return
			}
		}
	}, p.controllers.objects()...)
	return err
}

// choices lets the scheduler choose several times: it begins to look at another node each time.
func (c *scoreCounts) choices(s *kubeScheduler, pod *corev1.Pod, ours scores.Choice) string {
	for range 3 {
		node, err := s.Choose(pod)
		if (err != nil) != (len(ours.Nodes) == 0) || err == nil && !slices.Contains(ours.Nodes, inspect.NodeName(node)) {
			return fmt.Sprintf("the scheduler chooses %q (%v), and we say it chooses one of %q (%s)", node, err, ours.Nodes, ours.Failure)
		}
	}
	return ""
}

// differences compares points, with which it counts what the problem has tried.
func (c *scoreCounts) differences(theirs kubeScores, ours scores.Choice, pod *corev1.Pod) string {
	switch nominated := slices.Contains(theirs.Fitting, pod.Status.NominatedNodeName); {
	case nominated && ours.Failure != "" || !nominated && (theirs.Failure != "") != (ours.Failure != ""):
		return fmt.Sprintf("the scheduler fails with %q, ours with %q", theirs.Failure, ours.Failure)
	case nominated || theirs.Failure != "":
		return ""
	}
	for _, d := range ours.Doubts {
		c.doubts[fmt.Sprint(d.Plugin, ": ", d.Key)]++
	}
	c.count(theirs, ours)
	if best := bestOf(theirs); len(ours.Doubts) == 0 && !slices.Equal(best, ours.Nodes) {
		return fmt.Sprintf("%q have the most points, ours %q", best, ours.Nodes)
	}
	for _, score := range ours.Scores() {
		node := string(score.Node)
		if total := theirs.Totals[node]; total < score.Least || total > score.Most || len(ours.Doubts) == 0 && score.Least != score.Most {
			return fmt.Sprintf("node %s gets %d (%v), ours between %d and %d (%v)", node, total, theirs.Points[node], score.Least, score.Most, score.Parts)
		}
		for _, part := range score.Parts {
			if points := theirs.Points[node][string(part.Plugin)]; points < part.Least || points > part.Most {
				return fmt.Sprintf("node %s gets %d by %s (%v), ours between %d and %d", node, points, part.Plugin, theirs.Points[node], part.Least, part.Most)
			}
		}
	}
	return ""
}

// bestOf are the nodes with the most points, sorted.
func bestOf(theirs kubeScores) []inspect.NodeName {
	most := slices.Max(slices.Collect(maps.Values(theirs.Totals)))
	var out []inspect.NodeName
	for _, node := range sorted(theirs.Totals) {
		if theirs.Totals[node] == most {
			out = append(out, inspect.NodeName(node))
		}
	}
	return out
}

func (c *scoreCounts) count(theirs kubeScores, ours scores.Choice) {
	if len(ours.Doubts) == 0 {
		c.sure++
	}
	if len(ours.Nodes) == 1 {
		c.single++
	}
	for _, plugin := range scores.Plugins() {
		given := map[int64]bool{}
		for _, points := range theirs.Points {
			given[points[string(plugin)]] = true
		}
		if len(given) > 1 {
			c.varied[plugin]++
		}
	}
}

func (c scoreCounts) String() string {
	out := fmt.Sprintf("%d pods, of %d of which all is known; one node is chosen for %d", c.pods, c.sure, c.single)
	out += fmt.Sprintf("\n%6d with devices that serve as a resource", c.devices)
	for _, plugin := range slices.Sorted(maps.Keys(c.varied)) {
		out += fmt.Sprintf("\n%6d with nodes that differ by %s", c.varied[plugin], plugin)
	}
	for _, doubt := range slices.Sorted(maps.Keys(c.doubts)) {
		out += fmt.Sprintf("\n%6d not known: %s", c.doubts[doubt], doubt)
	}
	return out
}

// check fails the test if it has not tried enough.
func (c scoreCounts) check(t *testing.T, without ...filters.Plugin) {
	t.Helper()
	for _, plugin := range scores.Plugins() {
		if least := c.pods / 50; c.varied[plugin] < least && !slices.Contains(without, plugin) {
			t.Errorf("nodes differ by %s for %d of %d pods, want at least %d", plugin, c.varied[plugin], c.pods, least)
		}
	}
	if c.sure < c.pods*3/4 || c.single < c.pods/4 {
		t.Errorf("of %d of %d pods all is known, and one node is chosen for %d: want more", c.sure, c.pods, c.single)
	}
}

// ourScores are what this project says of the pods of a problem.
type ourScores struct {
	cluster *sched.Cluster
	options scores.Options
	like    *scores.Scorer
	claims  map[string]*resourcev1.ResourceClaim
	counted bool // devices that serve as a resource, for the last pod
}

func newOurScores(p *problem) *ourScores {
	o := &ourScores{cluster: sched.NewCluster(p.snapshot(), sched.Options{}), claims: map[string]*resourcev1.ResourceClaim{}}
	o.options.Devices = func(class *resourcev1.DeviceClass, node *corev1.Node) (int64, int64) {
		all, held := o.cluster.ClassDevices(class, node)
		o.counted = o.counted || all > 0
		return all, held
	}
	o.options.Images = scores.ImagesOf(p.snapshot().Nodes())
	for _, claim := range p.objects.Claims {
		o.claims[claim.Namespace+"/"+claim.Name] = claim
	}
	return o
}

// choose chooses among nodes, with what was found out about the pod before.
func (o *ourScores) choose(pod *corev1.Pod, fitting []string) scores.Choice {
	options := o.options
	o.counted = false
	options.Claims = o.claimsOf(pod)
	var nodes []scores.Candidate
	for _, name := range fitting {
		nodes = append(nodes, scores.Candidate{Node: inspect.NodeName(name), Allocations: o.allocations(name, options.Claims)})
	}
	slices.Reverse(nodes)
	o.like = scores.Prepare(o.cluster.Filters(), pod, options, o.like)
	return o.like.Choose(nodes)
}

func (o *ourScores) claimsOf(pod *corev1.Pod) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for _, entry := range pod.Spec.ResourceClaims {
		name := entry.ResourceClaimName
		for _, status := range pod.Status.ResourceClaimStatuses {
			if status.Name == entry.Name {
				name = status.ResourceClaimName
			}
		}
		if name != nil && o.claims[pod.Namespace+"/"+*name] != nil {
			out = append(out, o.claims[pod.Namespace+"/"+*name])
		}
	}
	return out
}

func (o *ourScores) allocations(name string, claims []*resourcev1.ResourceClaim) []resourcev1.AllocationResult {
	open := slices.DeleteFunc(slices.Clone(claims), func(c *resourcev1.ResourceClaim) bool { return c.Status.Allocation != nil })
	node, ok := o.cluster.Snapshot().Node(inspect.NodeName(name))
	if len(open) == 0 || !ok {
		return nil
	}
	result, err := o.cluster.Allocate(context.Background(), node, open, nil)
	if err != nil {
		return nil
	}
	return result.Allocations
}
