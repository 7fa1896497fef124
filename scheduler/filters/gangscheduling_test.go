package filters

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func inGroup(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &name} }
}

// members makes pods of group train from texts with commas between them.
func members(texts string) []*corev1.Pod {
	out := podsOf(texts)
	for _, pod := range out {
		inGroup("train")(pod)
	}
	return out
}

// train is a group of that name that needs so many pods, or just any if that is 0.
func train(minCount int32, changes ...func(*schedulingv1beta1.PodGroup)) inspect.Objects {
	g := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}}
	if minCount > 0 {
		g.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}
	} else {
		g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	}
	for _, change := range changes {
		change(g)
	}
	return inspect.Objects{PodGroups: []*schedulingv1beta1.PodGroup{g}}
}

func quotaGated(pod *corev1.Pod) {
	pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "quota"}}
}

func withPriority(p int32) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Priority = &p }
}

func claiming(entry corev1.PodResourceClaim, changes ...func(*corev1.Pod)) *corev1.Pod {
	entry.Name = "gpu"
	pod := podOf("w1", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.ResourceClaims = []corev1.PodResourceClaim{entry} })
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// ofWorkload has a pod name a Workload, as in 1.35.
func ofWorkload(pod *corev1.Pod) {
	inspect.KeepNewer(pod, []byte(`{"spec":{"workloadRef":{"name":"train","podGroup":"workers"}}}`))
}

func TestGangScheduling(t *testing.T) {
	w0 := podOf("w0", inGroup("train"))
	never := ptr.To(corev1.PreemptNever)
	withClaim := train(0)
	withClaim.Claims = []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "here"}}}
	for name, c := range map[string]neighbourCase{
		"no group of its own": {groups: train(4), pod: podOf("w0")},
		"gate off":            {groups: train(4), pod: w0, off: []inspect.Gate{inspect.GateGenericWorkload}},
		"missing":             {pod: w0, want: "PodGroupIncomplete missing"},
		"missing here":        {pod: w0, groups: train(1, func(g *schedulingv1beta1.PodGroup) { g.Namespace = "db" }), want: "PodGroupIncomplete missing"},
		"forbidden":           {pod: w0, config: forbidden(inspect.PodGroups), want: "? unread"},
		"not served":          {pod: w0, config: inspect.Config{ServerVersion: "v1.37.1", Health: map[inspect.Resource]inspect.Health{inspect.PodGroups: {State: inspect.NotServed}}}, want: "? unread"},
		"too few":             {groups: train(4), pods: members("w1, w2@n"), pod: w0, want: "PodGroupIncomplete pods"},
		"ended pods":          {groups: train(2), pods: []*corev1.Pod{podOf("w1", inGroup("train"), func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })}, pod: w0, want: "PodGroupIncomplete pods"},
		"other group":         {groups: train(2), pods: podsOf("w1, w2"), pod: w0, want: "PodGroupIncomplete pods"},
		"other namespace":     {groups: train(2), pods: []*corev1.Pod{podOf("db/w1", inGroup("train"))}, pod: w0, want: "PodGroupIncomplete pods"},
		"itself once":         {groups: train(2), pods: members("w0"), pod: w0, want: "PodGroupIncomplete pods"},
		"other scheduler":     {groups: train(2), pods: []*corev1.Pod{podOf("w1", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.SchedulerName = "mine" })}, pod: w0, want: "PodGroupIncomplete pods"},
		// Two must be placed, of which one is: this one is enough.
		"last one needed":  {groups: train(2), pods: members("w1@n, w2"), pod: w0},
		"more than enough": {groups: train(1), pods: members("w1, w2"), pod: w0},
		"no gang":          {groups: train(0), pods: members("w1"), pod: w0},
		"together":         {groups: train(2), pods: members("w1"), pod: w0, want: "? together"},
		// A pod that was deleted before it had a node is not placed any more.
		"leaving":           {groups: train(2), pods: []*corev1.Pod{podOf("w1", inGroup("train"), leaving)}, pod: w0, want: "PodGroupIncomplete leaving"},
		"leaving, on nodes": {groups: train(2), pods: []*corev1.Pod{podOf("w1@n", inGroup("train"), leaving)}, pod: w0},
		"gated":             {groups: train(0), pods: []*corev1.Pod{podOf("w1", inGroup("train"), quotaGated)}, pod: w0, want: "PodGroupIncomplete gated"},
		"gated itself":      {groups: train(0), pod: podOf("w0", inGroup("train"), quotaGated)},
		"gated on a node":   {groups: train(0), pods: []*corev1.Pod{podOf("w1@n", inGroup("train"), quotaGated)}, pod: w0},
		"gated and too few": {groups: train(4), pods: []*corev1.Pod{podOf("w1", inGroup("train"), quotaGated)}, pod: w0, want: "PodGroupIncomplete pods; PodGroupIncomplete gated"},

		"claim there":      {groups: withClaim, pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimName: ptr.To("here")})}, pod: w0},
		"claim missing":    {groups: withClaim, pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimName: ptr.To("gone")})}, pod: w0, want: "PodGroupIncomplete gated"},
		"claims forbidden": {groups: train(0), config: forbidden(inspect.Claims), pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimName: ptr.To("gone")})}, pod: w0},
		"claim to be made": {groups: train(0), pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimTemplateName: ptr.To("t")}, admittedPod)}, pod: w0, want: "PodGroupIncomplete gated"},
		"claim in a file":  {groups: train(0), pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimTemplateName: ptr.To("t")})}, pod: w0},
		"no claim needed": {groups: train(0), pods: []*corev1.Pod{claiming(corev1.PodResourceClaim{ResourceClaimTemplateName: ptr.To("t")}, admittedPod, func(pod *corev1.Pod) {
			pod.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu"}}
		})}, pod: w0},
		"priority":            {groups: train(0, func(g *schedulingv1beta1.PodGroup) { g.Spec.Priority = ptr.To[int32](7) }), pods: []*corev1.Pod{podOf("w1@n", inGroup("train"), withPriority(8))}, pod: podOf("w0", inGroup("train"), withPriority(7)), want: "PodGroupInvalid priority"},
		"priority of itself":  {groups: train(0), pod: podOf("w0", inGroup("train"), withPriority(8)), want: "PodGroupInvalid priority"},
		"priority class":      {groups: train(0, func(g *schedulingv1beta1.PodGroup) { g.Spec.PriorityClassName = "high" }), pod: podOf("w0", inGroup("train"), withPriority(7))},
		"pod priority class":  {groups: train(0), pod: podOf("w0", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.PriorityClassName = "high" })},
		"scheduler of placed": {groups: train(0), pods: []*corev1.Pod{podOf("w1@n", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.SchedulerName = "mine" })}, pod: w0, want: "PodGroupInvalid scheduler"},
		"default scheduler":   {groups: train(0), pods: []*corev1.Pod{podOf("w1@n", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.SchedulerName = "default-scheduler" })}, pod: w0},
		"preemption":          {groups: train(0), pods: []*corev1.Pod{podOf("w1", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.PreemptionPolicy = never })}, pod: w0, want: "PodGroupInvalid preemption policy"},
		"preemption of all":   {groups: train(0), pod: podOf("w0", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.PreemptionPolicy = never })},
		"preemption of group": {groups: train(0), gates: []inspect.Gate{inspect.GatePodGroupPreemptionPolicy}, pod: podOf("w0", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.PreemptionPolicy = never }), want: "PodGroupInvalid preemption policy"},
		"preemption as group": {groups: train(0, func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = ptr.To(schedulingv1beta1.PreemptNever) }), gates: []inspect.Gate{inspect.GatePodGroupPreemptionPolicy}, pod: podOf("w0", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.PreemptionPolicy = never })},

		"topology":            {groups: train(0, inOneRack), gates: []inspect.Gate{inspect.GateTopologyAwareWorkloadScheduling}, pod: w0, want: "? topology"},
		"topology, gate off":  {groups: train(0, inOneRack), pod: w0},
		"composite":           {groups: train(9, func(g *schedulingv1beta1.PodGroup) { g.Spec.ParentCompositePodGroupName = ptr.To("all") }), gates: []inspect.Gate{inspect.GateCompositePodGroup}, pod: w0, want: "? composite"},
		"composite, gate off": {groups: train(9, func(g *schedulingv1beta1.PodGroup) { g.Spec.ParentCompositePodGroupName = ptr.To("all") }), pod: w0, want: "PodGroupIncomplete pods"},
		"pods forbidden":      {groups: train(4), config: forbidden(inspect.Pods), pod: w0, want: "? pods; ? together"},
		"1.36":                {minor: 36, groups: train(4), pod: w0, want: "? release"},
		"1.36, no group":      {minor: 36, pod: podOf("w0")},
		"1.36, missing":       {minor: 36, pod: w0, want: "? release"},
		"1.36, enough":        {minor: 36, groups: train(2), pods: members("w1@n"), pod: w0},
		"1.36, two schedulers": {minor: 36, groups: train(2), pods: []*corev1.Pod{podOf("w1", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.NodeName = "n" }),
			podOf("w2", inGroup("train"), func(pod *corev1.Pod) { pod.Spec.SchedulerName = "other" })}, pod: w0, want: "? release"},
		"1.36, in one domain": {minor: 36, groups: train(1, inOneRack), gates: []inspect.Gate{inspect.GateTopologyAwareWorkloadScheduling}, pod: w0, want: "? release"},
		// Pods that are not ready keep others from being scheduled only since 1.37.
		"1.36, gated":          {minor: 36, groups: train(0), pods: []*corev1.Pod{podOf("w1", inGroup("train"), quotaGated)}, pod: w0},
		"1.35, group not seen": {minor: 35, pod: podOf("w0"), want: "? release"},
		"1.35, gate off":       {minor: 35, pod: podOf("w0"), off: []inspect.Gate{inspect.GateGenericWorkload}},
		"1.35, of a workload":  {minor: 35, pod: podOf("w0", ofWorkload), off: []inspect.Gate{inspect.GateGenericWorkload}, want: "? release"},
		"1.36, of a workload":  {minor: 36, pod: podOf("w0", ofWorkload), off: []inspect.Gate{inspect.GateGenericWorkload}},
	} {
		t.Run(name, func(t *testing.T) {
			c.gates = append(c.gates, inspect.GateGenericWorkload)
			c.nodes = "n"
			c.run(t, GangScheduling)
		})
	}
}

func inOneRack(g *schedulingv1beta1.PodGroup) {
	g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}}
}

// TestGangFacts has what is said of a group.
func TestGangFacts(t *testing.T) {
	ml := func(names ...string) []inspect.PodRef {
		out := []inspect.PodRef{}
		for _, name := range names {
			out = append(out, inspect.PodRef{Namespace: "ml", Name: name})
		}
		return out
	}
	object := Object{Kind: "PodGroup", Namespace: "ml", Name: "train"}
	w0 := podOf("w0", inGroup("train"))
	for name, test := range map[string]struct {
		neighbourCase
		want Outcome
	}{
		"too few": {
			neighbourCase{groups: train(4), pods: members("w2@n, w1"), pod: w0},
			refuse(Refusal{
				Code: PodGroupIncomplete, Key: "pods", Object: object, Pods: ml(), Group: &Group{Title: "PodGroup train", MinCount: 4, Pods: 3, Placed: 1, Waiting: ml("w0", "w1")},
				Message: "the pod waits for the others of its PodGroup train, which needs 4 pods and has 3",
			}),
		},
		"leaving": {
			neighbourCase{groups: train(2), pods: []*corev1.Pod{podOf("w1", inGroup("train"), leaving)}, pod: w0},
			refuse(Refusal{
				Code: PodGroupIncomplete, Key: "leaving", Object: object, Pods: ml("w1"), Group: &Group{Title: "PodGroup train", MinCount: 2, Pods: 2, Waiting: ml("w0", "w1")},
				Message: "the pod waits for the others of its PodGroup train, which needs 2 pods and has 1; pod ml/w1 is being deleted",
			}),
		},
		"gated": {
			neighbourCase{groups: train(0), pods: []*corev1.Pod{podOf("w1", inGroup("train"), quotaGated), podOf("w2", inGroup("train"), quotaGated), podOf("w3", inGroup("train"), quotaGated)}, pod: w0},
			refuse(Refusal{
				Code: PodGroupIncomplete, Key: "gated", Object: object, Pods: ml("w1", "w2", "w3"), Group: &Group{Title: "PodGroup train", Pods: 4, Waiting: ml("w0", "w1", "w2", "w3")},
				Message: "the pods of its PodGroup train are scheduled together, and pod ml/w1 and 2 others are not ready to be",
			}),
		},
		"unlike": {
			neighbourCase{groups: train(0), pods: []*corev1.Pod{podOf("w1", inGroup("train"), withPriority(3)), podOf("w2@n", inGroup("train"), withPriority(4))}, pod: w0},
			refuse(Refusal{
				Code: PodGroupInvalid, Key: "priority", Object: object, Pods: ml("w1", "w2"), Group: &Group{Title: "PodGroup train", Pods: 3, Placed: 1, Waiting: ml("w0", "w1")},
				Message: "all pods of its PodGroup train must have one priority, and pods ml/w1 and ml/w2 have another",
			}),
		},
		"missing": {
			neighbourCase{pod: w0},
			refuse(Refusal{Code: PodGroupIncomplete, Key: "missing", Object: object, Message: "the pod waits for its PodGroup train, which does not exist"}),
		},
		"together": {
			neighbourCase{groups: train(3), pods: members("w1@n, w2, w3"), pod: w0},
			doubt(Doubt{Plugin: GangScheduling, Key: "together", Group: &Group{Title: "PodGroup train", MinCount: 3, Pods: 4, Placed: 1, Waiting: ml("w0", "w2", "w3")}, Message: "2 pods of PodGroup train have to find room at once, and only this one was asked about"}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for i := range test.want.Refusals {
				test.want.Refusals[i].Plugin, test.want.Refusals[i].Unresolvable = GangScheduling, true
			}
			test.gates, test.nodes = []inspect.Gate{inspect.GateGenericWorkload}, "n"
			got, _ := test.ask(GangScheduling)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
		})
	}
}
