package preemption

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

const (
	// maxTries is the number of times that the filters are asked about a node without some of its pods.
	maxTries = 1000
	// maxTriesNear is maxTries for a pod with rules about others, which takes longer.
	maxTriesNear = 100
	// fewCandidates and candidateShare say how many nodes the scheduler looks for before it chooses: a
	// hundred, or a tenth of those that come into question (MinCandidateNodesAbsolute and
	// MinCandidateNodesPercentage).
	fewCandidates, candidateShare = 100, 10
)

// Of says whether the scheduler would preempt for the pod of a question, which has been put to all nodes, and
// no node takes it. It is nil if the scheduler does not get as far as that, if the question is not about a
// pod or not about all nodes, or if the pod belongs to a group, whose pods the scheduler places together.
func Of(q *whatif.Question) *explain.Preemption {
	p := q.Filtered()
	s := q.Cluster.Snapshot()
	if p == nil || s.NodesAssumed() || len(q.Nodes) < len(s.Nodes()) || len(q.Nodes) == 0 || inGroup(s, q.Pod) {
		return nil
	}
	profile, _ := s.Scheduler().Profile(q.Pod.Spec.SchedulerName)
	if !profile.Preempts() {
		return nil
	}
	if slices.ContainsFunc(p.Everywhere.Refusals, func(r filters.Refusal) bool {
		return r.Plugin == filters.SchedulingGates || r.Plugin == filters.GangScheduling
	}) {
		return nil
	}
	d := &decision{Question: q, snapshot: s, budgets: selectable(s), pod: p, tries: triesFor(q.Pod), out: &explain.Preemption{}, obstacles: map[explain.ObstacleKind]int{}, on: map[inspect.NodeName]answerOn{}}
	for i := range q.Answers {
		a := &q.Answers[i]
		for k, n := range a.Nodes {
			on := answerOn{a, &filters.Outcome{}}
			if len(a.Filtered) > 0 {
				on.filtered = &a.Filtered[k]
			}
			d.on[inspect.NodeName(q.Nodes[n].Name)] = on
		}
	}
	switch {
	case q.Pod.Spec.PreemptionPolicy != nil && *q.Pod.Spec.PreemptionPolicy == corev1.PreemptNever:
		d.out.Outcome = explain.PreemptionNever
	case d.waits():
	case len(p.Everywhere.Refusals) > 0: // none of which other pods could change
		d.out.Outcome = explain.PreemptionNotHelpful
		d.out.Obstacles = []explain.PreemptionObstacle{{Kind: explain.NotByPods, Nodes: len(q.Nodes)}}
	case s.Features().Enabled(inspect.GatePreemption) && (len(q.Claims) > 0 || q.PerNode != nil):
		d.out.Outcome = explain.PreemptionUnknown
		d.out.Obstacles = []explain.PreemptionObstacle{{Kind: explain.NotKnown, Nodes: len(q.Nodes)}}
	case noPriority(q.Pod), profile.PreemptsApart():
		d.out.Outcome = explain.PreemptionUnknown
	default:
		d.decide()
	}
	d.out.Message = "kube-scheduler " + d.message()
	return d.out
}

// inGroup reports whether the scheduler places a pod together with others.
func inGroup(s *inspect.Snapshot, pod *corev1.Pod) bool {
	return s.Features().Enabled(inspect.GateGenericWorkload) && inspect.PodGroupOf(pod) != ""
}

func triesFor(pod *corev1.Pod) int {
	if a := pod.Spec.Affinity; len(pod.Spec.TopologySpreadConstraints) > 0 || a != nil && (a.PodAffinity != nil || a.PodAntiAffinity != nil) {
		return maxTriesNear
	}
	return maxTries
}

// decision is what is found out for a pod.
type decision struct {
	*whatif.Question
	snapshot  *inspect.Snapshot
	pod       *filters.Prepared
	tries     int // that are left
	out       *explain.Preemption
	obstacles map[explain.ObstacleKind]int
	on        map[inspect.NodeName]answerOn
	// potential is the number of nodes from which the scheduler takes pods on trial.
	potential  int
	candidates []candidate
	budgets    []budget
	vain       bool // the pod does not fit where the scheduler makes room for it, which counts wrongly
}

// answerOn is what a node answered, and what filters have against it.
type answerOn struct {
	*whatif.Answer
	filtered *filters.Outcome
}

// waits reports whether the scheduler has preempted for the pod already, and waits for pods to end.
func (d *decision) waits() bool {
	nominated := inspect.NodeName(d.Pod.Status.NominatedNodeName)
	a, known := d.on[nominated]
	if !known || len(a.filtered.Refusals) == 0 || a.filtered.Refusals[0].Unresolvable {
		return false // it preempts again if the node no longer comes into question
	}
	profile, _ := d.snapshot.Scheduler().Profile(d.Pod.Spec.SchedulerName)
	first := a.filtered.Refusals[0].Plugin // with which kube-scheduler stops
	also := slices.ContainsFunc(a.filtered.Refusals, func(r filters.Refusal) bool { return r.Unresolvable && (r.Plugin == first || profile != nil) })
	if also && first == filters.NodeResourcesFit && profile == nil {
		return false // which looks at all resources
	}
	unsure := false
	for _, occupant := range d.pod.Occupants(nominated) {
		pod := occupant.Pod
		priority, known := d.priorityOf(pod)
		if endsByPreemption(pod) && (!known || priority < corev1helpers.PodPriority(d.Pod)) {
			unsure = unsure || !known
			d.out.Victims = append(d.out.Victims, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	if len(d.out.Victims) == 0 {
		return false
	}
	if unsure || also || profile != nil && a.obstacle() != "" || len(d.pod.Everywhere.Refusals) > 0 {
		// What else is in the way decides whether it waits, if it comes to know of that first.
		d.out.Outcome, d.out.Victims = explain.PreemptionUnknown, nil
		d.out.Obstacles = []explain.PreemptionObstacle{{Kind: explain.NotKnown, Nodes: 1}}
		return true
	}
	d.out.Outcome, d.out.Node, d.out.Nodes, d.out.Determined = explain.PreemptionUnderway, nominated, []inspect.NodeName{nominated}, true
	return true
}

// endsByPreemption reports whether the scheduler has told a pod to end.
func endsByPreemption(pod *corev1.Pod) bool {
	at := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.DisruptionTarget })
	if pod.DeletionTimestamp == nil || at < 0 {
		return false
	}
	c := pod.Status.Conditions[at]
	return c.Status == corev1.ConditionTrue && c.Reason == corev1.PodReasonPreemptionByScheduler
}

// obstacle is why the scheduler takes no pods from the node on trial, or "".
func (a *answerOn) obstacle() explain.ObstacleKind {
	switch o := a.filtered; {
	case len(o.Refusals) > 0 && o.Refusals[0].Unresolvable:
		return explain.NotByPods
	case len(a.Unsuitable) > 0, a.Result != nil && a.Result.Outcome == allocator.Unsatisfiable, a.Abort != nil:
		return explain.DevicesMissing // also where other filters refuse before: without the pods it would be devices
	case len(o.Refusals) == 0 || a.Result == nil || a.Result.Outcome != allocator.Allocated:
		return explain.NotKnown
	}
	return ""
}

// decide asks all nodes.
func (d *decision) decide() {
	for _, node := range d.Nodes {
		if c, obstacle := d.victimsOn(inspect.NodeName(node.Name)); obstacle != "" {
			d.obstacles[obstacle]++
		} else {
			d.candidates = append(d.candidates, c)
			d.out.Nodes = append(d.out.Nodes, c.node)
		}
	}
	for kind, nodes := range d.obstacles {
		d.out.Obstacles = append(d.out.Obstacles, explain.PreemptionObstacle{Kind: kind, Nodes: nodes})
	}
	slices.SortFunc(d.out.Obstacles, func(a, b explain.PreemptionObstacle) int {
		return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Kind, b.Kind))
	})
	switch {
	case len(d.candidates) > 0:
		d.choose()
	case d.obstacles[explain.NotKnown] > 0:
		d.out.Outcome = explain.PreemptionUnknown
	default:
		d.out.Outcome = explain.PreemptionNotHelpful
	}
}

// victimsOn finds out which pods of a node would end.
func (d *decision) victimsOn(node inspect.NodeName) (candidate, explain.ObstacleKind) {
	a, known := d.on[node]
	if !known {
		return candidate{}, explain.NotKnown
	}
	if obstacle := a.obstacle(); obstacle != "" {
		return candidate{}, obstacle
	}
	d.potential++
	lower := d.lower(node)
	switch {
	case unread(d.snapshot, inspect.Pods, ""), slices.ContainsFunc(d.pod.Occupants(node), func(other filters.Occupant) bool {
		priority, known := d.priorityOf(other.Pod)
		return !known || inGroup(d.snapshot, other.Pod) && priority < corev1helpers.PodPriority(d.Pod) // it may end with its group
	}):
		return candidate{}, explain.NotKnown
	case len(lower) == 0:
		return candidate{}, explain.NoVictims
	case d.keptAway(a.filtered):
		return candidate{}, explain.NotEnough
	}
	return d.victims(node, lower)
}

// noPriority reports whether the priority of a pod is not known. The API server fills it in.
func noPriority(pod *corev1.Pod) bool {
	return pod.Spec.Priority == nil && pod.Spec.PriorityClassName != ""
}

// priorityOf is the priority by which a pod ends or not: that of its group, if the scheduler places it with
// others. It is false if that is not known.
func (d *decision) priorityOf(pod *corev1.Pod) (int32, bool) {
	if !inGroup(d.snapshot, pod) {
		return corev1helpers.PodPriority(pod), !noPriority(pod)
	}
	if d.snapshot.Release().Modelled().Before(37, 0) {
		return 0, false // it is not modelled
	}
	for _, group := range d.snapshot.Around().PodGroups {
		if spec := &group.Spec; group.Namespace == pod.Namespace && group.Name == inspect.PodGroupOf(pod) {
			return ptr.Deref(spec.Priority, 0), spec.ParentCompositePodGroupName == nil && (spec.Priority != nil || spec.PriorityClassName == "")
		}
	}
	return 0, false
}

// lower are the pods on a node that matter less than the pod, the most important first, as the scheduler
// orders them.
func (d *decision) lower(node inspect.NodeName) []*corev1.Pod {
	var out []*corev1.Pod
	for _, occupant := range d.pod.Occupants(node) {
		if priority, known := d.priorityOf(occupant.Pod); known && priority < corev1helpers.PodPriority(d.Pod) {
			out = append(out, occupant.Pod)
		}
	}
	slices.SortStableFunc(out, d.byImportance)
	return out
}

// byImportance puts first what the scheduler rather spares, whenever it is asked: a pod that has not started
// counts as one that starts now.
func byImportance(a, b *corev1.Pod) int {
	x, y := a.Status.StartTime, b.Status.StartTime
	started := words.Btoi(x == nil) - words.Btoi(y == nil)
	if x != nil && y != nil {
		started = x.Compare(y.Time)
	}
	return cmp.Or(cmp.Compare(corev1helpers.PodPriority(b), corev1helpers.PodPriority(a)), started)
}

// byImportance is byImportance, and from 1.38 on by UID among equals, which before are in no order.
func (d *decision) byImportance(a, b *corev1.Pod) int {
	if d.snapshot.Release().Modelled().Before(38, 0) {
		return byImportance(a, b)
	}
	return cmp.Or(byImportance(a, b), cmp.Compare(a.UID, b.UID))
}

// moreImportant reports whether the scheduler rather spares a than b.
func (d *decision) moreImportant(a, b *corev1.Pod) bool { return d.byImportance(a, b) < 0 }
