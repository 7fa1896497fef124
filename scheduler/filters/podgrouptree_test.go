package filters

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// withComposites adds CompositePodGroups to groups that say of which they are part. A text is a name, how
// many children it needs, if it is a gang, and of which it is part: "all 2", "half 1 all", "half all".
func withComposites(o inspect.Objects, texts ...string) inspect.Objects {
	for _, text := range texts {
		g := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ml"}}
		var parent string
		if n, _ := fmt.Sscanf(text, "%s %d %s", &g.Name, new(int), &parent); n > 1 {
			g.Spec.SchedulingPolicy.Gang = &schedulingv1alpha3.CompositeGangSchedulingPolicy{}
			_, _ = fmt.Sscanf(text, "%s %d", new(string), &g.Spec.SchedulingPolicy.Gang.MinGroupCount)
		} else {
			_, _ = fmt.Sscanf(text, "%s %s", new(string), &parent)
		}
		if parent != "" {
			g.Spec.ParentCompositePodGroupName = &parent
		}
		o.CompositePodGroups = append(o.CompositePodGroups, g)
	}
	return o
}

// groupsIn are groups train, eval and so on, of which each needs so many pods, in a CompositePodGroup.
func groupsIn(parent string, need map[string]int32, changes ...func(*schedulingv1beta1.PodGroup)) inspect.Objects {
	var out inspect.Objects
	for _, name := range []string{"eval", "train"} {
		needed, ok := need[name]
		if !ok {
			continue
		}
		g := train(needed, changes...).PodGroups[0]
		g.Name, g.Spec.ParentCompositePodGroupName = name, &parent
		out.PodGroups = append(out.PodGroups, g)
	}
	return out
}

func evals(texts string, changes ...func(*corev1.Pod)) []*corev1.Pod {
	out := podsOf(texts)
	for _, pod := range out {
		inGroup("eval")(pod)
		for _, change := range changes {
			change(pod)
		}
	}
	return out
}

// TestPodGroupTrees is about pods of CompositePodGroups in 1.38, with whose scheduler make filters-138
// compares.
func TestPodGroupTrees(t *testing.T) {
	both := map[string]int32{"train": 1, "eval": 2}
	w0 := podOf("w0", inGroup("train"))
	ofEval := func(change func(*schedulingv1beta1.PodGroup)) inspect.Objects {
		o := withComposites(groupsIn("all", both), "all 2")
		change(o.PodGroups[0])
		return o
	}
	ofAll := func(change func(*schedulingv1alpha3.CompositePodGroup)) inspect.Objects {
		o := withComposites(groupsIn("all", both), "all 2")
		change(o.CompositePodGroups[0])
		return o
	}
	for name, c := range map[string]neighbourCase{
		"missing":           {groups: groupsIn("all", both), pods: evals("e0, e1"), want: "PodGroupIncomplete missing"},
		"parent missing":    {groups: withComposites(groupsIn("half", both), "half 2 all"), pods: evals("e0, e1"), want: "PodGroupIncomplete missing"},
		"unread":            {groups: withComposites(groupsIn("all", both), "all 2"), config: forbidden(inspect.CompositePodGroups), pods: evals("e0, e1"), want: "? unread"},
		"siblings unread":   {groups: withComposites(groupsIn("all", both), "all 2"), config: forbidden(inspect.PodGroups), pods: evals("e0, e1"), want: "? unread"},
		"a circle":          {groups: withComposites(groupsIn("all", both), "all 2 half", "half 1 all"), pods: evals("e0, e1"), want: "PodGroupInvalid depth"},
		"too deep":          {groups: withComposites(groupsIn("d", both), "a 1", "b 1 a", "c 1 b", "d 2 c"), pods: evals("e0, e1"), want: "PodGroupInvalid depth"},
		"deep enough":       {groups: withComposites(groupsIn("c", both), "a 1", "b 1 a", "c 2 b"), pods: evals("e0, e1"), want: "? together"},
		"deep elsewhere":    {groups: withComposites(groupsIn("a", both), "a 3", "b 1 a", "c 1 b", "d 1 c"), pods: evals("e0, e1"), want: "PodGroupIncomplete groups; PodGroupInvalid depth"},
		"whole":             {groups: withComposites(groupsIn("all", both), "all 2"), pods: evals("e0, e1"), want: "? together"},
		"others placed":     {groups: withComposites(groupsIn("all", both), "all 2"), pods: evals("e0@n, e1@n")},
		"in parts":          {groups: withComposites(groupsIn("all", both), "all 1"), pods: evals("e0, e1"), want: "? composite"},
		"no gang":           {groups: withComposites(groupsIn("all", both), "all"), pods: evals("e0, e1"), want: "? composite"},
		"pods to spare":     {groups: withComposites(groupsIn("all", both), "all 2"), pods: evals("e0, e1, e2"), want: "? composite"},
		"too few of it":     {groups: withComposites(groupsIn("all", map[string]int32{"train": 2, "eval": 2}), "all 2"), pods: evals("e0, e1"), want: "PodGroupIncomplete pods"},
		"too few of other":  {groups: withComposites(groupsIn("all", both), "all 2"), pods: evals("e0"), want: "PodGroupIncomplete groups"},
		"other not needed":  {groups: withComposites(groupsIn("all", both), "all 1"), pods: evals("e0"), want: "? composite"},
		"other leaving":     {groups: withComposites(groupsIn("all", both), "all 2"), pods: append(evals("e0"), evals("e1", leaving)...), want: "PodGroupIncomplete groups"},
		"other gated":       {groups: withComposites(groupsIn("all", both), "all 2"), pods: append(evals("e0"), evals("e1", quotaGated)...), want: "PodGroupIncomplete gated"},
		"other scheduler":   {groups: withComposites(groupsIn("all", both), "all 2"), pods: append(evals("e0"), evals("e1@n", func(p *corev1.Pod) { p.Spec.SchedulerName = "mine" })...), want: "PodGroupInvalid scheduler"},
		"priority of pod":   {groups: withComposites(groupsIn("all", both), "all 2"), pods: append(evals("e0"), evals("e1", withPriority(3))...), want: "PodGroupInvalid priority"},
		"priority of group": {groups: ofEval(func(g *schedulingv1beta1.PodGroup) { g.Spec.Priority = ptr.To[int32](3) }), pods: evals("e0, e1"), want: "PodGroupInvalid priority"},
		"priority of root":  {groups: ofAll(func(g *schedulingv1alpha3.CompositePodGroup) { g.Spec.Priority = ptr.To[int32](3) }), pods: evals("e0, e1"), want: "PodGroupInvalid priority"},
		"priority class":    {groups: ofAll(func(g *schedulingv1alpha3.CompositePodGroup) { g.Spec.PriorityClassName = "high" }), pods: evals("e0, e1"), want: "? together"},
		"preemption":        {groups: ofEval(func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = ptr.To(schedulingv1beta1.PreemptNever) }), pods: evals("e0, e1"), want: "PodGroupInvalid preemption policy"},
		"preemption of two": {groups: withPolicies(ofAll(func(g *schedulingv1alpha3.CompositePodGroup) {
			g.Spec.PreemptionPolicy = ptr.To(schedulingv1alpha3.PreemptLowerPriority)
		}), schedulingv1beta1.PreemptNever), pods: evals("e0, e1"), want: "PodGroupInvalid preemption policy"},
		"workload": {groups: ofEval(func(g *schedulingv1beta1.PodGroup) {
			g.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "other"}
		}), pods: evals("e0, e1"), want: "PodGroupInvalid workload"},
		"no gang in a gang": {groups: withComposites(groupsIn("all", map[string]int32{"train": 1, "eval": 0}), "all 2"), pods: evals("e0"), want: "PodGroupInvalid policy"},
		"disruption": {groups: withModes(ofAll(func(g *schedulingv1alpha3.CompositePodGroup) {
			g.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
		})), pods: evals("e0, e1"), want: "PodGroupInvalid disruption"},
		"topology": {groups: ofAll(func(g *schedulingv1alpha3.CompositePodGroup) {
			g.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "rack"}}}
		}), pods: evals("e0, e1"), want: "? topology; ? together"},
		"before 1.38": {minor: 37, groups: withComposites(groupsIn("all", both), "all 2"), pods: evals("e0, e1"), want: "? composite"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.pod = w0; c.minor == 0 {
				c.minor = inspect.PreviewMinor
			}
			c.gates = append(c.gates, inspect.GateGenericWorkload, inspect.GateCompositePodGroup, inspect.GateTopologyAwareWorkloadScheduling)
			c.nodes = "n"
			c.run(t, GangScheduling)
		})
	}
}

// withPolicies gives the first group a preemption policy.
func withPolicies(o inspect.Objects, policy schedulingv1beta1.PreemptionPolicy) inspect.Objects {
	o.PodGroups[0].Spec.PreemptionPolicy = &policy
	return o
}

// withModes lets the first group be disrupted by itself.
func withModes(o inspect.Objects) inspect.Objects {
	o.PodGroups[0].Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	return o
}
