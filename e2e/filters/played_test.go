package filters

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

var played = flag.Int("played", 0, "how many random clusters TestPlayed plays; 0 means a sample")

// runsEach is how often a cluster is played: the scheduler chooses by chance, and pods of the same second
// come in any order.
const runsEach = 4

// TestPlayed lets kube-scheduler place all pods that wait in random clusters, and compares where they end
// with what was said before by a plan and a triage.
func TestPlayed(t *testing.T) {
	clusters := effort.Of(150, 25)
	if *played > 0 {
		clusters = *played
	}
	var c playedCounts
	for i := range uint64(clusters) { //nolint:gosec // it is not negative
		r := rand.New(rand.NewPCG(*seed, i))
		c.compare(t, generatePlayed(r), r, i)
	}
	t.Logf("%+v", c)
	if c.certain < clusters/4 || c.clear < clusters/20 || c.left < clusters/4 {
		t.Errorf("too little was tried: %+v", c)
	}
}

// playedCounts are what the test has seen: clusters of which the plan is certain, those in which nothing is
// stuck, those in which pods are left in some run, and those whose runs differ.
type playedCounts struct{ certain, clear, left, differ int }

// compare plays a cluster.
func (c *playedCounts) compare(t *testing.T, generated *problem, r *rand.Rand, number uint64) {
	t.Helper()
	p, err := generated.admitted()
	if err != nil {
		t.Fatalf("cluster %d: %v", number, err)
	}
	said := sayingOf(t, p)
	rest := p.objects
	rest.Pods = slices.DeleteFunc(slices.Clone(rest.Pods), func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "" })
	var first, left []string
	for run := range runsEach {
		nodes := kubePlay(t, &rest, inTurn(r, p.asked), nil)
		left = left[:0]
		for _, pod := range p.asked {
			if name := pod.Namespace + "/" + pod.Name; nodes[name] == "" {
				left = append(left, name)
			}
		}
		if run == 0 {
			first = slices.Clone(left)
		}
		if wrong := said.wrong(left); wrong != "" {
			t.Errorf("cluster %d, run %d: %s; placed are %v\nplan: %+v\n%s", number, run, wrong, nodes, said.plan.Replay, p.manifest())
			return
		}
		if !slices.Equal(first, left) {
			c.differ++
			break
		}
	}
	c.count(said, len(left) > 0)
}

func (c *playedCounts) count(s saying, left bool) {
	if s.plan.Replay.Certain {
		c.certain++
	}
	if s.clear() {
		c.clear++
	}
	if left {
		c.left++
	}
}

// inTurn are pods in the order in which they come into the queue: those of the same second in any.
func inTurn(r *rand.Rand, pods []*corev1.Pod) []*corev1.Pod {
	out := slices.Clone(pods)
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) })
	return out
}

// saying is what this project says of a cluster.
type saying struct {
	plan   *explain.Plan
	triage *explain.Triage
	pods   []*explain.Explanation
	asked  map[explain.Subject]bool
}

func sayingOf(t *testing.T, p *problem) saying {
	t.Helper()
	s := p.snapshot()
	c := sched.NewCluster(s, sched.Options{})
	by := replay.Choosing{Images: scores.ImagesOf(s.Nodes()), Workloads: &inspect.Selecting{}}
	waiting, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true })
	var out saying
	var err error
	if out.plan, err = plan.Place(t.Context(), c, waiting, plan.Options{Choosing: by}); err != nil {
		t.Fatal(err)
	}
	if out.triage, err = triage.Of(t.Context(), c, triage.Options{Untried: true}); err != nil {
		t.Fatal(err)
	}
	out.asked = map[explain.Subject]bool{}
	for _, pod := range waiting {
		e, err := question.PodObject(t.Context(), c, pod, question.Options{})
		if err == nil {
			err = plan.Queue(t.Context(), c, []*explain.Explanation{e}, replay.Choosing{})
		}
		if err != nil {
			t.Fatal(err)
		}
		out.pods, out.asked[e.Subject] = append(out.pods, e), true
	}
	return out
}

// clear reports whether nothing is stuck, nor may be.
func (s saying) clear() bool {
	return s.triage.Stuck()+s.triage.Undecided() == 0 && !s.triage.Unsure && !s.triage.Unseen && len(s.triage.Binding) == 0
}

// wrong says what was not true, if these pods are left waiting, or nothing.
func (s saying) wrong(left []string) string {
	waits := func(subject explain.Subject) bool { return slices.Contains(left, subject.FullName()) }
	replay := &s.plan.Replay
	if replay.Certain && len(left) != len(replay.Pending) {
		return fmt.Sprintf("the plan is certain, and %q are left waiting", left)
	}
	for i := range replay.Pending {
		if p := &replay.Pending[i]; p.Verdict != explain.Unknown && !waits(p.Subject) {
			return fmt.Sprintf("the plan leaves %s waiting (%s), and it is placed", p.Subject.FullName(), p.Verdict)
		}
	}
	for _, tie := range replay.Ties {
		if n := len(slices.DeleteFunc(slices.Clone(tie.Pods), waits)); n != tie.Placed {
			return fmt.Sprintf("of %v %d are placed", tie, n)
		}
	}
	if s.plan.LeavesSome() && len(left) == 0 {
		return "the plan leaves some waiting, and all are placed"
	}
	if s.clear() && len(left) > 0 {
		return fmt.Sprintf("nothing is said to be stuck, and %q are left waiting", left)
	}
	for _, e := range s.pods {
		if q := e.Queue; q != nil && (q.Verdict == explain.Allocatable && waits(e.Subject) || q.Verdict == explain.Unsatisfiable && !waits(e.Subject)) {
			return fmt.Sprintf("explain pod says of %s: %s (%s), and it waits: %t", e.Subject.FullName(), q.Verdict, e.Message, waits(e.Subject))
		}
	}
	for i := range s.triage.Causes {
		cause := &s.triage.Causes[i]
		for _, stuck := range cause.Subjects {
			if s.asked[stuck.Subject] && cause.Verdict != explain.Unknown && !waits(stuck.Subject) {
				return fmt.Sprintf("%s is said to be stuck (%s), and is placed", stuck.FullName(), cause.Message)
			}
		}
	}
	return ""
}
