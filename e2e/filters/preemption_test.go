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
	refused := 0
	for i := uint64(0); refused < effort.Of(10_000, 800); i++ {
		r := rand.New(rand.NewPCG(*seed+1, i))
		p := generate(r)
		if i%4 != 0 {
			p = generateOf(r, crowding)
		}
		prioritize(r, p)
		admitted, err := p.admitted()
		if err != nil {
			t.Fatalf("problem %d: %v", i, err)
		}
		cluster := sched.NewCluster(admitted.snapshot(), sched.Options{})
		budgets := randomBudgets(r)
		withKubeScheduler(t, &admitted.objects, func(t *testing.T, s *kubeScheduler) {
			for _, pod := range admitted.asked {
				if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || waitsForController(pod) {
					continue
				}
				if outcome := comparePreemption(t, func(given []*policyv1.PodDisruptionBudget) (kubePreemption, error) { return s.Preempt(pod, given) }, cluster, pod, budgets); outcome != "" {
					refused++
					counts[outcome]++
				}
				if t.Failed() {
					t.Fatalf("problem %d\n%s", i, admitted.manifest())
				}
			}
		})
	}
	t.Log(counts)
	for outcome, one := range map[string]int{"Possible, determined": 40, "Possible, with budgets": 40, "Possible": 200, "NotHelpful": 4, "Never": 20, "Underway": 400} {
		if counts[outcome] < refused/one {
			t.Errorf("%s: %d of %d pods", outcome, counts[outcome], refused)
		}
	}
	if unknown := counts["Unknown"]; unknown > refused/10 {
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

func randomBudgets(r *rand.Rand) []*policyv1.PodDisruptionBudget {
	var out []*policyv1.PodDisruptionBudget
	for _, value := range []string{"0", "1", "2"} {
		if r.IntN(2) == 0 {
			out = append(out, &policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: value},
				Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"budget": value}}},
				Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(r.IntN(2))}, //nolint:gosec // 0 or 1
			})
		}
	}
	if r.IntN(3) == 0 {
		out = append(out, everyPod(int32(r.IntN(2)))) //nolint:gosec // 0 or 1
	}
	return out
}

// comparePreemption asks both sides about a pod. It returns what came of it, or "" if the pod is not refused.
func comparePreemption(t *testing.T, preempt func([]*policyv1.PodDisruptionBudget) (kubePreemption, error), c *sched.Cluster, pod *corev1.Pod, budgets []*policyv1.PodDisruptionBudget) string {
	t.Helper()
	e, err := question.PodObject(context.Background(), c, pod, question.Options{})
	if err != nil {
		t.Fatalf("explaining pod %s: %v", pod.Name, err)
	}
	ours := e.Preemption
	if e.Verdict != explain.Unsatisfiable || ours == nil {
		return ""
	}
	outcome := string(ours.Outcome)
	for _, given := range [][]*policyv1.PodDisruptionBudget{nil, budgets} {
		theirs, err := preempt(given)
		if err != nil {
			t.Fatalf("pod %s: %v", pod.Name, err)
		}
		if text := disagreePreemption(ours, theirs, given == nil); text != "" {
			t.Errorf("pod %s, with %d budgets: %s\nours %+v\ntheirs %+v", pod.Name, len(given), text, *ours, theirs)
		}
	}
	switch {
	case ours.Determined && !ours.Budgets && ours.Outcome == explain.PreemptionPossible:
		outcome += ", determined"
	case ours.Determined && ours.Outcome == explain.PreemptionPossible:
		outcome += ", with budgets"
	}
	return outcome
}

// disagreePreemption is where we are wrong. none: there are no budgets.
func disagreePreemption(ours *explain.Preemption, theirs kubePreemption, none bool) string {
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
	if !ours.Determined || ours.Budgets && !none {
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
