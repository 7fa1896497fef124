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
	// and firm that PodDisruptionBudgets do not change that either.
	determined, firm bool
}

// fit is whether the pod would fit.
type fit int

const (
	fitsNot fit = iota
	fits
	fitsPerhaps // not known, or not tried
)

// without asks the filters about a node without some of its pods.
func (d *decision) without(node inspect.NodeName, gone []*corev1.Pod) fit {
	if d.tries--; d.tries < 0 {
		return fitsPerhaps
	}
	refs := make([]inspect.PodRef, len(gone))
	for i, pod := range gone {
		refs[i] = inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	}
	p := d.pod.Without(refs...)
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
// gives back those without which there is room.
func (d *decision) victims(node inspect.NodeName, lower []*corev1.Pod) (candidate, explain.ObstacleKind) {
	switch d.without(node, lower) {
	case fitsNot:
		return candidate{}, explain.NotEnough
	case fitsPerhaps:
		return candidate{}, explain.NotKnown
	case fits:
	}
	c := candidate{node: node, determined: true}
	gone := slices.Clone(lower)
	for _, pod := range lower {
		spared := slices.DeleteFunc(slices.Clone(gone), func(other *corev1.Pod) bool { return other == pod })
		switch d.without(node, spared) {
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
	c.determined = c.determined && d.inAnyOrder(node, lower, c.victims, d.moreImportant)
	c.firm = c.determined && d.inAnyOrder(node, lower, c.victims, d.firmlyBefore)
	return c, ""
}

// firmlyBefore reports whether the scheduler spares a before b whatever PodDisruptionBudgets there are: those
// that one protects come first.
func (d *decision) firmlyBefore(a, b *corev1.Pod) bool {
	return !d.protectable(b) && d.moreImportant(a, b)
}

// protectable reports whether a PodDisruptionBudget could protect a pod. Before 1.38 the scheduler takes an
// empty selector to select no pod, and asks nothing about pods without labels.
func (d *decision) protectable(pod *corev1.Pod) bool {
	return len(pod.Labels) > 0 || !d.snapshot.Release().Modelled().Before(38, 0)
}

// inAnyOrder reports whether the scheduler ends the same pods in every order of the pods that keeps what is
// surely before what: none of them fits together with those that were surely spared before it. The more pods
// there are, the less fits, so none of them can be spared, and all others can.
func (d *decision) inAnyOrder(node inspect.NodeName, lower, victims []*corev1.Pod, before func(a, b *corev1.Pod) bool) bool {
	if a := d.Pod.Spec.Affinity; a != nil && a.PodAffinity != nil && len(lower) > 1 {
		return false // with more pods, more may fit
	}
	for _, victim := range victims {
		gone := slices.DeleteFunc(slices.Clone(lower), func(pod *corev1.Pod) bool {
			return pod == victim || !slices.Contains(victims, pod) && before(pod, victim)
		})
		if d.without(node, gone) != fitsNot {
			return false
		}
	}
	return true
}

// choose chooses one of the nodes as the scheduler does (pickOneNodeForPreemption).
func (d *decision) choose() {
	best := &d.candidates[0]
	for i := range d.candidates[1:] {
		if c := &d.candidates[i+1]; better(c, best) > 0 {
			best = c
		}
	}
	only, firm := true, best.firm
	for i := range d.candidates {
		c := &d.candidates[i]
		if c == best {
			continue
		}
		only = only && c.determined && better(best, c) > 0
		firm = firm && !slices.ContainsFunc(best.victims, d.protectable) && c.firm
	}
	enough := max(fewCandidates, d.potential/candidateShare)
	only = only && len(d.candidates) <= enough && d.obstacles[explain.NotKnown] == 0
	d.out.Outcome, d.out.Node = explain.PreemptionPossible, best.node
	d.out.Determined = only && best.determined
	d.out.Budgets = !firm
	for _, pod := range best.victims {
		d.out.Victims = append(d.out.Victims, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
	}
}

// better is positive if the scheduler prefers a to b, as far as that is sure: lower priorities, fewer pods,
// pods that started later.
func better(a, b *candidate) int {
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
