package plan

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestRivals: of the pods of other schedulers only those that wait take something, and only for one that
// waits is the answer a guess.
func TestRivals(t *testing.T) {
	for name, test := range map[string]struct {
		change func(pod *corev1.Pod)
		want   bool
	}{
		"waits":                 {func(*corev1.Pod) {}, true},
		"of the default, named": {func(p *corev1.Pod) { p.Spec.SchedulerName = corev1.DefaultSchedulerName }, false},
		"of the default":        {func(p *corev1.Pod) { p.Spec.SchedulerName = "" }, false},
		"has a node":            {func(p *corev1.Pod) { p.Spec.NodeName = "node-0000" }, false},
		"is being deleted":      {func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1, 0))) }, false},
		"has ended":             {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, false},
	} {
		o := explaintest.SmallFarm(1)
		other := ofVolcano(explaintest.Worker("v", "one"))
		test.change(other)
		o.Pods = append(o.Pods, other)
		out, err := otherSchedulers(t.Context(), explaintest.NewCluster(*o), []*corev1.Pod{explaintest.Worker("p", "one")})
		if got := strings.Join(out, ";"); err != nil || (got != "") != test.want || test.want && !strings.Contains(got, "ml/v waits for another scheduler") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for node, want := range map[string]int{"": 1, "node-0000": 0} {
		asked := ofVolcano(explaintest.Worker("v", "one"))
		asked.Spec.NodeName = node
		if out, err := otherSchedulers(t.Context(), explaintest.NewCluster(*explaintest.SmallFarm(1)), []*corev1.Pod{asked}); err != nil || len(out) != want {
			t.Errorf("asked about, on node %q: %q, %v", node, out, err)
		}
	}
}

// TestUnknownTurns: pods of a class whose priority is not known may come before others or after them, but not
// before each other.
func TestUnknownTurns(t *testing.T) {
	pod := func(name, class string, priority *int32, node string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
		p.Spec.PriorityClassName, p.Spec.Priority, p.Spec.NodeName = class, priority, node
		return p
	}
	five := ptr.To[int32](5)
	for name, test := range map[string]struct {
		pods []*corev1.Pod
		want string // whose turn is not known
	}{
		"none":                        {nil, ""},
		"without a class":             {[]*corev1.Pod{pod("a", "", nil, ""), pod("b", "", five, "")}, ""},
		"all of one class":            {[]*corev1.Pod{pod("a", "x", nil, ""), pod("b", "x", nil, "")}, ""},
		"of two classes":              {[]*corev1.Pod{pod("a", "x", nil, ""), pod("b", "y", nil, "")}, "ml/a, ml/b"},
		"of a class and of none":      {[]*corev1.Pod{pod("a", "", nil, ""), pod("b", "y", nil, "")}, "ml/b"},
		"one is known":                {[]*corev1.Pod{pod("a", "x", five, ""), pod("b", "x", nil, "")}, "ml/b"},
		"the other is known":          {[]*corev1.Pod{pod("a", "x", nil, ""), pod("b", "x", five, "")}, "ml/a"},
		"all are known":               {[]*corev1.Pod{pod("a", "x", five, ""), pod("b", "y", five, "")}, ""},
		"what is known is on a node":  {[]*corev1.Pod{pod("a", "x", nil, ""), pod("b", "x", nil, ""), pod("c", "y", five, "n")}, ""},
		"what is asked is on a node":  {[]*corev1.Pod{pod("a", "x", five, ""), pod("b", "y", nil, "n"), pod("c", "z", five, "")}, ""},
		"different, and one is known": {[]*corev1.Pod{pod("a", "x", five, ""), pod("b", "y", nil, "")}, "ml/b"},
	} {
		got := strings.Join(unknownTurns(explaintest.NewCluster(*explaintest.SmallFarm(1)).Snapshot(), test.pods), ";")
		if (got == "") != (test.want == "") || test.want != "" && !strings.Contains(got, "the priority class of "+test.want+" is not") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestQuotaOfWhatIsMade: where quotas could not be read, only pods whose claims are still to be made are in
// doubt.
func TestQuotaOfWhatIsMade(t *testing.T) {
	health := map[inspect.Resource]inspect.Health{inspect.Quotas: {State: inspect.Forbidden}}
	s := scheduler.NewCluster(inspect.New(*explaintest.SmallFarm(1), inspect.Config{Health: health}), scheduler.Options{}).Snapshot()
	bare, bound := explaintest.Worker("bare", "one"), explaintest.Worker("bound", "one")
	bare.Spec.ResourceClaims, bound.Spec.NodeName = nil, "node-0000"
	if got := shortOfQuota(s, []*corev1.Pod{bare, bound}); got != nil {
		t.Errorf("%q", got)
	}
	if got := shortOfQuota(s, []*corev1.Pod{bare, explaintest.Worker("w", "one"), bound}); len(got) != 1 || !strings.Contains(got[0], "the claims of ml/w from") {
		t.Errorf("%q", got)
	}
}
