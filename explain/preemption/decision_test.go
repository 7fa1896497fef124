package preemption_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// preemptionFor is what becomes of a pod.
func preemptionFor(t *testing.T, o inspect.Objects, pod *corev1.Pod) *explain.Preemption {
	t.Helper()
	return preemptionOf(t, explaintest.NewCluster(o).Snapshot(), pod)
}

// grouping are features with which the scheduler places groups of pods.
var grouping = inspect.DefaultFeatures(inspect.NewestMinor).With(map[inspect.Gate]bool{inspect.GateGenericWorkload: true})

func preemptionOf(t *testing.T, s *inspect.Snapshot, pod *corev1.Pod) *explain.Preemption {
	t.Helper()
	e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), pod, question.Options{})
	if err != nil || e.Preemption == nil {
		t.Fatalf("%+v, %v", e, err)
	}
	return e.Preemption
}

// victims are the names of pods that would end.
func victims(p *explain.Preemption) string {
	names := make([]string, len(p.Victims))
	for i, v := range p.Victims {
		names[i] = v.Name
	}
	return strings.Join(names, " ")
}

// preempted marks a pod as one that the scheduler has told to end.
func preempted(pod *corev1.Pod) {
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler}}
}

// TestUnderway: the scheduler waits for the pods that it has ended on the node that it nominated, and for no
// others.
func TestUnderway(t *testing.T) {
	for name, test := range map[string]struct {
		change func(o *inspect.Objects, pod *corev1.Pod)
		want   explain.PreemptionOutcome
		who    string
	}{
		"as it is":       {func(*inspect.Objects, *corev1.Pod) {}, explain.PreemptionUnderway, "p000-1 p000-2"},
		"not nominated":  {func(_ *inspect.Objects, pod *corev1.Pod) { pod.Status.NominatedNodeName = "" }, explain.PreemptionPossible, ""},
		"of a gone node": {func(_ *inspect.Objects, pod *corev1.Pod) { pod.Status.NominatedNodeName = "gone" }, explain.PreemptionPossible, ""},
		"not deleted": {func(o *inspect.Objects, _ *corev1.Pod) {
			o.Pods[1].DeletionTimestamp, o.Pods[2].DeletionTimestamp = nil, nil
		}, explain.PreemptionPossible, ""},
		"one deleted by somebody": {func(o *inspect.Objects, _ *corev1.Pod) { o.Pods[1].Status.Conditions = nil }, explain.PreemptionUnderway, "p000-2"},
		"one evicted": {func(o *inspect.Objects, _ *corev1.Pod) {
			o.Pods[1].Status.Conditions[0].Reason = "EvictionByEvictionAPI"
		}, explain.PreemptionUnderway, "p000-2"},
		"one no longer a target": {func(o *inspect.Objects, _ *corev1.Pod) {
			o.Pods[1].Status.Conditions[0].Status = corev1.ConditionFalse
		}, explain.PreemptionUnderway, "p000-2"},
		"one as important": {func(o *inspect.Objects, _ *corev1.Pod) { *o.Pods[1].Spec.Priority = 100 }, explain.PreemptionUnderway, "p000-2"},
		"the node is out of the question": {func(o *inspect.Objects, _ *corev1.Pod) {
			o.Nodes[0].Spec.Unschedulable = true
		}, explain.PreemptionNotHelpful, ""},
		"and a resource that is never enough": {func(_ *inspect.Objects, pod *corev1.Pod) {
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceMemory] = resource.MustParse("9Gi")
		}, explain.PreemptionNotHelpful, ""},
		"and something else is in the way, which is seen later": {func(_ *inspect.Objects, pod *corev1.Pod) {
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}},
			}}
		}, explain.PreemptionUnderway, "p000-1 p000-2"},
		"by a group that is not known": {func(o *inspect.Objects, _ *corev1.Pod) {
			o.Pods[1].Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		}, explain.PreemptionUnknown, ""},
		"never": {func(_ *inspect.Objects, pod *corev1.Pod) { pod.Spec.PreemptionPolicy = new(corev1.PreemptNever) }, explain.PreemptionNever, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, pod := fullNodes(1), podAsking("p", "", "4", 100)
			pod.Status.NominatedNodeName = "n000"
			preempted(o.Pods[1])
			preempted(o.Pods[2])
			test.change(&o, pod)
			p := preemptionOf(t, inspect.New(o, inspect.Config{Features: grouping}), pod)
			if p.Outcome != test.want || test.want == explain.PreemptionUnderway && (victims(p) != test.who || p.Node != "n000" || len(p.Nodes) != 1 || !p.Determined) {
				t.Errorf("%+v", p)
			}
			if test.want == explain.PreemptionUnknown && (len(p.Victims) > 0 || len(p.Obstacles) != 1 || p.Obstacles[0] != explain.PreemptionObstacle{Kind: explain.NotKnown, Nodes: 1}) {
				t.Errorf("%+v", p)
			}
		})
	}
}

// running is a pod that could end: its priority, and when it started, in minutes; it has not, if that is
// negative.
type running struct{ priority, minute int32 }

// nodesOf has a node for each list of pods, which leave nothing of it.
func nodesOf(lists ...[]running) inspect.Objects {
	o := fullNodes(len(lists))
	o.Pods = nil
	for i, list := range lists {
		for k, r := range list {
			pod := podAsking(fmt.Sprintf("p%d-%d", i, k), o.Nodes[i].Name, "1", r.priority)
			pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(int64(8000/len(list)), resource.DecimalSI)
			if r.minute >= 0 {
				at := metav1.NewTime(time.Date(2026, 1, 1, 0, int(r.minute), 0, 0, time.UTC))
				pod.Status.StartTime = &at
			}
			o.Pods = append(o.Pods, pod)
		}
	}
	return o
}

// TestChoice: of two nodes that have to be cleared, the scheduler takes the one with the lower highest
// priority, then with the lower sum of priorities, then with fewer pods, then where the first of the most
// important started later (pickOneNodeForPreemption).
func TestChoice(t *testing.T) {
	for name, test := range map[string]struct {
		other, taken []running
		tie          bool
	}{
		"highest priority":             {other: []running{{5, 1}, {1, 1}}, taken: []running{{4, 1}, {4, 1}}},
		"highest priority is not last": {other: []running{{1, 1}, {5, 1}}, taken: []running{{4, 1}, {4, 1}}},
		"sum":                          {other: []running{{5, 1}, {2, 1}}, taken: []running{{5, 1}, {1, 1}}},
		"sum counts pods":              {other: []running{{5, 1}, {-9, 1}}, taken: []running{{5, 1}}},
		"number":                       {other: []running{{5, 1}, {math.MinInt32, 1}}, taken: []running{{5, 1}}},
		"start":                        {other: []running{{5, 1}, {1, 9}}, taken: []running{{5, 2}, {1, 0}}},
		"first start":                  {other: []running{{5, 1}, {5, 9}}, taken: []running{{5, 7}, {5, 2}}},
		"not started":                  {other: []running{{5, 1}}, taken: []running{{5, -1}}},
		"neither started":              {other: []running{{5, -1}}, taken: []running{{5, -1}}, tie: true},
		"all alike":                    {other: []running{{5, 1}}, taken: []running{{5, 1}}, tie: true},
	} {
		for first, lists := range [][][]running{{test.taken, test.other}, {test.other, test.taken}} {
			p := preemptionFor(t, nodesOf(lists...), podAsking("p", "", "8", 100))
			if p.Outcome != explain.PreemptionPossible || len(p.Nodes) != 2 || p.Determined == test.tie || p.Budgets {
				t.Errorf("%s: %+v", name, p)
			}
			if want := inspect.NodeName(fmt.Sprintf("n%03d", first)); !test.tie && (p.Node != want || len(p.Victims) != len(test.taken)) {
				t.Errorf("%s: %s, want %s: %+v", name, p.Node, want, p)
			}
		}
	}
}

// TestSpared: pods are given back, the most important first; those that are as important as the pod never
// end. Which of two that are alike ends is chance.
func TestSpared(t *testing.T) {
	for name, test := range map[string]struct {
		pods       []running
		want       string
		determined bool
	}{
		"least important":       {[]running{{3, 1}, {1, 1}, {2, 1}, {4, 1}}, "p0-2 p0-1", true},
		"latest":                {[]running{{1, 3}, {1, 1}, {1, 2}, {1, 4}}, "p0-0 p0-3", true},
		"chance":                {[]running{{1, 1}, {1, 1}, {2, 1}, {1, 1}}, "", false},
		"as important":          {[]running{{100, 1}, {1, 1}, {2, 1}, {100, 1}}, "p0-2 p0-1", true},
		"too few that are less": {[]running{{100, 1}, {100, 1}, {100, 1}, {1, 1}}, "not", false},
		"none that is less":     {[]running{{100, 1}, {100, 1}, {101, 1}, {100, 1}}, "not", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := preemptionFor(t, nodesOf(test.pods), podAsking("p", "", "4", 100))
			if test.want == "not" {
				if p.Outcome != explain.PreemptionNotHelpful || len(p.Victims) > 0 {
					t.Errorf("%+v", p)
				}
				return
			}
			if p.Outcome != explain.PreemptionPossible || test.want != "" && victims(p) != test.want || len(p.Victims) != 2 || p.Determined != test.determined || p.Budgets {
				t.Errorf("%s: %+v", victims(p), p)
			}
		})
	}
}

// TestMiscounted: the scheduler counts wrongly while it takes pods away on trial, so that it ends pods of
// lower priority although what refuses the pod stays.
func TestMiscounted(t *testing.T) {
	port := func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{HostPort: 80, ContainerPort: 80, Protocol: corev1.ProtocolTCP}}
	}
	// spread lets one pod with the label into a zone, and two pods have it, of which the first is as
	// important as the pod.
	spread := func(selector *metav1.LabelSelector, labels map[string]string) func(*inspect.Objects, *corev1.Pod) {
		return func(o *inspect.Objects, pod *corev1.Pod) {
			o.Nodes[0].Labels = map[string]string{"zone": "a"}
			pod.Labels, o.Pods[0].Labels, o.Pods[1].Labels = labels, labels, labels
			pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
				MaxSkew: 1, MinDomains: ptr.To[int32](2), TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector,
			}}
		}
	}
	deleted := func(of int) func(*inspect.Objects, *corev1.Pod) {
		return func(o *inspect.Objects, pod *corev1.Pod) {
			spread(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, map[string]string{"app": "x"})(o, pod)
			o.Pods[of].DeletionTimestamp = new(metav1.Now())
		}
	}
	mount := func(pod *corev1.Pod, namespace string) {
		pod.Namespace = namespace
		pod.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
	}
	alone := func(namespace string) func(*inspect.Objects, *corev1.Pod) {
		return func(o *inspect.Objects, pod *corev1.Pod) {
			for _, ns := range []string{"ml", namespace} {
				o.Volumes = append(o.Volumes, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: ns}, Spec: corev1.PersistentVolumeSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}, ClaimRef: &corev1.ObjectReference{Namespace: ns, Name: "data"},
				}})
				o.VolumeClaims = append(o.VolumeClaims, &corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data", Annotations: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}},
					Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: ns, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod}},
				})
			}
			mount(pod, "ml")
			mount(o.Pods[0], "ml")
			mount(o.Pods[1], namespace)
		}
	}
	for name, test := range map[string]struct {
		change func(o *inspect.Objects, pod *corev1.Pod)
		want   string // "" where it does not help
	}{
		"a port of a pod that stays":          {func(o *inspect.Objects, pod *corev1.Pod) { port(pod); port(o.Pods[0]) }, ""},
		"and of one that ends":                {func(o *inspect.Objects, pod *corev1.Pod) { port(pod); port(o.Pods[0]); port(o.Pods[1]) }, "p000-1"},
		"spread, and the other one stays":     {spread(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}, map[string]string{"app": "x"}), ""},
		"and the lower one is deleted":        {deleted(1), "p000-1"},
		"the one that stays is deleted":       {deleted(0), "p000-1"},
		"a claim of a pod that stays":         {func(o *inspect.Objects, pod *corev1.Pod) { alone("x")(o, pod); o.Pods[1].Spec.Volumes = nil }, ""},
		"and its name in another namespace":   {alone("x"), "p000-1"},
		"a claim of a pod that stays and one": {func(o *inspect.Objects, pod *corev1.Pod) { alone("x")(o, pod); mount(o.Pods[1], "ml") }, "p000-1"},
	} {
		t.Run(name, func(t *testing.T) {
			o, pod := fullNodes(1), podAsking("p", "", "0", 100)
			for _, i := range []int{0, 2, 3} {
				o.Pods[i].Spec.Priority = ptr.To[int32](100)
			}
			test.change(&o, pod)
			p := preemptionFor(t, o, pod)
			vain := test.want != "" && name != "the one that stays is deleted" // which does not count in truth either
			if strings.Contains(p.Message, "will not fit there either") != vain {
				t.Errorf("%s", p.Message)
			}
			if (p.Outcome == explain.PreemptionPossible) != (test.want != "") || p.Outcome == explain.PreemptionUnknown || victims(p) != test.want {
				t.Errorf("%+v, want %q", p, test.want)
			}
		})
	}
}

// TestGroupPriority: a pod of a group ends by the priority of the group.
func TestGroupPriority(t *testing.T) {
	for _, test := range []struct {
		group int32 // that of the pod is 0, and of the pod that asks 100
		ended bool
		want  explain.PreemptionOutcome
	}{
		{100, false, explain.PreemptionNotHelpful}, {99, false, explain.PreemptionUnknown},
		{100, true, explain.PreemptionNotHelpful}, {99, true, explain.PreemptionUnderway},
	} {
		o, pod := fullNodes(1), podAsking("p", "", "4", 100)
		o.PodGroups = []*schedulingv1beta1.PodGroup{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "g"}, Spec: schedulingv1beta1.PodGroupSpec{Priority: &test.group}}}
		for _, other := range o.Pods {
			other.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
			if test.ended {
				preempted(other)
				pod.Status.NominatedNodeName = "n000"
			}
		}
		if p := preemptionOf(t, inspect.New(o, inspect.Config{Features: grouping}), pod); p.Outcome != test.want {
			t.Errorf("of a group of priority %d: %+v", test.group, p)
		}
	}
}

// TestUnreadPods: whom the scheduler would end is not known where there may be pods that are not seen, or one
// whose priority is not.
func TestUnreadPods(t *testing.T) {
	for name, test := range map[string]struct {
		health inspect.Health
		server string
		change func(*corev1.Pod)
		want   explain.PreemptionOutcome
	}{
		"read":                  {inspect.Health{State: inspect.Synced}, "v1.37.0", nil, explain.PreemptionPossible},
		"forbidden":             {inspect.Health{State: inspect.Forbidden, Message: "m"}, "v1.37.0", nil, explain.PreemptionUnknown},
		"of one namespace":      {inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, "v1.37.0", nil, explain.PreemptionUnknown},
		"not read of a server":  {inspect.Health{State: inspect.NotRead}, "v1.37.0", nil, explain.PreemptionUnknown},
		"not read, as of files": {inspect.Health{State: inspect.NotRead}, "", nil, explain.PreemptionPossible},
		"a class that is not known": {inspect.Health{State: inspect.Synced}, "v1.37.0", func(p *corev1.Pod) {
			p.Spec.Priority, p.Spec.PriorityClassName = nil, "high"
		}, explain.PreemptionUnknown},
	} {
		o := fullNodes(1)
		if test.change != nil {
			test.change(o.Pods[3])
		}
		s := inspect.New(o, inspect.Config{
			Features: inspect.DefaultFeatures(inspect.NewestMinor), ServerVersion: test.server, Health: map[inspect.Resource]inspect.Health{inspect.Pods: test.health},
		})
		e, err := question.PodObject(t.Context(), scheduler.NewCluster(s, scheduler.Options{}), podAsking("p", "", "4", 100), question.Options{})
		if err != nil || e.Preemption == nil || e.Preemption.Outcome != test.want {
			t.Errorf("%s: %+v, %v", name, e.Preemption, err)
		}
	}
}

// TestKeptAway: the anti-affinity of a pod that waits for room on the node counts on trial even if only pods
// that would end had made the scheduler look at such rules.
func TestKeptAway(t *testing.T) {
	apart := func(pod *corev1.Pod) {
		pod.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: &metav1.LabelSelector{}, TopologyKey: corev1.LabelHostname},
		}}}
	}
	for node, want := range map[string]explain.PreemptionOutcome{"n000": explain.PreemptionNotHelpful, "": explain.PreemptionPossible} {
		o := fullNodes(1)
		o.Nodes[0].Labels = map[string]string{corev1.LabelHostname: "n000"}
		apart(o.Pods[0])
		waits := podAsking("waits", "", "1", 100)
		apart(waits)
		waits.Status.NominatedNodeName = node
		o.Pods = append(o.Pods, waits)
		if p := preemptionFor(t, o, podAsking("p", "", "4", 100)); p.Outcome != want {
			t.Errorf("with a pod that waits for %q: %+v", node, p)
		}
	}
}
