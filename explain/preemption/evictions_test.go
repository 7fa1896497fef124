package preemption

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// web is a running, ready pod with the label app=web.
func web(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: "n1"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

// webBudget is a budget of three such pods.
func webBudget(allowed, healthy, desired int32) *policyv1.PodDisruptionBudget {
	return &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "web", Generation: 1},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status:     policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: allowed, CurrentHealthy: healthy, DesiredHealthy: desired, ExpectedPods: 3},
	}
}

// TestEvictionRules: each rule of the API server decides about a pod that would be answered otherwise without
// it.
func TestEvictionRules(t *testing.T) {
	unready := func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse }
	always, ifHealthy := policyv1.AlwaysAllow, policyv1.IfHealthyBudget
	none := func(*policyv1.PodDisruptionBudget) {}
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Status.Phase = phase } }
	nothing := func(*corev1.Pod) {}
	for name, test := range map[string]struct {
		pod     func(*corev1.Pod)
		budget  *policyv1.PodDisruptionBudget
		change  func(*policyv1.PodDisruptionBudget)
		want    Answer
		message string
	}{
		"allowed":       {nothing, webBudget(1, 3, 2), none, Granted, ""},
		"none allowed":  {nothing, webBudget(0, 2, 2), none, Denied, ""},
		"pending":       {phase(corev1.PodPending), webBudget(0, 2, 2), none, Granted, ""},
		"succeeded":     {phase(corev1.PodSucceeded), webBudget(0, 2, 2), none, Granted, ""},
		"failed":        {phase(corev1.PodFailed), webBudget(0, 2, 2), none, Granted, ""},
		"without phase": {phase(""), webBudget(0, 2, 2), none, Denied, ""},
		"being deleted": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, webBudget(0, 2, 2), none, Granted, ""},
		"other labels":  {func(p *corev1.Pod) { p.Labels = nil }, webBudget(0, 2, 2), none, Granted, ""},
		"elsewhere":     {func(p *corev1.Pod) { p.Namespace = "other" }, webBudget(0, 2, 2), none, Granted, ""},
		"empty selector": {func(p *corev1.Pod) { p.Labels = nil }, webBudget(0, 2, 2), func(b *policyv1.PodDisruptionBudget) {
			b.Spec.Selector = &metav1.LabelSelector{}
		}, Denied, ""},
		"no selector":         {nothing, webBudget(0, 2, 2), func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil }, Granted, ""},
		"unready, always":     {unready, webBudget(0, 1, 2), func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = &always }, Granted, ""},
		"unready, healthy":    {unready, webBudget(0, 2, 2), none, Granted, ""},
		"unready, said":       {unready, webBudget(0, 2, 2), func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = &ifHealthy }, Granted, ""},
		"unready, too few":    {unready, webBudget(0, 1, 2), none, Denied, ""},
		"unready, none asked": {unready, webBudget(0, 0, 0), none, Denied, ""},
		"unready, unseen":     {unready, webBudget(0, 2, 2), func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }, Granted, ""},
		"changed": {nothing, webBudget(1, 3, 2), func(b *policyv1.PodDisruptionBudget) { b.Generation = 2 }, Unsure,
			"budget ml/web was made or changed, and its pods are not counted yet"},
		"new": {nothing, webBudget(1, 3, 2), func(b *policyv1.PodDisruptionBudget) {
			b.Generation, b.Status = 0, policyv1.PodDisruptionBudgetStatus{}
		}, Unsure, "budget ml/web was made or changed, and its pods are not counted yet"},
		"newer": {nothing, webBudget(1, 3, 2), func(b *policyv1.PodDisruptionBudget) {
			inspect.KeepNewer(b, []byte(`{"spec":{"quorum":2}}`))
		}, Unsure, "field spec.quorum of PodDisruptionBudget ml/web is newer than this program"},
		"less than none": {nothing, webBudget(-1, 1, 2), none, Refused, "budget ml/web allows less than none, which the API server refuses"},
		"too many granted": {nothing, webBudget(1, 3, 2), func(b *policyv1.PodDisruptionBudget) {
			b.Status.DisruptedPods = map[string]metav1.Time{}
			for i := range 2001 {
				b.Status.DisruptedPods[fmt.Sprint(i)] = metav1.Time{}
			}
		}, Refused, "budget ml/web has granted 2001 evictions that are not confirmed, and the API server refuses more"},
		"not counted": {nothing, webBudget(0, 3, 2), func(b *policyv1.PodDisruptionBudget) {
			b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "found no\ncontrollers"}}
		}, Denied, ""},
		"of nobody": {nothing, webBudget(0, 0, 0), func(b *policyv1.PodDisruptionBudget) { b.Status.ExpectedPods = 0 }, Unsure,
			"budget ml/web counts no pods: they are new, or no controller has them"},
	} {
		pod := web("web-0")
		test.pod(pod)
		test.change(test.budget)
		answer, why := NewEvictions(inspect.New(inspect.Objects{Budgets: []*policyv1.PodDisruptionBudget{test.budget}}, inspect.Config{})).Ask(pod)
		message := ""
		if why != nil {
			message = why.Message
		}
		if answer != test.want || message != test.message || why != nil && why.Open != (answer == Unsure) {
			t.Errorf("%s: %d %q, want %d %q", name, answer, message, test.want, test.message)
		}
	}
}

// TestNotCounted: a budget whose pods cannot be counted lets none go, however many are ready, and for ever
// where they are those of a Job.
func TestNotCounted(t *testing.T) {
	job := []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: "train", Controller: new(true)}}
	least := intstr.FromInt32(1)
	for name, test := range map[string]struct {
		owners []metav1.OwnerReference
		least  *intstr.IntOrString
		open   bool
	}{"of a job": {job, nil, false}, "of nobody": {nil, nil, true}, "of a job, by a number": {job, &least, true}} {
		b, pod, other := webBudget(0, 0, 0), web("web-0"), web("web-1")
		b.Spec.MinAvailable, pod.OwnerReferences = test.least, test.owners
		b.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "no\nscale"}}
		e := NewEvictions(inspect.New(inspect.Objects{Pods: []*corev1.Pod{pod, other}, Budgets: []*policyv1.PodDisruptionBudget{b}}, inspect.Config{}))
		e.Ready(other)
		answer, _ := e.Ask(pod)
		held, always := e.Held(pod)
		if answer != Denied || !always || held.Open != test.open || held.Message != "budget ml/web allows none as the disruption controller cannot count its pods: no scale" {
			t.Errorf("%s: %d, %+v, %t", name, answer, held, always)
		}
	}
}

// TestLater: what a budget allows is between what it is once all that ended are counted, and once all that
// found nodes are ready.
func TestLater(t *testing.T) {
	fresh, waits, sick := web("web-3"), web("web-3"), web("web-4")
	fresh.Status, sick.Status.Conditions, waits.Spec.NodeName, waits.Status = corev1.PodStatus{}, nil, "", corev1.PodStatus{}
	other := web("web-5")
	other.Labels = nil
	failed := webBudget(0, 3, 2)
	failed.Status.Conditions = []metav1.Condition{{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: "no scale"}}
	many := webBudget(40, 42, 2)
	for name, test := range map[string]struct {
		budget *policyv1.PodDisruptionBudget
		before []*corev1.Pod
		now    []*corev1.Pod
		ended  []*corev1.Pod
		next   *corev1.Pod
		want   string
	}{
		"one ended":                {webBudget(1, 3, 2), nil, nil, []*corev1.Pod{web("web-0")}, web("web-1"), "[0 1]"},
		"more than were allowed":   {webBudget(1, 3, 2), nil, nil, []*corev1.Pod{web("web-0"), web("web-1")}, web("web-2"), "[0 1]"},
		"one that was not ready":   {webBudget(1, 3, 2), nil, nil, []*corev1.Pod{sick}, web("web-1"), "[]"},
		"another one found a node": {webBudget(1, 3, 2), []*corev1.Pod{waits}, []*corev1.Pod{fresh}, nil, web("web-1"), "[1 2]"},
		"too few, and one more":    {webBudget(0, 1, 2), nil, []*corev1.Pod{fresh}, nil, web("web-1"), "[]"},
		"was not ready before":     {webBudget(1, 3, 2), []*corev1.Pod{sick}, []*corev1.Pod{sick}, nil, web("web-1"), "[]"},
		"about another pod":        {webBudget(1, 3, 2), nil, nil, []*corev1.Pod{web("web-0")}, other, "[]"},
		"another one ended":        {webBudget(1, 3, 2), nil, nil, []*corev1.Pod{other}, web("web-1"), "[]"},
		"not counted":              {failed, nil, nil, []*corev1.Pod{web("web-0")}, web("web-1"), "not known"},
		"too many ways":            {many, nil, nil, slices.Repeat([]*corev1.Pod{web("web-0")}, 16), web("web-1"), "not known"},
	} {
		at := func(pods []*corev1.Pod) *inspect.Snapshot {
			return inspect.New(inspect.Objects{Pods: pods, Budgets: []*policyv1.PodDisruptionBudget{test.budget}}, inspect.Config{})
		}
		ways, known := Later(at(test.before), at(test.now), test.ended, []*corev1.Pod{test.next})
		allowed := []int32{}
		for _, way := range ways {
			allowed = append(allowed, way[0].Status.DisruptionsAllowed)
		}
		got := fmt.Sprint(allowed)
		if !known {
			got = "not known"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}

// TestTwoBudgets: a pod that two budgets protect is never evicted, whatever they allow, unless it starts.
func TestTwoBudgets(t *testing.T) {
	other := webBudget(3, 3, 0)
	other.Name = "all"
	s := inspect.New(inspect.Objects{Budgets: []*policyv1.PodDisruptionBudget{webBudget(3, 3, 0), other}}, inspect.Config{})
	answer, why := NewEvictions(s).Ask(web("web-0"))
	if answer != Refused || why.Open || why.Message != "budgets ml/all and ml/web protect it, and the API server evicts no pod that more than one protects" {
		t.Errorf("%d %+v", answer, why)
	}
	starting := web("web-0")
	starting.Status.Phase = corev1.PodPending
	if answer, _ = NewEvictions(s).Ask(starting); answer != Granted {
		t.Errorf("%d", answer)
	}
}

// TestUnreadBudgets: where budgets were not read it is not known whether a pod goes.
func TestUnreadBudgets(t *testing.T) {
	forbidden := map[inspect.Resource]inspect.Health{inspect.Budgets: {State: inspect.Forbidden}}
	for name, test := range map[string]struct {
		config inspect.Config
		want   Answer
	}{
		"forbidden":           {inspect.Config{Health: forbidden}, Unsure},
		"of a server":         {inspect.Config{ServerVersion: "v1.37.2", Health: map[inspect.Resource]inspect.Health{inspect.Budgets: {State: inspect.NotRead}}}, Unsure},
		"files say all there": {inspect.Config{Health: map[inspect.Resource]inspect.Health{inspect.Budgets: {State: inspect.NotRead}}}, Granted},
	} {
		if answer, why := NewEvictions(inspect.New(inspect.Objects{}, test.config)).Ask(web("web-0")); answer != test.want || (why != nil) != (test.want == Unsure) {
			t.Errorf("%s: %d %+v", name, answer, why)
		}
	}
}

// TestTakeTurns: what a budget allows goes down with each pod that goes, and up with each that is ready.
func TestTakeTurns(t *testing.T) {
	of := func(b *policyv1.PodDisruptionBudget, pods ...*corev1.Pod) *Evictions {
		return NewEvictions(inspect.New(inspect.Objects{Budgets: []*policyv1.PodDisruptionBudget{b}, Pods: pods}, inspect.Config{}))
	}
	ask := func(e *Evictions, name string, want Answer, message string) {
		t.Helper()
		answer, why := e.Ask(web(name))
		if why == nil {
			why = &explain.Eviction{}
		}
		if answer != want || why.Message != message {
			t.Errorf("%s: %d %q, want %d %q", name, answer, why.Message, want, message)
		}
	}
	pods := []*corev1.Pod{web("web-0"), web("web-1"), web("web-2")}
	e := of(webBudget(1, 3, 2), pods...)
	ask(e, "web-0", Granted, "")
	ask(e, "web-1", Denied, "")
	e.Replaced(web("web-0"), true, true)
	ask(e, "web-1", Granted, "waits until a replacement of ml/web-0 is ready: budget ml/web allows 1 of 3")
	ask(e, "web-2", Denied, "")
	e.Replaced(web("web-1"), false, true)
	if held, always := e.Held(web("web-2")); always || held.Open || held.Message != "waits until a replacement of ml/web-1 is ready, which finds no node: budget ml/web allows 1 of 3" {
		t.Errorf("%t %+v", always, held)
	}

	e = of(webBudget(0, 1, 2), pods...) // one more than the missing one has to be ready
	e.Ready(web("web-8"))
	ask(e, "web-0", Denied, "")
	e.Ready(web("web-9"))
	ask(e, "web-0", Granted, "waits until ml/web-8, ml/web-9 are ready: budget ml/web allows 0 of 3")

	e = of(webBudget(2, 3, 1), pods...) // each lets one go
	ask(e, "web-0", Granted, "")
	ask(e, "web-1", Granted, "")
	e.Replaced(web("web-0"), true, true)
	e.Replaced(web("web-1"), true, true)
	ask(e, "web-2", Granted, "waits until a replacement of ml/web-0 is ready: budget ml/web allows 2 of 3")
	ask(e, "web-3", Granted, "waits until a replacement of ml/web-1 is ready: budget ml/web allows 2 of 3")

	e = of(webBudget(1, 5, 2), pods...) // of the five, two have been let go already
	ask(e, "web-0", Granted, "")
	e.Replaced(web("web-0"), true, true)
	ask(e, "web-1", Granted, "waits until a replacement of ml/web-0 is ready: budget ml/web allows 1 of 3")
	ask(e, "web-2", Denied, "")

	confirmed := webBudget(1, 3, 2) // by the time at which a pod is ready, those that went are counted
	confirmed.Status.DisruptedPods = map[string]metav1.Time{}
	for i := range 2000 {
		confirmed.Status.DisruptedPods[fmt.Sprint(i)] = metav1.Time{}
	}
	e = of(confirmed, pods...)
	ask(e, "web-0", Granted, "")
	ask(e, "web-1", Refused, "budget ml/web has granted 2001 evictions that are not confirmed, and the API server refuses more")
	e.Replaced(web("web-0"), true, true)
	ask(e, "web-2", Granted, "waits until a replacement of ml/web-0 is ready: budget ml/web allows 1 of 3")

	starting := web("web-2") // of which nobody knows
	starting.Status.Conditions = nil
	e = of(webBudget(1, 3, 2), pods...)
	ask(e, "web-0", Granted, "")
	e.Replaced(starting, true, true)
	ask(e, "web-1", Denied, "")
	e.Replaced(web("web-0"), false, false)
	if held, _ := e.Held(web("web-1")); !held.Open {
		t.Errorf("%+v", held)
	}
}

// TestHeld: a budget that allows none lets nobody go unless pods that are not ready may become so.
func TestHeld(t *testing.T) {
	unready := web("web-2")
	unready.Status.Conditions = nil
	ended := web("web-2")
	ended.Status.Phase = corev1.PodFailed
	for name, test := range map[string]struct {
		budget       *policyv1.PodDisruptionBudget
		pods         []*corev1.Pod
		open, always bool
		message      string
	}{
		"all have to be healthy": {webBudget(0, 3, 3), []*corev1.Pod{web("web-0"), web("web-1"), web("web-2")}, false, true,
			"budget ml/web needs 3 healthy pods of 3, so it never allows an eviction"},
		"one starts": {webBudget(0, 2, 2), []*corev1.Pod{web("web-0"), web("web-1"), unready}, true, false,
			"waits until 1 more pod of it is healthy, which is not known: budget ml/web needs 2 and has 2"},
		"one starts and two are needed": {webBudget(0, 1, 2), []*corev1.Pod{web("web-0"), unready, web("web-2")}, false, false,
			"budget ml/web needs 2 healthy pods and has 1, and nothing that is planned changes that"},
		"one is still made": {webBudget(0, 2, 2), []*corev1.Pod{web("web-0"), web("web-1")}, true, false,
			"waits until 1 more pod of it is healthy, which is not known: budget ml/web needs 2 and has 2"},
		"one has ended": {webBudget(0, 2, 2), []*corev1.Pod{web("web-0"), web("web-1"), ended}, true, false,
			"waits until 1 more pod of it is healthy, which is not known: budget ml/web needs 2 and has 2"},
		"all have to be healthy, one starts": {webBudget(0, 2, 3), []*corev1.Pod{web("web-0"), web("web-1"), unready}, false, true,
			"budget ml/web needs 3 healthy pods of 3, so it never allows an eviction"},
	} {
		s := inspect.New(inspect.Objects{Budgets: []*policyv1.PodDisruptionBudget{test.budget}, Pods: test.pods}, inspect.Config{})
		if got, always := NewEvictions(s).Held(web("web-0")); got.Open != test.open || always != test.always || got.Message != test.message {
			t.Errorf("%s: %t %t %s", name, got.Open, always, got.Message)
		}
	}
}
