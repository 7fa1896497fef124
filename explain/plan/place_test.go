package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// place places pods, and says where each goes.
func place(t *testing.T, o *inspect.Objects, pods ...*corev1.Pod) *explain.Plan {
	t.Helper()
	p, err := Place(t.Context(), explaintest.NewCluster(*o), pods, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPlace(t *testing.T) {
	important := explaintest.Worker("important", "eight")
	important.Spec.Priority = ptr.To(int32(100))
	old := explaintest.Worker("old", "eight")
	old.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	tests := []struct {
		name    string
		pods    []*corev1.Pod
		want    string
		certain bool
		joint   explain.JointVerdict
		message string // of Joint
	}{
		{"what fits", explaintest.Workers(2, "w", "four"), "w-0000→node-0000/2, w-0001→node-0000/2", true, explain.Feasible, ""},
		{
			"the most important first", []*corev1.Pod{explaintest.Worker("a", "eight"), explaintest.Worker("b", "eight"), important},
			"important→node-0000/2, a→node-0001/1, b waits Unsatisfiable DeviceInUse", true, explain.Infeasible, "in no order",
		},
		{"then the oldest", []*corev1.Pod{explaintest.Worker("a", "eight"), old}, "old→node-0000/2, a→node-0001/1", true, explain.Feasible, ""},
		{
			"who can go anywhere may take what others need", []*corev1.Pod{explaintest.Worker("any", "one"), explaintest.Worker("only", "old")},
			"any→node-0000/2, only waits Unknown NotEnoughDevices", false, explain.Feasible, "",
		},
		{"an error ends the attempt", []*corev1.Pod{explaintest.Worker("bad", "broken"), explaintest.Worker("good", "one")}, "good→node-0000/2, bad waits Invalid SelectorError", true, explain.JointUnknown, "kube-scheduler gives up on bad with an error"},
		{"what does not exist", []*corev1.Pod{explaintest.Worker("w", "none")}, "w waits Unsatisfiable ", true, explain.Infeasible, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := place(t, explaintest.SmallFarm(2), test.pods...)
			if got := explaintest.Ends(&p.Replay); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			if p.Replay.Certain != test.certain {
				t.Errorf("certain: %t, want %t (%v)", p.Replay.Certain, test.certain, p.Replay.Remarks)
			}
			if p.Joint.Verdict != test.joint || !strings.Contains(p.Joint.Message, test.message) {
				t.Errorf("together: %s (%s), want %s (%s)", p.Joint.Verdict, p.Joint.Message, test.joint, test.message)
			}
		})
	}
}

// TestPlaceInAnyOrder sees that a plan is certain only if it is in every order of the pods that were created
// in the same second.
func TestPlaceInAnyOrder(t *testing.T) {
	at := func(pod *corev1.Pod, second int) *corev1.Pod {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
		return pod
	}
	for _, test := range []struct {
		a, b    *corev1.Pod
		certain bool
	}{
		{at(explaintest.Worker("a", "eight"), 1), at(explaintest.Worker("b", "four"), 1), false},
		{at(explaintest.Worker("a", "eight"), 1), at(explaintest.Worker("b", "four"), 2), true},
		{at(explaintest.Worker("a", "eight"), 1), at(explaintest.Worker("b", "eight"), 1), false}, // one of them, and either may be it
		{at(explaintest.Worker("a", "eight"), 1), at(explaintest.Worker("b", "eight"), 2), true},
		{at(explaintest.Worker("a", "four"), 1), at(explaintest.Worker("b", "four"), 1), true},
		{at(explaintest.Worker("a", "one"), 1), at(explaintest.Worker("b", "four"), 1), true},
		{explaintest.Worker("a", "eight"), explaintest.Worker("b", "four"), true},
	} {
		if p := place(t, explaintest.SmallFarm(1), test.a, test.b); p.Replay.Certain != test.certain {
			t.Errorf("%s: certain %t, want %t", explaintest.Ends(&p.Replay), p.Replay.Certain, test.certain)
		}
	}
}

// TestPlaceTies: of equal pods it is certain how many find a node, and not which.
func TestPlaceTies(t *testing.T) {
	pods := explaintest.Workers(4, "w", "four")
	for _, pod := range pods {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	p := place(t, explaintest.SmallFarm(1), pods...)
	if ties := p.Replay.Ties; p.Replay.Certain || len(ties) != 1 || ties[0].Placed != 2 || len(ties[0].Pods) != 4 {
		t.Errorf("certain %t, ties %v, %s", p.Replay.Certain, ties, explaintest.Ends(&p.Replay))
	}
	for i := range p.Replay.Pending {
		if p.Replay.Pending[i].Verdict != explain.Unknown {
			t.Errorf("%s is left waiting for certain, and may be the first", p.Replay.Pending[i].Subject.Name)
		}
	}
	if !p.LeavesSome() {
		t.Error("none is said to be left waiting")
	}
}

func TestPlaceProposesWhatHelps(t *testing.T) {
	p := place(t, explaintest.SmallFarm(2), explaintest.Worker("any", "one"), explaintest.Worker("only", "old"))
	var kinds []explain.FixKind
	for _, f := range p.Changes {
		kinds = append(kinds, f.Kind)
	}
	if !slices.Contains(kinds, explain.PinPod) || !slices.Contains(kinds, explain.ChangeOrder) {
		t.Errorf("proposed: %v", kinds)
	}
	if got := p.Joint.Placed; len(got) != 2 || got[0].Subject.Name != "only" || got[0].Node != "node-0000" {
		t.Errorf("together: %v", got)
	}
}

// group is the pods of a group that are placed together or not at all.
func group(o *inspect.Objects, name string, n, need int, template string) []*corev1.Pod {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: name}}
	g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(need)}
	o.PodGroups = append(o.PodGroups, g)
	pods := explaintest.Workers(n, name, template)
	for _, pod := range pods {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To(name)}
	}
	o.Pods = append(o.Pods, pods...)
	return pods
}

// TestPlaceGroups sees that a group that is too large leaves nothing behind: who comes after it has its room.
func TestPlaceGroups(t *testing.T) {
	for need, want := range map[int]string{
		3: "late→node-0000/2, g-0000 waits Unsatisfiable PodGroupIncomplete, g-0001 waits Unsatisfiable PodGroupIncomplete, g-0002 waits Unsatisfiable PodGroupIncomplete",
		2: "g-0000→node-0000/2, g-0001→node-0001/1, g-0002 waits Unsatisfiable DeviceInUse, late waits Unsatisfiable DeviceInUse",
	} {
		o := explaintest.SmallFarm(2)
		pods := group(o, "g", 3, need, "eight")
		s := inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})})
		p, err := Place(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), append(pods, explaintest.Worker("late", "one")), Options{NoJoint: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := explaintest.Ends(&p.Replay); got != want {
			t.Errorf("%d needed: %s, want %s", need, got, want)
		}
	}
}

func TestPlacePreempts(t *testing.T) {
	o := explaintest.SmallFarm(1)
	running := explaintest.Worker("running", "one")
	running.Spec.NodeName, running.Spec.ResourceClaims, running.Spec.Priority = "node-0000", nil, ptr.To(int32(0))
	running.Spec.Containers[0].Resources.Claims = nil
	running.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = o.Nodes[0].Status.Allocatable[corev1.ResourceCPU]
	o.Pods = append(o.Pods, running)
	important := explaintest.Worker("important", "one")
	important.Spec.Priority = ptr.To(int32(100))
	p := place(t, o, important)
	if got := explaintest.Ends(&p.Replay); got != "important→node-0000/1" || !p.Replay.Certain {
		t.Errorf("%s, certain %t: %v", got, p.Replay.Certain, p.Replay.Remarks)
	}
	want := explain.GonePod{
		Subject: cycle.SubjectOf(running), Node: "node-0000", Cause: "preempted for ml/important", Then: explain.NeverComes,
	}
	if len(p.Replay.Preempted) != 1 || p.Replay.Preempted[0] != want {
		t.Errorf("ended %+v", p.Replay.Preempted)
	}
}

// TestPlacePreemptsWithBudgets: what a budget allows the second time depends on whether the disruption
// controller has seen by then that a pod has ended, and so may which pods are ended.
func TestPlacePreemptsWithBudgets(t *testing.T) {
	for running, test := range map[int]struct {
		ended string
		open  bool
	}{2: {"p2 p1", false}, 3: {"", true}} {
		o := explaintest.SmallFarm(1)
		sized := func(name string, priority int) *corev1.Pod {
			pod := explaintest.Worker(name, "one")
			pod.Spec.Priority, pod.Spec.ResourceClaims = ptr.To(int32(priority)), nil
			pod.Spec.Containers[0].Resources.Claims = nil
			pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
			return pod
		}
		o.Nodes[0].Status.Allocatable[corev1.ResourceCPU] = *resource.NewQuantity(int64(running), resource.DecimalSI)
		for i := range running {
			pod := sized(fmt.Sprint("p", i+1), i+1)
			pod.Spec.NodeName, pod.Labels = "node-0000", map[string]string{"app": "web"}
			pod.Status.Phase, pod.Status.Conditions = corev1.PodRunning, []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			o.Pods = append(o.Pods, pod)
		}
		budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "web"}}
		budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		budget.Status = policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: int32(running), DesiredHealthy: int32(running) - 1, ExpectedPods: int32(running)} //nolint:gosec // a few
		o.Budgets = append(o.Budgets, budget)
		p := place(t, o, sized("first", 20), sized("second", 10))
		var ended []string
		for i := range p.Replay.Preempted {
			ended = append(ended, p.Replay.Preempted[i].Subject.Name)
		}
		open := strings.Contains(strings.Join(p.Replay.Remarks, ";"), "which pods it ends for ml/second depends on what PodDisruptionBudgets allow by then")
		if got := strings.Join(ended, " "); got != test.ended || open != test.open {
			t.Errorf("of %d: ended %s: %v", running, got, p.Replay.Remarks)
		}
	}
}

// TestPlaceGroupsOfOneSecond: which of several groups of the same second comes first is not known, and that
// is what is said.
func TestPlaceGroupsOfOneSecond(t *testing.T) {
	o := explaintest.SmallFarm(2)
	pods := append(group(o, "g", 2, 2, "four"), group(o, "h", 3, 3, "four")...)
	for _, pod := range pods {
		pod.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	s := inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})})
	p, err := Place(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), pods, Options{NoJoint: true})
	if err != nil {
		t.Fatal(err)
	}
	if p.Replay.Certain || !strings.Contains(strings.Join(p.Replay.Remarks, ";"), "depends on the order") {
		t.Errorf("%s: certain %t, %v", explaintest.Ends(&p.Replay), p.Replay.Certain, p.Replay.Remarks)
	}
}

// TestPlaceBesideOthers sees that pods that wait already have their turn.
func TestPlaceBesideOthers(t *testing.T) {
	o := explaintest.SmallFarm(1)
	first, hopeless := explaintest.Worker("first", "four"), explaintest.Worker("hopeless", "eight")
	hopeless.Spec.NodeSelector = map[string]string{"no": "node"}
	o.Pods = append(o.Pods, first, hopeless)
	first.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, test := range []struct {
		template, want string
		joint          explain.JointVerdict
	}{
		{"eight", "asked waits Unsatisfiable NotEnoughDevices", explain.Feasible},
		{"four", "asked→node-0000/1", explain.Feasible},
	} {
		p, err := Place(t.Context(), explaintest.NewCluster(*o), []*corev1.Pod{explaintest.Worker("asked", test.template)}, Options{Others: o.Pods})
		if err != nil {
			t.Fatal(err)
		}
		if got := explaintest.Ends(&p.Replay); got != test.want || !p.Replay.Certain || p.Joint.Verdict != test.joint {
			t.Errorf("%s, certain %t, together %s; want %s", got, p.Replay.Certain, p.Joint.Verdict, test.want)
		}
		if len(p.Replay.Others) != 1 || p.Replay.Others[0].Name != "first" {
			t.Errorf("others: %v", p.Replay.Others)
		}
	}
}

func TestWaiting(t *testing.T) {
	bound, deleted, other := explaintest.Worker("bound", "one"), explaintest.Worker("deleted", "one"), explaintest.Worker("other", "one")
	bound.Spec.NodeName, other.Spec.SchedulerName = "node-0000", "volcano"
	deleted.DeletionTimestamp = &metav1.Time{}
	o := explaintest.SmallFarm(1)
	o.Pods = []*corev1.Pod{bound, deleted, other, explaintest.Worker("waits", "one")}
	pods, others := Waiting(explaintest.NewCluster(*o).Snapshot(), func(*corev1.Pod) bool { return true })
	if len(pods) != 1 || pods[0].Name != "waits" || len(others) != 1 {
		t.Errorf("%v and %d others", pods, len(others))
	}
}

// TestPlaceAgain sees that a plan is not certain where a pod that was left waiting fits after another one, if
// kube-scheduler puts that on one of its nodes: the spread of a allows n0 and n1 only once b is on n2, which
// a does not tolerate.
func TestPlaceAgain(t *testing.T) {
	labels := map[string]string{"app": "web"}
	pod := func(name, node string) *corev1.Pod {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels}}
		p.Spec.NodeName, p.Spec.Containers = node, []corev1.Container{{Name: "c", Image: "x"}}
		return p
	}
	o := &inspect.Objects{Pods: []*corev1.Pod{pod("r0", "n0"), pod("r1", "n1")}}
	for _, name := range []string{"n0", "n1", "n2"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}}}
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
		o.Nodes = append(o.Nodes, node)
	}
	o.Nodes[2].Spec.Taints = []corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}
	a, b := pod("a", ""), pod("b", "")
	a.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
	}}
	b.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	o.Pods = append(o.Pods, a, b)
	p := place(t, o, a, b)
	for i := range p.Replay.Pending {
		if got := p.Replay.Pending[i].Verdict; got != explain.Unknown {
			t.Errorf("%s is left waiting: %s, want Unknown", p.Replay.Pending[i].Subject.Name, got)
		}
	}
	if p.Replay.Certain {
		t.Errorf("%s: certain, though a fits if b is on n2", explaintest.Ends(&p.Replay))
	}
}

// TestPlaceSharedClaim: who comes second finds the claim as the scheduler left it, with the time of
// allocation that it asks for.
func TestPlaceSharedClaim(t *testing.T) {
	o := explaintest.SmallFarm(1)
	claim := &resourcev1.ResourceClaim{Spec: explaintest.Template("one", 1, "").Spec.Spec}
	claim.Namespace, claim.Name, claim.UID = "ml", "shared", "shared"
	o.Claims = append(o.Claims, claim)
	pods := explaintest.Workers(2, "w", "one")
	for _, pod := range pods {
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpus", ResourceClaimName: ptr.To(claim.Name)}}
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateDeviceBindingConditions: true, inspect.GateDeviceStatus: true})
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: features, ServerVersion: "v1.37.1"}), scheduler.Options{})
	p, err := Place(t.Context(), c, pods, Options{})
	if err != nil || len(p.Replay.Placed) != 2 || !p.Replay.Certain {
		t.Errorf("%s, certain %t, %v, %v", explaintest.Ends(&p.Replay), p.Replay.Certain, p.Replay.Remarks, err)
	}
}

// TestPlaceNominated: a pod for which room was made goes elsewhere once that room is taken.
func TestPlaceNominated(t *testing.T) {
	a, b := explaintest.Worker("a", "eight"), explaintest.Worker("b", "eight")
	for _, pod := range []*corev1.Pod{a, b} {
		pod.Status.NominatedNodeName = "node-0000"
	}
	p := place(t, explaintest.SmallFarm(2), a, b)
	if len(p.Replay.Placed) != 2 || p.Replay.Placed[1].Node != "node-0001" {
		t.Errorf("%+v, pending %+v", p.Replay.Placed, p.Replay.Pending)
	}
}
