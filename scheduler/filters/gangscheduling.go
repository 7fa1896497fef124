package filters

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// Group is a pod group, whose pods the scheduler places together, or a CompositePodGroup with all groups
// below it.
type Group struct {
	// Title is the kind and the name, as "PodGroup train".
	Title string
	// MinCount is how many of the pods have to be placed so that any of them is. It is 0 if the group does
	// not say so.
	MinCount int
	// Pods is how many pods there are that have not ended, Placed how many of them are on nodes.
	Pods, Placed int
	// Waiting are the others, sorted.
	Waiting []inspect.PodRef
	// Parts says how many of Waiting each pod group of a CompositePodGroup has, in the order in which they
	// are taken. It is nil for a pod group.
	Parts []int
}

// groupName is the namespace and the name of a pod group.
type groupName struct{ namespace, name string }

// prepareGangScheduling is the plugin GangScheduling, with what the scheduler asks of a pod group before it
// places its pods. What it decides of the pods of a group together is a doubt.
func prepareGangScheduling(p *Prepared) (check, Outcome) {
	on, release := p.snapshot.Features().Enabled(inspect.GateGenericWorkload), p.snapshot.Release().Modelled()
	name := groupName{p.Pod.Namespace, inspect.PodGroupOf(p.Pod)}
	switch {
	case !on && (!release.Before(36, 0) || !inspect.NamesWorkload(p.Pod)): // servers drop that while the gate is off
		return nil, Outcome{}
	case release.Before(36, 0):
		return nil, undecidedGroup("release", "in Kubernetes 1.35 pods of a workload wait for each other, and which pods those are is not known", nil)
	case name.name == "":
		return nil, Outcome{}
	}
	object, ok := podGroup(p.snapshot, name)
	g := &gang{Prepared: p, PodGroup: object}
	switch {
	case ok:
		g.placed, g.waiting = g.members(name)
		if release.Before(37, 0) {
			return nil, g.decideOld()
		}
		return nil, g.decide()
	case p.unread(inspect.PodGroups, len(p.snapshot.Around().PodGroups)) || p.snapshot.Health(inspect.PodGroups).State == inspect.NotServed:
		return nil, doubt(Doubt{Plugin: GangScheduling, Resource: inspect.PodGroups, Key: "unread", Message: fmt.Sprintf("PodGroup %s, which the pod belongs to, was not read", name.name)})
	case release.Before(37, 0):
		return nil, undecidedGroup("release", fmt.Sprintf("PodGroup %s, which the pod belongs to, does not exist; whether Kubernetes 1.36 waits for it is not known", name.name), nil)
	}
	return nil, refuse(Refusal{
		Plugin: GangScheduling, Code: PodGroupIncomplete, Key: "missing", Unresolvable: true, Object: name.object(),
		Message: fmt.Sprintf("the pod waits for its PodGroup %s, which does not exist", name.name),
	})
}

func (n groupName) object() Object {
	return Object{Kind: "PodGroup", Namespace: n.namespace, Name: n.name}
}

// togetherKey is the key of the doubt whether the other pods of a group find room too.
const togetherKey = "together"

// OfOthers reports whether the doubt is about other pods of its group alone: whether they find room besides
// the pod. Who asks about all of them can decide that.
func (d *Doubt) OfOthers() bool {
	return d.Plugin == GangScheduling && d.Key == togetherKey && d.Group != nil
}

func undecidedGroup(key, message string, group *Group) Outcome {
	return doubt(Doubt{Plugin: GangScheduling, Key: key, Message: message, Group: group})
}

// podGroup returns the pod group of a name.
func podGroup(s *inspect.Snapshot, name groupName) (*schedulingv1beta1.PodGroup, bool) {
	all := s.Around().PodGroups
	i, ok := slices.BinarySearchFunc(all, name, func(g *schedulingv1beta1.PodGroup, name groupName) int {
		return cmp.Or(cmp.Compare(g.Namespace, name.namespace), cmp.Compare(g.Name, name.name))
	})
	if !ok {
		return nil, false
	}
	return all[i], true
}

// Together returns the group of a pod if kube-scheduler takes others of it that wait at once with the pod. It
// is nil if not.
func (p *Prepared) Together() *Group {
	name := groupName{p.Pod.Namespace, inspect.PodGroupOf(p.Pod)}
	if name.name == "" || !p.snapshot.Features().Enabled(inspect.GateGenericWorkload) {
		return nil
	}
	object, ok := podGroup(p.snapshot, name)
	if !ok {
		return nil
	}
	g := &gang{Prepared: p, PodGroup: object}
	g.placed, g.waiting = g.members(name)
	if g.inComposite() {
		_ = g.climb() // who says that it is not known will have said so
	}
	if len(g.waiting) < 2 {
		return nil
	}
	return g.facts()
}

// gang is the group of a pod, with all pods of it, sorted by name.
type gang struct {
	*Prepared
	*schedulingv1beta1.PodGroup
	placed, waiting []*corev1.Pod
	// Of a group in a tree: the root, the groups from its own one up to that, and how many of the pods that
	// wait each pod group has.
	root  *treeGroup
	path  []*treeGroup
	parts []int
}

// inComposite reports whether the group is part of another one.
func (g *gang) inComposite() bool {
	return g.Spec.ParentCompositePodGroupName != nil && g.snapshot.Features().Enabled(inspect.GateCompositePodGroup)
}

// members finds the pods of a group. Those that another scheduler has to place are not known to this one
// until it has.
func (g *gang) members(name groupName) (placed, waiting []*corev1.Pod) {
	members := g.neighbours.membersOf(g.Index, name)
	at, ok := slices.BinarySearchFunc(members, g.Pod.Name, func(pod *corev1.Pod, name string) int { return cmp.Compare(pod.Name, name) })
	if ok {
		members = slices.Delete(members, at, at+1)
	}
	if name.name == inspect.PodGroupOf(g.Pod) {
		members = slices.Insert(members, at, g.Pod) // as it is asked about
	}
	for _, pod := range members {
		switch {
		case pod.Spec.NodeName != "":
			placed = append(placed, pod)
		case schedulerOf(pod) == schedulerOf(g.Pod):
			waiting = append(waiting, pod)
		}
	}
	return placed, waiting
}

// membersOf returns the pods of a group that have not ended, sorted by name.
func (n *neighbours) membersOf(x *Index, name groupName) []*corev1.Pod {
	n.groups.Do(func() {
		n.groups.members = map[groupName][]*corev1.Pod{}
		for _, pod := range x.snapshot.Objects().Pods {
			if group := inspect.PodGroupOf(pod); group != "" && !ended(pod) {
				key := groupName{pod.Namespace, group}
				n.groups.members[key] = append(n.groups.members[key], pod)
			}
		}
	})
	return slices.DeleteFunc(slices.Clone(n.groups.members[name]), x.isGone)
}

// minCount is how many pods have to be placed so that any of them is; 1 if the group does not say.
func (g *gang) minCount() int {
	if policy := g.Spec.SchedulingPolicy.Gang; policy != nil {
		return int(policy.MinCount)
	}
	return 1
}

// facts are what is known of the group.
func (g *gang) facts() *Group {
	out := &Group{Title: g.title(), Pods: len(g.placed) + len(g.waiting), Placed: len(g.placed), Waiting: refsOf(g.waiting), Parts: g.parts}
	switch {
	case g.root != nil && g.root.whole():
		out.MinCount = out.Pods
		for _, leaf := range g.root.leaves() {
			out.MinCount -= leaf.leaving
		}
	case g.root == nil && g.Spec.SchedulingPolicy.Gang != nil:
		out.MinCount = g.minCount()
	}
	return out
}

// title names what is taken as a whole.
func (g *gang) title() string {
	if g.root != nil {
		return g.root.title()
	}
	return "PodGroup " + g.Name
}

func refsOf(pods []*corev1.Pod) []inspect.PodRef {
	out := make([]inspect.PodRef, len(pods))
	for i, pod := range pods {
		out[i] = inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	}
	return out
}

// decideOld is decide for 1.36. Whether a group waits for the number of pods that it needs depends there on
// another feature gate, GangScheduling, which no longer exists.
func (g *gang) decideOld() Outcome {
	if slices.ContainsFunc(g.neighbours.membersOf(g.Index, groupName{g.Namespace, g.Name}), func(pod *corev1.Pod) bool {
		return pod.Spec.NodeName == "" && schedulerOf(pod) != schedulerOf(g.Pod)
	}) {
		return undecidedGroup("release", fmt.Sprintf("pods of PodGroup %s have different schedulers, and whether Kubernetes 1.36 fails over that is not known", g.Name), g.facts())
	}
	if g.minCount()-len(g.placed) <= 1 && !g.inOneDomain() {
		return Outcome{}
	}
	return undecidedGroup("release", fmt.Sprintf("whether Kubernetes 1.36 waits for the other pods of PodGroup %s is not known", g.Name), g.facts())
}

// inOneDomain reports whether all pods of the group have to be in one domain.
func (g *gang) inOneDomain() bool {
	c := g.Spec.SchedulingConstraints
	return c != nil && len(c.Topology) > 0 && g.snapshot.Features().Enabled(inspect.GateTopologyAwareWorkloadScheduling)
}

// decide says what keeps the group from being scheduled, whatever room there is; and if nothing does, whether
// more than room for this pod is needed.
func (g *gang) decide() Outcome {
	own := *g // its pods are the members of its own group alone
	if g.inComposite() {
		if out := g.climb(); g.root == nil {
			return out
		}
	}
	var out Outcome
	if g.podsUnread(g.Namespace) {
		out.and(doubt(Doubt{Plugin: GangScheduling, Resource: inspect.Pods, Key: "pods", Message: fmt.Sprintf("not all pods of PodGroup %s are known: not all pods were read", g.Name), Group: g.facts()}))
	} else if r := own.short(); r != nil {
		out.Refusals = append(out.Refusals, *r)
	} else if r := g.lacks(); r != nil {
		out.Refusals = append(out.Refusals, *r)
	}
	for _, r := range []*Refusal{g.gated(), g.malformed(), g.unlike()} {
		if r != nil {
			out.Refusals = append(out.Refusals, *r)
		}
	}
	for _, t := range g.groups() {
		if t.topology != "" && g.snapshot.Features().Enabled(inspect.GateTopologyAwareWorkloadScheduling) {
			out.and(undecidedGroup("topology", fmt.Sprintf("all pods of %s have to be on nodes with one value of %s, and which that could be is not known", t.title(), t.topology), g.facts()))
		}
	}
	if len(out.Refusals) > 0 {
		return out
	}
	need := g.minCount()
	if g.root != nil {
		if need = g.facts().MinCount; need == 0 {
			out.and(undecidedGroup("composite", fmt.Sprintf("parts of %s may be placed without others, and which these are is not known", g.title()), g.facts()))
		}
	}
	if need -= len(g.placed); need > 1 {
		out.and(undecidedGroup(togetherKey, fmt.Sprintf("%d pods of %s have to find room at once, and only this one was asked about", need, g.title()), g.facts()))
	}
	return out
}

func (g *gang) refusal(code Code, key, message string, pods []*corev1.Pod) *Refusal {
	return &Refusal{
		Plugin: GangScheduling, Code: code, Key: key, Unresolvable: true, Object: g.groups()[0].Object,
		Message: message, Pods: refsOf(pods), Group: g.facts(),
	}
}

// short says that the group has too few pods. Pods that are being deleted are not placed any more.
func (g *gang) short() *Refusal {
	all, need := len(g.placed)+len(g.waiting), g.minCount()
	if all < need {
		return g.refusal(PodGroupIncomplete, "pods", fmt.Sprintf("the pod waits for the others of its PodGroup %s, which needs %s and has %d", g.Name, howMany(need), all), nil)
	}
	leaving := slices.DeleteFunc(slices.Clone(g.waiting), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil })
	if left := all - len(leaving); left < need {
		return g.refusal(PodGroupIncomplete, "leaving", fmt.Sprintf("the pod waits for the others of its PodGroup %s, which needs %s and has %d; %s being deleted", g.Name, howMany(need), left, podsWithVerb(refsOf(leaving), "is", "are")), leaving)
	}
	return nil
}

// gated says that others of the group are not to be scheduled yet. Then none is.
func (g *gang) gated() *Refusal {
	heeded := g.profile.On(string(SchedulingGates), schedulerconfig.PreEnqueue)
	gated := slices.DeleteFunc(slices.Clone(g.waiting), func(pod *corev1.Pod) bool {
		return pod.Name == g.Pod.Name || (len(pod.Spec.SchedulingGates) == 0 || !heeded) && !g.waitsForClaim(pod)
	})
	if len(gated) == 0 {
		return nil
	}
	return g.refusal(PodGroupIncomplete, "gated", fmt.Sprintf("the pods of its %s are scheduled together, and %s not ready to be", g.title(), podsWithVerb(refsOf(gated), "is", "are")), gated)
}

// waitsForClaim reports whether a claim of a pod does not exist yet. Nobody makes claims from templates for
// pods that stand in a file alone.
func (g *gang) waitsForClaim(pod *corev1.Pod) bool {
	if g.unread(inspect.Claims, len(g.snapshot.Objects().Claims)) {
		return false
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if _, ok := g.snapshot.GroupClaimFor(pod, entry); ok {
			continue
		}
		name, ok := inspect.ClaimNameFor(pod, entry)
		if ok && name != "" {
			_, ok = g.snapshot.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		}
		if generated := uncreated(pod) && entry.ResourceClaimName == nil; !ok && !generated {
			return true
		}
	}
	return false
}

// unlike says that a pod of the group has not the priority of the group, or not the scheduler or the
// preemption policy of the others.
func (g *gang) unlike() *Refusal {
	var pods []*corev1.Pod
	what := ""
	for _, pod := range slices.Concat(g.waiting, g.placed) {
		different := ""
		switch {
		case schedulerOf(pod) != schedulerOf(g.Pod):
			different = "scheduler"
		case !g.samePriority(pod):
			different = "priority"
		case !g.samePreemption(pod):
			different = "preemption policy"
		}
		if different != "" && (what == "" || what == different) {
			what, pods = different, append(pods, pod)
		}
	}
	if what == "" {
		return nil
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return g.refusal(PodGroupInvalid, what, fmt.Sprintf("all pods of its %s must have one %s, and %s another", g.title(), what, podsWithVerb(refsOf(pods), "has", "have")), pods)
}

// samePriority reports whether a pod has the priority of the group. What only the name of a PriorityClass
// says is known to the API server alone, until it has admitted the object.
func (g *gang) samePriority(pod *corev1.Pod) bool {
	if unresolved(pod) || g.Spec.Priority == nil && g.Spec.PriorityClassName != "" {
		return true
	}
	of := int32(0)
	if g.Spec.Priority != nil {
		of = *g.Spec.Priority
	}
	return corev1helpers.PodPriority(pod) == of
}

func unresolved(pod *corev1.Pod) bool {
	return pod.Spec.Priority == nil && pod.Spec.PriorityClassName != ""
}

// samePreemption reports whether a pod may preempt others as the group may, or as the pod that is asked
// about, if groups do not say. From 1.38 on each says so or not, before the gate decides for all.
func (g *gang) samePreemption(pod *corev1.Pod) bool {
	if unresolved(pod) || unresolved(g.Pod) {
		return true
	}
	of := preemptionOf(g.Pod.Spec.PreemptionPolicy)
	says := g.snapshot.Features().Enabled(inspect.GatePodGroupPreemptionPolicy)
	if !g.snapshot.Release().Modelled().Before(38, 0) {
		says = g.policy() != ""
	}
	if says {
		of = cmp.Or(g.policy(), string(corev1.PreemptLowerPriority))
	}
	return preemptionOf(pod.Spec.PreemptionPolicy) == of
}

// preemptionOf is a preemption policy that may be left out.
func preemptionOf[T ~string](policy *T) string {
	if policy == nil {
		return string(corev1.PreemptLowerPriority)
	}
	return string(*policy)
}

// podsWithVerb names pods and adds what they do, in the singular or plural.
func podsWithVerb(pods []inspect.PodRef, one, many string) string {
	if len(pods) == 1 {
		return podsInWords(pods) + " " + one
	}
	return podsInWords(pods) + " " + many
}
