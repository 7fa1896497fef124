package preemption

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// protection says whether a pod violates a PodDisruptionBudget if it ends, however the scheduler orders pods
// that are equally important.
type protection int

const (
	unprotected protection = iota
	perhapsProtected
	protected
)

// budget is a PodDisruptionBudget, with its selector compiled.
type budget struct {
	*policyv1.PodDisruptionBudget
	selector labels.Selector
	// newer says what of it is newer than this program, or is "".
	newer string
}

// known reports whether the disruption controller has seen the budget, and this program knows what it says.
func (b *budget) known() bool {
	return b.newer == "" && !reflect.DeepEqual(b.Status, policyv1.PodDisruptionBudgetStatus{})
}

// selectable are the budgets with a valid selector; the scheduler passes over others.
func selectable(s *inspect.Snapshot) []budget {
	var out []budget
	for _, b := range s.Objects().Budgets {
		if selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector); err == nil {
			out = append(out, budget{b, selector, s.Newer().Of("PodDisruptionBudget", b)})
		}
	}
	return out
}

// maxLater is the number of ways that are told in which budgets may have been counted.
const maxLater = 16

// Later are the budgets as kube-scheduler may see them once pods have ended since a snapshot and others have
// found nodes: when the disruption controller has seen any number of those that ended, and any number of the
// others have become ready. They are told only as far as budgets differ that protect some of the pods that
// may be next, and are nil if none does. known says whether those are all.
func Later(since, now *inspect.Snapshot, ended, next []*corev1.Pod) (out [][]*policyv1.PodDisruptionBudget, known bool) {
	budgets := now.Objects().Budgets
	out = [][]*policyv1.PodDisruptionBudget{budgets}
	for _, b := range selectable(now) {
		if !slices.ContainsFunc(next, b.protects) {
			continue
		}
		least, most, known := b.later(since, now, ended)
		if !known || len(out)*int(most-least+1) > maxLater {
			return nil, false
		}
		at := slices.Index(budgets, b.PodDisruptionBudget)
		var ways [][]*policyv1.PodDisruptionBudget
		for allowed := least; allowed <= most; allowed++ {
			own := b.DeepCopy()
			own.Status.DisruptionsAllowed = allowed
			for _, way := range out {
				way = slices.Clone(way)
				way[at] = own
				ways = append(ways, way)
			}
		}
		out = ways
	}
	if len(out) == 1 {
		return nil, true
	}
	return out, true
}

// later says between what a budget allows once some of its pods have ended since a snapshot, and those that
// have found nodes may be ready. It is not known where the disruption controller cannot count its pods, and
// those that ended may be what kept it from that.
func (b *budget) later(since, now *inspect.Snapshot, ended []*corev1.Pod) (least, most int32, known bool) {
	allowed, healthy, touched := b.Status.DisruptionsAllowed, b.Status.CurrentHealthy, false
	least = allowed
	for _, pod := range ended {
		if b.protects(pod) {
			touched = true
			if ready(pod) {
				least--
			}
		}
	}
	for _, pod := range now.Objects().Pods {
		if !b.protects(pod) || pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || inspect.Ended(pod) || ready(pod) {
			continue
		}
		healthy++
		before, ok := since.Pod(inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		touched = touched || !ok || before.Spec.NodeName == ""
	}
	staying := slices.DeleteFunc(slices.Clone(now.Objects().Pods), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	if !touched || b.syncFailed() != "" && b.uncountable(staying) {
		return allowed, allowed, true
	}
	return min(allowed, max(least, 0)), max(allowed, healthy-b.Status.DesiredHealthy), b.syncFailed() == ""
}

// protects reports whether a budget is about a pod. An empty selector selects all pods of the namespace.
func (b *budget) protects(pod *corev1.Pod) bool {
	return b.Namespace == pod.Namespace && b.selector.Matches(labels.Set(pod.Labels))
}

// takes reports whether the scheduler takes one from what the budget allows if the pod ends: an eviction that
// the API server has granted is counted already.
func (d *decision) takes(b *budget, pod *corev1.Pod) bool {
	if b.Namespace != pod.Namespace || !d.protectable(pod) || b.selector.Empty() && d.beforeEmptySelectors() {
		return false
	}
	_, granted := b.Status.DisruptedPods[pod.Name]
	return !granted && b.selector.Matches(labels.Set(pod.Labels))
}

// protectable reports whether a budget could protect a pod.
func (d *decision) protectable(pod *corev1.Pod) bool {
	return len(pod.Labels) > 0 || !d.beforeEmptySelectors()
}

// beforeEmptySelectors reports whether the scheduler takes an empty selector to select no pod, and asks
// nothing about pods without labels, as before 1.38.
func (d *decision) beforeEmptySelectors() bool { return d.snapshot.Release().Modelled().Before(38, 0) }

// unread reports whether there may be objects in a namespace, or "" for all, that were not read.
func unread(s *inspect.Snapshot, r inspect.Resource, namespace string) bool {
	h := s.Health(r)
	return h.PartialIn(namespace) || h.State == inspect.NotRead && s.ServerVersion() != ""
}

// lowerPods are the pods of a node that could end.
type lowerPods struct {
	// pods are in the order in which the scheduler spares them, or one of those orders.
	pods []*corev1.Pod
	// violating are those that violate a budget, in that order.
	violating map[*corev1.Pod]bool
	// counted takes the budgets to be as they were read; firm allows for those that were not, and for those
	// whose status is not known yet.
	counted, firm map[*corev1.Pod]protection
	// unsure says that firm differs from counted.
	unsure bool
	// several says that more than one budget protects a pod. From which it takes depends on chance.
	several bool
}

// protect finds out which pods, the most important first, violate a budget. Each takes one from what its
// budgets allow, the most important first, and violates one that allows no more; those behind it in the list
// of budgets, which is in no order, are not asked (FilterVictimsWithPDBViolation). Pods that violate one are
// spared first.
func (d *decision) protect(lower []*corev1.Pod) *lowerPods {
	out := &lowerPods{
		violating: map[*corev1.Pod]bool{}, counted: map[*corev1.Pod]protection{}, firm: map[*corev1.Pod]protection{},
	}
	number := map[*corev1.Pod]int{}
	left := make([]int32, len(d.budgets))
	taking := make([][]*corev1.Pod, len(d.budgets))
	for i := range d.budgets {
		left[i] = d.budgets[i].Status.DisruptionsAllowed
	}
	var free []*corev1.Pod
	for _, pod := range lower {
		for i := range d.budgets {
			if !d.takes(&d.budgets[i], pod) {
				continue
			}
			number[pod]++
			taking[i] = append(taking[i], pod)
			if !out.violating[pod] {
				left[i]--
				out.violating[pod] = left[i] < 0
			}
		}
		out.several = out.several || number[pod] > 1
		if out.violating[pod] {
			out.pods = append(out.pods, pod)
		} else {
			free = append(free, pod)
		}
		if d.protectable(pod) && unread(d.snapshot, inspect.Budgets, pod.Namespace) {
			out.firm[pod], out.unsure = perhapsProtected, true
		}
	}
	out.pods = append(out.pods, free...)
	for i := range d.budgets {
		d.countTakers(out, &d.budgets[i], taking[i], number)
	}
	return out
}

// countTakers finds out whether pods violate a budget in whatever order they take from it. number is that of
// the budgets that each pod takes from.
func (d *decision) countTakers(out *lowerPods, b *budget, taking []*corev1.Pod, number map[*corev1.Pod]int) {
	for _, pod := range taking {
		least, most := 0, 0 // that come before it
		for _, other := range taking {
			if other == pod || d.moreImportant(pod, other) {
				continue
			}
			most++
			if d.moreImportant(other, pod) && number[other] == 1 {
				least++
			}
		}
		p := unprotected
		switch allowed := int(b.Status.DisruptionsAllowed); {
		case least >= allowed:
			p = protected
		case most >= allowed:
			p = perhapsProtected
		}
		out.counted[pod] = max(out.counted[pod], p)
		if !b.known() {
			p, out.unsure = perhapsProtected, true
		}
		out.firm[pod] = max(out.firm[pod], p)
	}
}

// before reports whether the scheduler surely tries to spare a before b, given what is known of budgets.
func (d *decision) before(a, b *corev1.Pod, is map[*corev1.Pod]protection) bool {
	switch x, y := is[a], is[b]; {
	case x == protected && y == unprotected:
		return true
	case x < y, x == perhapsProtected && y == perhapsProtected:
		return false
	}
	return d.moreImportant(a, b)
}

// violations are how many victims violate a budget, as far as that is sure.
type violations struct{ least, most int }

// violations counts those of victims, given what is known of budgets.
func (d *decision) violations(of *lowerPods, is map[*corev1.Pod]protection, victims []*corev1.Pod) violations {
	ends := map[*corev1.Pod]bool{}
	for _, pod := range victims {
		ends[pod] = true
	}
	var out violations
	counted, exact := 0, !of.several && !of.unsure
	for _, pod := range of.pods {
		switch {
		case ends[pod] && is[pod] == protected:
			out.least++
			out.most++
		case ends[pod] && is[pod] == perhapsProtected:
			out.most++
			exact = exact && !d.tiedWithSpared(pod, of.pods, ends)
		}
		if ends[pod] && of.violating[pod] {
			counted++
		}
	}
	if exact {
		return violations{counted, counted}
	}
	return out
}

// tiedWithSpared reports whether a pod that is spared is as important as one that ends. Of pods that are
// equally important and all end, it does not matter which violate a budget.
func (d *decision) tiedWithSpared(pod *corev1.Pod, all []*corev1.Pod, ends map[*corev1.Pod]bool) bool {
	for _, other := range all {
		if !ends[other] && !d.moreImportant(pod, other) && !d.moreImportant(other, pod) {
			return true
		}
	}
	return false
}
