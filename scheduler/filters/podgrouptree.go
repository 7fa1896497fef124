package filters

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// From Kubernetes 1.38 on, with the gate CompositePodGroup, a pod group may be part of a CompositePodGroup,
// and that of another one. The scheduler takes all pods of such a tree at once, one pod group after the other
// (compositePodGroupSchedulingDefaultAlgorithm).

// treeGroup is a pod group, or a CompositePodGroup with its children.
type treeGroup struct {
	Object
	parent   string
	created  metav1.Time
	min      int // pods, or children
	gang     bool
	priority *int32 // nil if only the API server knows it
	policy   string // on preemption, or "" if it does not say
	workload string
	topology string
	all      bool // its parts are disrupted together
	single   bool
	children []*treeGroup
	pods     []*corev1.Pod // of a pod group, those that another scheduler has to place left out
	leaving  int           // of these, those that wait and are being deleted
}

func treePodGroup(g *schedulingv1beta1.PodGroup) *treeGroup {
	return newTreeGroup(groupName{g.Namespace, g.Name}.object(), g)
}

// treeComposite makes a pod group of a CompositePodGroup first, which says the same of its children.
func treeComposite(g *schedulingv1alpha3.CompositePodGroup) *treeGroup {
	s, like := &g.Spec, &schedulingv1beta1.PodGroup{ObjectMeta: g.ObjectMeta}
	like.Spec = schedulingv1beta1.PodGroupSpec{
		ParentCompositePodGroupName: s.ParentCompositePodGroupName, WorkloadRef: (*schedulingv1beta1.WorkloadReference)(s.WorkloadRef),
		Priority: s.Priority, PriorityClassName: s.PriorityClassName, PreemptionPolicy: (*schedulingv1beta1.PreemptionPolicy)(s.PreemptionPolicy),
	}
	if gang := s.SchedulingPolicy.Gang; gang != nil {
		like.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: gang.MinGroupCount}
	}
	out := newTreeGroup(Object{Kind: compositeKind, Namespace: g.Namespace, Name: g.Name}, like)
	if c := s.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		out.topology = c.Topology[0].Key
	}
	if mode := s.DisruptionMode; mode != nil {
		out.all, out.single = mode.All != nil, mode.Single != nil
	}
	return out
}

func newTreeGroup(of Object, g *schedulingv1beta1.PodGroup) *treeGroup {
	s := &g.Spec
	out := &treeGroup{Object: of, created: g.CreationTimestamp, min: 1, gang: s.SchedulingPolicy.Gang != nil, priority: s.Priority}
	if out.gang {
		out.min = int(s.SchedulingPolicy.Gang.MinCount)
	}
	if s.ParentCompositePodGroupName != nil {
		out.parent = *s.ParentCompositePodGroupName
	}
	if s.Priority == nil && s.PriorityClassName == "" {
		out.priority = new(int32)
	}
	if s.PreemptionPolicy != nil {
		out.policy = string(*s.PreemptionPolicy)
	}
	if s.WorkloadRef != nil {
		out.workload = s.WorkloadRef.WorkloadName
	}
	if c := s.SchedulingConstraints; c != nil && len(c.Topology) > 0 {
		out.topology = c.Topology[0].Key
	}
	if mode := s.DisruptionMode; mode != nil {
		out.all, out.single = mode.All != nil, mode.Single != nil
	}
	return out
}

const compositeKind = "CompositePodGroup"

func (t *treeGroup) title() string { return t.Kind + " " + t.Name }

// groups are all that are taken as a whole, the root first.
func (g *gang) groups() []*treeGroup {
	if g.root == nil {
		return []*treeGroup{treePodGroup(g.PodGroup)}
	}
	out := []*treeGroup{g.root}
	_ = g.root.below(1, func(child, _ *treeGroup, _ int) *Refusal { out = append(out, child); return nil })
	return out
}

// policy is the preemption policy that a group has, or "".
func (g *gang) policy() string {
	for _, t := range g.groups() {
		if t.policy != "" {
			return t.policy
		}
	}
	return ""
}

// able reports whether there are enough pods for what the group and those below it need.
func (t *treeGroup) able() bool {
	return t.ready() >= t.min
}

// ready is how many pods, or children that are able, a group has.
func (t *treeGroup) ready() int {
	n := len(t.pods) - t.leaving
	for _, child := range t.children {
		if child.able() {
			n++
		}
	}
	return n
}

// whole reports whether no part of the group can be placed without all others.
func (t *treeGroup) whole() bool {
	return t.gang && t.min == len(t.pods)-t.leaving+len(t.children) && !slices.ContainsFunc(t.children, func(child *treeGroup) bool { return !child.whole() })
}

// leaves are the pod groups, in the order in which the scheduler takes them.
func (t *treeGroup) leaves() []*treeGroup {
	if t.Kind != compositeKind {
		return []*treeGroup{t}
	}
	var out []*treeGroup
	for _, child := range t.children {
		out = append(out, child.leaves()...)
	}
	return out
}

// below calls f for each group below this one, with its parent and its depth. It stops at a refusal.
func (t *treeGroup) below(depth int, f func(child, parent *treeGroup, depth int) *Refusal) *Refusal {
	for _, child := range t.children {
		if r := f(child, t, depth+1); r != nil {
			return r
		}
		if r := child.below(depth+1, f); r != nil {
			return r
		}
	}
	return nil
}

// climb finds the tree of a pod group that is part of one. The outcome says why there is none, or why it is
// not known; then root stays nil.
func (g *gang) climb() Outcome {
	composites, parent := g.snapshot.Around().CompositePodGroups, *g.Spec.ParentCompositePodGroupName
	switch {
	case g.snapshot.Release().Modelled().Before(38, 0):
		return undecidedGroup("composite", fmt.Sprintf("PodGroup %s is scheduled together with the others of CompositePodGroup %s, and how Kubernetes 1.37 does that is not known", g.Name, parent), g.facts())
	case g.unread(inspect.CompositePodGroups, len(composites)) || g.snapshot.Health(inspect.CompositePodGroups).State == inspect.NotServed:
		return doubt(Doubt{Plugin: GangScheduling, Resource: inspect.CompositePodGroups, Key: "unread", Message: fmt.Sprintf("PodGroup %s is part of CompositePodGroup %s, which was not read", g.Name, parent), Group: g.facts()})
	case g.unread(inspect.PodGroups, len(g.snapshot.Around().PodGroups)):
		return doubt(Doubt{Plugin: GangScheduling, Resource: inspect.PodGroups, Key: "unread", Message: fmt.Sprintf("not all pod groups of CompositePodGroup %s were read", parent), Group: g.facts()})
	}
	path := []*treeGroup{treePodGroup(g.PodGroup)}
	for at := path[0]; at.parent != ""; at = path[len(path)-1] {
		i := slices.IndexFunc(composites, func(c *schedulingv1alpha3.CompositePodGroup) bool {
			return c.Namespace == g.Namespace && c.Name == at.parent
		})
		switch {
		case i < 0:
			return refuse(Refusal{
				Plugin: GangScheduling, Code: PodGroupIncomplete, Key: "missing", Unresolvable: true, Object: Object{Kind: compositeKind, Namespace: g.Namespace, Name: at.parent},
				Message: fmt.Sprintf("the pod waits for CompositePodGroup %s, which %s is part of and which does not exist", at.parent, at.title()),
			})
		case len(path) == schedulingv1beta1.WorkloadMaxTreeDepth:
			return refuse(*g.tooDeep(at))
		}
		path = append(path, treeComposite(composites[i]))
	}
	g.path, g.root = path, path[len(path)-1]
	g.grow(g.root, 1)
	g.placed, g.waiting = nil, nil
	for _, leaf := range g.root.leaves() {
		placed, waiting := g.members(groupName{g.Namespace, leaf.Name})
		leaf.pods = slices.Concat(placed, waiting)
		for _, pod := range waiting {
			if pod.DeletionTimestamp != nil {
				leaf.leaving++
			}
		}
		g.placed, g.waiting, g.parts = append(g.placed, placed...), append(g.waiting, waiting...), append(g.parts, len(waiting))
	}
	return Outcome{}
}

func (g *gang) tooDeep(at *treeGroup) *Refusal {
	return g.refusal(PodGroupInvalid, "depth", fmt.Sprintf("a tree of pod groups is at most %d deep, and that of %s is deeper, or a circle", schedulingv1beta1.WorkloadMaxTreeDepth, at.title()), nil)
}

// grow finds all groups below a CompositePodGroup, those that were created first before others.
func (g *gang) grow(t *treeGroup, depth int) {
	if t.Kind != compositeKind || depth > schedulingv1beta1.WorkloadMaxTreeDepth {
		return
	}
	is := func(namespace string, parent *string) bool {
		return namespace == g.Namespace && parent != nil && *parent == t.Name
	}
	for _, group := range g.snapshot.Around().PodGroups {
		if is(group.Namespace, group.Spec.ParentCompositePodGroupName) {
			t.children = append(t.children, treePodGroup(group))
		}
	}
	for _, group := range g.snapshot.Around().CompositePodGroups {
		if is(group.Namespace, group.Spec.ParentCompositePodGroupName) {
			t.children = append(t.children, treeComposite(group))
		}
	}
	slices.SortStableFunc(t.children, func(a, b *treeGroup) int {
		return cmp.Or(a.created.Compare(b.created.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	for i, child := range t.children {
		if at := slices.IndexFunc(g.path, func(t *treeGroup) bool { return t.Object == child.Object }); at >= 0 {
			t.children[i] = g.path[at]
		}
		g.grow(t.children[i], depth+1)
	}
}

// lacks says that a group from the pod's own up to the root has too few pods or children.
func (g *gang) lacks() *Refusal {
	for i, t := range g.path {
		if i > 0 && !t.able() { // of the pod's own says short
			return g.refusal(PodGroupIncomplete, "groups", fmt.Sprintf("the pod waits for the others of %s, which has %d of the %d groups that it needs with enough pods", t.title(), t.ready(), t.min), nil)
		}
	}
	return nil
}

// malformed says that a group of the tree does not agree with the root, or with its parent.
func (g *gang) malformed() *Refusal {
	if g.root == nil {
		return nil
	}
	policy := g.policy()
	return g.root.below(1, func(t, parent *treeGroup, depth int) *Refusal {
		invalid := func(key, format string, args ...any) *Refusal {
			return g.refusal(PodGroupInvalid, key, fmt.Sprintf("%s: ", t.title())+fmt.Sprintf(format, args...), nil)
		}
		switch {
		case t.Kind == compositeKind && depth == schedulingv1beta1.WorkloadMaxTreeDepth:
			return g.tooDeep(t)
		case t.workload != g.root.workload:
			return invalid("workload", "all pod groups of a tree must be of one Workload, and this is of %q, %s of %q", t.workload, g.root.title(), g.root.workload)
		case t.priority != nil && g.root.priority != nil && *t.priority != *g.root.priority:
			return invalid("priority", "all pod groups of a tree must have one priority, and this has %d, %s %d", *t.priority, g.root.title(), *g.root.priority)
		case t.policy != "" && t.policy != policy:
			return invalid("preemption policy", "all pod groups of a tree must have one preemption policy, and this has %s, another one %s", t.policy, policy)
		case parent.gang && !t.gang:
			return invalid("policy", "a gang has gangs only, and this is none while %s is one", parent.title())
		case parent.all && t.single:
			return invalid("disruption", "what is part of %s is disrupted together with it, not by itself", parent.title())
		}
		return nil
	})
}
