package filters

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// What disagreements about a pod as a whole are about, in place of a plugin.
const (
	aVerdict filters.Plugin = "(verdict)"
	aCount   filters.Plugin = "(number of nodes)"
)

// TestVerdicts asks kube-scheduler and `explain pod` about random pods: no false yes, no false no.
func TestVerdicts(t *testing.T) {
	counts := compareMany(t, verdicts(askScheduler), effort.Of(5_000, 500))
	t.Log(counts)
	counts.checkUndecided(t)
}

// verdicts compares what is said of pods as a whole, but for those about which the scheduler has nothing to
// decide, because they are on a node or being deleted.
func verdicts(ask asker) comparer {
	return func(t *testing.T, p *problem) (comparison, error) {
		t.Helper()
		return compareVerdicts(t, ask, p)
	}
}

func compareVerdicts(t *testing.T, ask asker, p *problem) (comparison, error) {
	t.Helper()
	asked, theirs, err := ask(t, p)
	if err != nil {
		return comparison{}, err
	}
	snapshot := asked.snapshot()
	cluster, index := sched.NewCluster(snapshot, sched.Options{}), filters.NewIndex(snapshot, nil)
	var out comparison
	for i, pod := range asked.asked {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || waitsForController(pod) {
			continue
		}
		e, err := question.PodObject(context.Background(), cluster, pod, question.Options{})
		if err != nil {
			return comparison{}, fmt.Errorf("explaining pod %s: %w", pod.Name, err)
		}
		ours := answer{doubts: map[string]says{}}
		if e.Verdict == explain.Unknown {
			about := aVerdict
			if inGang(snapshot, pod) {
				about = filters.GangScheduling
			}
			ours.doubts[""] = says{about: reasonsOf(e)}
		} else {
			found := disagree(pod, theirs[i], e, undecided(index, pod))
			if refused := len(found) > 0 && found[0].theirs == ""; refused && inGang(snapshot, pod) {
				fits, err := gangMayFit(t, ask, asked, pod)
				if err != nil {
					return comparison{}, err
				}
				if !fits {
					found = nil
				}
			}
			out.disagreements = append(out.disagreements, found...)
		}
		out.theirs, out.ours = append(out.theirs, read(theirs[i])), append(out.ours, ours)
	}
	return out, nil
}

// inGang tells whether the scheduler decides about a pod together with others.
func inGang(s *inspect.Snapshot, pod *corev1.Pod) bool {
	return inspect.PodGroupOf(pod) != "" && s.Features().Enabled(gateGroups)
}

// waitsForController tells whether claims of a pod are to be made of templates. The scheduler waits for them;
// this project says so, and decides what will be when they are there.
func waitsForController(pod *corev1.Pod) bool {
	made := map[string]bool{}
	for _, status := range pod.Status.ResourceClaimStatuses {
		made[status.Name] = true
	}
	return slices.ContainsFunc(pod.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool { return c.ResourceClaimTemplateName != nil && !made[c.Name] })
}

// undecided is the number of nodes of which is not known whether the filters let a pod onto them.
func undecided(index *filters.Index, pod *corev1.Pod) int {
	prepared, out := index.Prepare(pod), 0
	for _, node := range index.Snapshot().Nodes() {
		if o := prepared.On(inspect.NodeName(node.Name)); len(o.Refusals) == 0 && len(o.Doubts) > 0 {
			out++
		}
	}
	return out
}

// disagree compares a verdict other than Unknown, and the number of nodes, of which some may be undecided.
func disagree(pod *corev1.Pod, theirs kubeAnswer, e *explain.Explanation, undecided int) []disagreement {
	passing, why := passing(theirs)
	d := disagreement{pod: pod.Name, plugin: aVerdict}
	if len(passing) == 0 {
		d.theirs = why
	}
	if e.Verdict != explain.Allocatable && e.Verdict != explain.Allocated {
		d.ours = e.Message
	}
	switch {
	case (d.theirs == "") != (d.ours == ""):
		return []disagreement{d}
	case e.Verdict == explain.Allocatable && (e.Nodes.Allocatable > len(passing) || e.Nodes.Allocatable+undecided < len(passing)):
		d.plugin, d.theirs, d.ours = aCount, fmt.Sprint(passing), fmt.Sprint(e.Nodes)
		return []disagreement{d}
	}
	return nil
}

// passing are the nodes onto which the scheduler lets a pod, or what it has against it.
func passing(a kubeAnswer) (nodes []string, why string) {
	if len(a.Everywhere) > 0 || aborts(a) {
		return nil, fmt.Sprint(a.Everywhere, a.Nodes)
	}
	var refusals []string
	for _, name := range slices.Sorted(maps.Keys(a.Nodes)) {
		if node := a.Nodes[name]; node.Passes {
			nodes = append(nodes, name)
		} else {
			refusals = append(refusals, name+": "+node.First)
		}
	}
	return nodes, strings.Join(refusals, ", ") + "."
}

// reasonsOf are why a verdict is Unknown.
func reasonsOf(e *explain.Explanation) string { return strings.Join(e.Partial, "; ") }
