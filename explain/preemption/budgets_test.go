package preemption_test

import (
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// budgetOf is a budget for pods with a label app.
func budgetOf(app string, allowed int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: app},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{app: "yes"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: allowed},
	}
}

// apps gives pods the labels of their budgets.
func apps(o inspect.Objects, of map[int][]string) inspect.Objects {
	for i, names := range of {
		o.Pods[i].Labels = map[string]string{}
		for _, name := range names {
			o.Pods[i].Labels[name] = "yes"
		}
	}
	return o
}

// TestBudgets: of four pods that leave nothing of a node two have to go, and pods that violate a budget are
// spared first, whatever their priority.
func TestBudgets(t *testing.T) {
	everything := budgetOf("a", 0)
	everything.Spec.Selector = &metav1.LabelSelector{}
	elsewhere, granted, odd, unseen, newer := budgetOf("a", 0), budgetOf("a", 0), budgetOf("a", 0), budgetOf("a", 0), budgetOf("a", 0)
	inspect.KeepNewer(newer, []byte(`{"spec":{"quorum":2}}`))
	elsewhere.Namespace = "other"
	granted.Status.DisruptedPods = map[string]metav1.Time{"p0-1": {}}
	odd.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Near"}}}
	unseen.Status = policyv1.PodDisruptionBudgetStatus{}
	priorities := []running{{3, 1}, {1, 1}, {2, 1}, {4, 1}}
	alike := []running{{1, 1}, {1, 1}, {1, 1}, {4, 1}}
	all := map[int][]string{0: {"a"}, 1: {"a"}, 2: {"a"}, 3: {"a"}}
	least := map[int][]string{1: {"a"}}
	synced, forbidden := inspect.Health{State: inspect.Synced}, inspect.Health{State: inspect.Forbidden}
	for name, test := range map[string]struct {
		pods                []running
		labels              map[int][]string
		budgets             []*policyv1.PodDisruptionBudget
		health              inspect.Health
		version             string
		want                string
		determined, unknown bool
	}{
		"none":                      {priorities, all, nil, synced, "", "p0-2 p0-1", true, false},
		"nothing is allowed":        {priorities, least, []*policyv1.PodDisruptionBudget{budgetOf("a", 0)}, synced, "", "p0-0 p0-2", true, false},
		"less than nothing":         {priorities, least, []*policyv1.PodDisruptionBudget{budgetOf("a", -2)}, synced, "", "p0-0 p0-2", true, false},
		"one is allowed":            {priorities, least, []*policyv1.PodDisruptionBudget{budgetOf("a", 1)}, synced, "", "p0-2 p0-1", true, false},
		"the first takes it":        {priorities, map[int][]string{1: {"a"}, 2: {"a"}}, []*policyv1.PodDisruptionBudget{budgetOf("a", 1)}, synced, "", "p0-0 p0-2", true, false},
		"of all":                    {priorities, all, []*policyv1.PodDisruptionBudget{budgetOf("a", 2)}, synced, "", "p0-3 p0-0", true, false},
		"all are protected":         {priorities, all, []*policyv1.PodDisruptionBudget{budgetOf("a", 0)}, synced, "", "p0-2 p0-1", true, false},
		"another namespace":         {priorities, least, []*policyv1.PodDisruptionBudget{elsewhere}, synced, "", "p0-2 p0-1", true, false},
		"granted already":           {priorities, least, []*policyv1.PodDisruptionBudget{granted}, synced, "", "p0-2 p0-1", true, false},
		"an invalid selector":       {priorities, least, []*policyv1.PodDisruptionBudget{odd}, synced, "", "p0-2 p0-1", true, false},
		"an empty selector":         {priorities, least, []*policyv1.PodDisruptionBudget{everything}, synced, "v1.37.2", "p0-2 p0-1", true, false},
		"no status yet":             {priorities, least, []*policyv1.PodDisruptionBudget{unseen}, synced, "", "p0-0 p0-2", false, true},
		"newer":                     {priorities, least, []*policyv1.PodDisruptionBudget{newer}, synced, "", "p0-0 p0-2", false, true},
		"no status yet, of others":  {priorities, map[int][]string{1: {"b"}}, []*policyv1.PodDisruptionBudget{unseen}, synced, "", "p0-2 p0-1", true, false},
		"forbidden":                 {priorities, least, nil, forbidden, "v1.37.2", "p0-2 p0-1", false, true},
		"forbidden, without labels": {priorities, nil, nil, forbidden, "v1.37.2", "p0-2 p0-1", true, false},
		"not read of a server":      {priorities, least, nil, inspect.Health{State: inspect.NotRead}, "v1.37.2", "p0-2 p0-1", false, true},
		"not read, as of files":     {priorities, least, nil, inspect.Health{State: inspect.NotRead}, "", "p0-2 p0-1", true, false},
		"of the namespace alone":    {priorities, least, nil, inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, "v1.37.2", "p0-2 p0-1", true, false},
		"of another alone":          {priorities, least, nil, inspect.Health{State: inspect.Narrowed, Namespaces: []string{"x"}}, "v1.37.2", "p0-2 p0-1", false, true},
		"one of equals":             {alike, map[int][]string{1: {"a"}}, []*policyv1.PodDisruptionBudget{budgetOf("a", 0)}, synced, "", "p0-0 p0-2", true, false},
		"two of equals, one may":    {alike, map[int][]string{1: {"a"}, 2: {"a"}}, []*policyv1.PodDisruptionBudget{budgetOf("a", 1)}, synced, "", "", false, false},
		"the second of two budgets": {priorities, map[int][]string{1: {"a", "b"}}, []*policyv1.PodDisruptionBudget{budgetOf("a", 1), budgetOf("b", 0)}, synced, "", "p0-0 p0-2", true, false},
		"from which it takes is chance": {priorities, map[int][]string{0: {"a", "b"}, 2: {"b"}, 1: {"c"}}, []*policyv1.PodDisruptionBudget{budgetOf("a", 0), budgetOf("b", 1), budgetOf("c", 0)},
			synced, "", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := apps(nodesOf(test.pods), test.labels)
			o.Budgets = test.budgets
			s := inspect.New(o, inspect.Config{
				Features: inspect.DefaultFeatures(inspect.NewestMinor), ServerVersion: test.version,
				Health: map[inspect.Resource]inspect.Health{inspect.Pods: synced, inspect.Budgets: test.health},
			})
			e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), podAsking("p", "", "4", 100), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			p := e.Preemption
			if p.Outcome != explain.PreemptionPossible || test.want != "" && victims(p) != test.want || p.Determined != test.determined || p.Budgets != test.unknown {
				t.Errorf("%s: %+v", victims(p), p)
			}
		})
	}
}

// TestBudgetsChooseTheNode: the node with the fewest victims that violate a budget is taken, whatever their
// priority; how many there are is known if all of the pods that are alike have to go.
func TestBudgetsChooseTheNode(t *testing.T) {
	for name, test := range map[string]struct {
		other, taken []running
		labels       map[int][]string // of the pods of the other node, and then of the taken one
		allowed      int32
	}{
		"none of more important": {[]running{{1, 1}}, []running{{5, 1}}, map[int][]string{0: {"a"}}, 0},
		"fewer":                  {[]running{{1, 1}, {1, 2}}, []running{{5, 1}, {5, 2}}, map[int][]string{0: {"a"}, 1: {"a"}, 2: {"a"}}, 0},
		"fewer than are allowed": {[]running{{1, 1}, {1, 2}}, []running{{5, 1}, {5, 2}}, map[int][]string{0: {"a"}, 1: {"a"}, 2: {"a"}}, 1},
		"alike":                  {[]running{{1, 1}, {1, 1}}, []running{{5, 1}, {5, 1}}, map[int][]string{0: {"a"}, 1: {"a"}, 2: {"a"}}, 1},
		"as many":                {[]running{{5, 1}}, []running{{1, 1}}, map[int][]string{0: {"a"}, 1: {"a"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := apps(nodesOf(test.other, test.taken), test.labels)
			o.Budgets = []*policyv1.PodDisruptionBudget{budgetOf("a", test.allowed)}
			p := preemptionFor(t, o, podAsking("p", "", "8", 100))
			if want := inspect.NodeName(fmt.Sprintf("n%03d", 1)); p.Node != want || !p.Determined || len(p.Nodes) != 2 {
				t.Errorf("%s: %+v", victims(p), p)
			}
		})
	}
}
