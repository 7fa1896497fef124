package preemption

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// candidate is a node on which room can be made.
type candidate struct {
	node inspect.NodeName
	// victims are the pods that would end, the most important first.
	victims []*corev1.Pod
	// determined says that it is these in whatever order the scheduler takes pods that are equally important,
	// and firm that budgets which are not known do not change that either.
	determined, firm bool
	// violating is how many of them violate a budget, and surely whatever those budgets are.
	violating, surely violations
}

// fit is whether the pod would fit.
type fit int

const (
	fitsNot fit = iota
	fits
	fitsPerhaps // not known, or not tried
)

// without asks the filters about a node without some of its pods of lower priority.
func (d *decision) without(node inspect.NodeName, lower, gone []*corev1.Pod) fit {
	if d.tries--; d.tries < 0 {
		return fitsPerhaps
	}
	refs := make([]inspect.PodRef, len(gone))
	for i, pod := range gone {
		refs[i] = inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	}
	p := d.pod.Tried(lower, refs...)
	o := p.On(node)
	switch {
	case len(o.Refusals)+len(p.Everywhere.Refusals) > 0:
		return fitsNot
	case len(o.Doubts)+len(p.Everywhere.Doubts) > 0:
		return fitsPerhaps
	}
	return fits
}

// victims chooses pods of lower priority, which are sorted, as the scheduler does: it takes all of them, and
// gives back those without which there is room, first those that violate a budget.
func (d *decision) victims(node inspect.NodeName, lower []*corev1.Pod) (candidate, explain.ObstacleKind) {
	switch d.without(node, lower, lower) {
	case fitsNot:
		return candidate{}, explain.NotEnough
	case fitsPerhaps:
		return candidate{}, explain.NotKnown
	case fits:
	}
	c := candidate{node: node, determined: true}
	gone, of := slices.Clone(lower), d.protect(lower)
	for _, pod := range of.pods {
		spared := slices.DeleteFunc(slices.Clone(gone), func(other *corev1.Pod) bool { return other == pod })
		switch d.without(node, lower, spared) {
		case fits:
			gone = spared
			continue
		case fitsPerhaps:
			c.determined = false
		case fitsNot:
		}
		c.victims = append(c.victims, pod)
	}
	if len(c.victims) == 0 {
		return candidate{}, explain.NotKnown // the scheduler would have found room before
	}
	slices.SortStableFunc(c.victims, d.byImportance)
	c.determined = c.determined && d.inAnyOrder(node, lower, c.victims, of.counted)
	c.violating = d.violations(of, of.counted, c.victims)
	c.firm, c.surely = c.determined, c.violating
	if of.unsure {
		c.firm = c.determined && d.inAnyOrder(node, lower, c.victims, of.firm)
		c.surely = d.violations(of, of.firm, c.victims)
	}
	return c, ""
}

// inAnyOrder reports whether the scheduler ends the same pods in every order of the pods that keeps what is
// surely before what: none of them fits together with those that were surely spared before it. The more pods
// there are, the less fits, so none of them can be spared, and all others can.
func (d *decision) inAnyOrder(node inspect.NodeName, lower, victims []*corev1.Pod, is map[*corev1.Pod]protection) bool {
	if a := d.Pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(lower) > 1 {
		return false // with more pods, more may fit
	}
	for _, victim := range victims {
		gone := slices.DeleteFunc(slices.Clone(lower), func(pod *corev1.Pod) bool {
			return pod == victim || !slices.Contains(victims, pod) && d.before(pod, victim, is)
		})
		if d.without(node, lower, gone) != fitsNot {
			return false
		}
	}
	return true
}

// choose chooses one of the nodes as the scheduler does (pickOneNodeForPreemption).
func (d *decision) choose() {
	best := &d.candidates[0]
	for i := range d.candidates[1:] {
		if c := &d.candidates[i+1]; better(c, best, c.violating, best.violating) > 0 {
			best = c
		}
	}
	only, firm := true, best.firm
	for i := range d.candidates {
		c := &d.candidates[i]
		if c == best {
			continue
		}
		only = only && c.determined && better(best, c, best.violating, c.violating) > 0
		firm = firm && c.firm && better(best, c, best.surely, c.surely) > 0
	}
	enough := max(fewCandidates, d.potential/candidateShare)
	only = only && len(d.candidates) <= enough && d.obstacles[explain.NotKnown] == 0
	d.out.Outcome, d.out.Node = explain.PreemptionPossible, best.node
	only = only && best.determined
	d.out.Determined, d.out.Budgets = only && firm, only && !firm
	for _, pod := range best.victims {
		d.out.Victims = append(d.out.Victims, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
	}
	d.vain = len(d.pod.Without(d.out.Victims...).On(best.node).Refusals) > 0
}

// better is positive if the scheduler prefers a to b, as far as that is sure: fewer pods that violate a
// budget, lower priorities, fewer pods, pods that started later.
func better(a, b *candidate, violating, other violations) int {
	switch {
	case violating.most < other.least:
		return 1
	case other.most < violating.least:
		return -1
	case violating != other || violating.least != violating.most:
		return 0
	}
	first, second := a.victims[0], b.victims[0] // of those of the highest priority that which started first
	return cmp.Or(
		cmp.Compare(corev1helpers.PodPriority(second), corev1helpers.PodPriority(first)),
		cmp.Compare(sumOf(b), sumOf(a)), len(b.victims)-len(a.victims), byImportance(first, second),
	)
}

// sumOf is the sum of the priorities of the pods that would end, each counted from the lowest that there is.
func sumOf(c *candidate) (sum int64) {
	const lowest = -1 << 31
	for _, pod := range c.victims {
		sum += int64(corev1helpers.PodPriority(pod)) - lowest
	}
	return sum
}
