package filters

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	sched "github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestPreemption asks kube-scheduler's DefaultPreemption and `explain pod` whether pods would be ended for
// others.
func TestPreemption(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := uint64(0); counts[refusedPod] < effort.Of(20_000, 1600); i++ {
		r := rand.New(rand.NewPCG(*seed+1, i))
		p := generate(r)
		if i%4 != 0 {
			p = generateOf(r, crowding)
		}
		prioritize(r, p)
		if i%4 != 0 {
			crowd(r, p)
		}
		admitted, err := p.admitted()
		if err != nil {
			t.Fatalf("problem %d: %v", i, err)
		}
		clusters, budgets := admitted.withBudgets(randomBudgets(r))
		withKubeScheduler(t, &admitted.objects, func(t *testing.T, s *kubeScheduler) {
			for _, pod := range admitted.asked {
				if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || waitsForController(pod) {
					continue
				}
				var chosen [2][]string
				for i := range clusters {
					theirs, err := s.Preempt(pod, [][]*policyv1.PodDisruptionBudget{nil, budgets}[i])
					if err != nil {
						t.Fatalf("pod %s: %v", pod.Name, err)
					}
					for _, outcome := range comparePreemption(t, theirs, clusters[i], pod) {
						counts[outcome]++
					}
					chosen[i] = theirs.Victims[theirs.Node]
				}
				if !slices.Equal(chosen[0], chosen[1]) {
					counts["otherwise with budgets"]++
				}
				if t.Failed() {
					t.Fatalf("problem %d\n%s", i, admitted.manifest())
				}
			}
		})
	}
	t.Log(counts)
	refused := counts[refusedPod]
	for outcome, one := range map[string]int{"determined": 5, "violating": 20, "determined, violating": 25, "otherwise with budgets": 25, "Possible": 4, "NotHelpful": 4, "Never": 20, "Underway": 400} {
		if counts[outcome] < refused/one {
			t.Errorf("%s: %d of %d pods", outcome, counts[outcome], refused)
		}
	}
	if unknown := counts["Unknown"]; unknown > refused/100 {
		t.Errorf("of %d of %d pods it is not known", unknown, refused)
	}
}

// beforeNow is before the clock of a bubble of synctest.
var beforeNow = time.Date(1999, time.December, 31, 0, 0, 0, 0, time.UTC)

// crowding are aspects in which a pod that ends may help others.
var crowding = []aspect{resources, resources, ports, spread, neighbours, diskVolumes, life}

// prioritize gives pods priorities, and times at which they started.
func prioritize(r *rand.Rand, p *problem) {
	for _, pod := range p.objects.Pods {
		pod.Spec.Priority = new(int32(r.IntN(4) * 10))
		if r.IntN(5) > 0 {
			pod.Status.StartTime = &metav1.Time{Time: beforeNow.Add(-time.Duration(r.IntN(6)) * time.Minute)}
		}
		if r.IntN(3) == 0 {
			if pod.Labels == nil {
				pod.Labels = map[string]string{}
			}
			pod.Labels["budget"] = fmt.Sprint(r.IntN(3))
		}
		if pod.DeletionTimestamp != nil && r.IntN(4) > 0 {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
		}
	}
	for _, pod := range p.asked {
		pod.Spec.Priority = new(int32(r.IntN(6) * 10))
		if r.IntN(12) == 0 {
			pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
		}
		if len(p.objects.Nodes) > 0 && pod.Spec.NodeName == "" && r.IntN(3) == 0 {
			pod.Status.NominatedNodeName = p.objects.Nodes[r.IntN(len(p.objects.Nodes))].Name
		}
	}
}

// crowd leaves nothing of nodes, so that pods have to end, of which budgets are for most.
func crowd(r *rand.Rand, p *problem) {
	ask := func(pod *corev1.Pod, cores int) {
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: *resource.NewQuantity(int64(cores), resource.DecimalSI)}
		pod.Spec.Containers[0].Resources.Limits, pod.Spec.Resources = nil, nil
	}
	used := map[string]int{}
	for _, pod := range p.objects.Pods {
		cores := 1 + r.IntN(2)
		used[pod.Spec.NodeName] += cores
		ask(pod, cores)
		if r.IntN(8) > 0 {
			pod.Labels = map[string]string{"budget": fmt.Sprint(r.IntN(3))}
		}
	}
	for _, node := range p.objects.Nodes {
		node.Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(used[node.Name]+r.IntN(2)), resource.DecimalSI)
		node.Status.Capacity = node.Status.Allocatable
	}
	for _, pod := range p.asked {
		ask(pod, 2+r.IntN(4))
		pod.Spec.Priority = new(int32(10 * (1 + r.IntN(5))))
	}
}

// randomBudgets are some for the pods that prioritize labels, of which two may be for one pod.
func randomBudgets(r *rand.Rand) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	selectors := []*metav1.LabelSelector{{MatchLabels: map[string]string{"budget": "0"}}, {MatchLabels: map[string]string{"budget": "1"}},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: metav1.LabelSelectorOpIn, Values: []string{"0", "2"}}}}, {},
		{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "budget", Operator: metav1.LabelSelectorOpDoesNotExist}}}}
	for i, selector := range selectors {
		if r.IntN(3) == 0 {
			continue
		}
		b := &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint(i)}, Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector},
			Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: int32(max(0, r.IntN(6)-3))}, //nolint:gosec // a few
		}
		if r.IntN(4) == 0 {
			b.Status.DisruptedPods = map[string]metav1.Time{fmt.Sprint("running-", r.IntN(4)): {Time: beforeNow}}
		}
		out = append(out, b)
	}
	return out
}

// withBudgets are the clusters of a problem without budgets, and with those.
func (p *problem) withBudgets(budgets []*policyv1.PodDisruptionBudget) ([2]*sched.Cluster, []*policyv1.PodDisruptionBudget) {
	with := *p
	with.objects.Budgets = budgets
	return [2]*sched.Cluster{sched.NewCluster(p.snapshot(), sched.Options{}), sched.NewCluster(with.snapshot(), sched.Options{})}, budgets
}

// refusedPod is among the outcomes of every pod that is refused.
const refusedPod = "refused"

// comparePreemption asks about a pod, and compares. It returns what came of it, and nothing if the pod is not
// refused.
func comparePreemption(t *testing.T, theirs kubePreemption, c *sched.Cluster, pod *corev1.Pod) []string {
	t.Helper()
	e, err := question.PodObject(context.Background(), c, pod, question.Options{})
	if err != nil {
		t.Fatalf("explaining pod %s: %v", pod.Name, err)
	}
	ours := e.Preemption
	if e.Verdict != explain.Unsatisfiable || ours == nil {
		return nil
	}
	if text := disagreePreemption(ours, theirs); text != "" {
		t.Errorf("pod %s, with %d budgets: %s\nours %+v\ntheirs %+v", pod.Name, len(c.Snapshot().Objects().Budgets), text, *ours, theirs)
	}
	out := []string{refusedPod, string(ours.Outcome)}
	if ours.Determined && ours.Outcome == explain.PreemptionPossible {
		out = append(out, "determined")
	}
	if theirs.Violations > 0 {
		out = append(out, "violating")
		if ours.Determined {
			out = append(out, "determined, violating")
		}
	}
	return out
}

// disagreePreemption is where we are wrong.
func disagreePreemption(ours *explain.Preemption, theirs kubePreemption) string {
	switch ours.Outcome {
	case explain.PreemptionNever, explain.PreemptionUnderway:
		if theirs.Ineligible == "" {
			return "it may preempt"
		}
		return ""
	case explain.PreemptionNotHelpful:
		if theirs.Ineligible != "" || theirs.Node != "" {
			return "it preempts, or waits"
		}
		return ""
	case explain.PreemptionUnknown:
		return ""
	case explain.PreemptionPossible:
	}
	if theirs.Ineligible != "" || theirs.Node == "" {
		return "it does not preempt"
	}
	for _, node := range ours.Nodes {
		if theirs.Victims[string(node)] == nil {
			return fmt.Sprintf("it cannot preempt on %s", node)
		}
	}
	known := !slices.ContainsFunc(ours.Obstacles, func(o explain.PreemptionObstacle) bool { return o.Kind == explain.NotKnown })
	if known && len(theirs.Victims) != len(ours.Nodes) {
		return "it has other nodes to choose from"
	}
	if !ours.Determined {
		return ""
	}
	names := make([]string, 0, len(ours.Victims))
	for _, ref := range ours.Victims {
		names = append(names, ref.String())
	}
	slices.Sort(names)
	want := slices.Sorted(slices.Values(theirs.Victims[theirs.Node]))
	if inspect.NodeName(theirs.Node) != ours.Node || !slices.Equal(names, want) {
		return "it preempts others"
	}
	return ""
}
