package preemption

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Answer is how the API server answers the eviction of a pod.
type Answer int

// The answers.
const (
	// Granted: the pod is deleted.
	Granted Answer = iota
	// Denied: a budget allows none now (429). kubectl drain asks again until it does.
	Denied
	// Refused: with an error on which kubectl drain gives the pod up.
	Refused
	// Unsure: that is not known.
	Unsure
)

// Evictions answer requests to evict pods, one after the other, as the API server of Kubernetes 1.34 to
// 1.37.2 does (pkg/registry/core/pod/storage/eviction.go), and count what budgets allow in between as the
// disruption controller does. The zero value grants all.
type Evictions struct {
	snapshot *inspect.Snapshot
	budgets  []*allowance
}

// allowance is what a budget allows after some evictions.
type allowance struct {
	budget
	allowed, healthy int
	// unconfirmed is how many evictions were granted that the disruption controller has not seen.
	unconfirmed int
	// ready are the pods that have become ready and let nobody go yet, and lost those that went and have not
	// been replaced, both in words. surelyLost says that the latter is certain of all.
	ready, lost []string
	surelyLost  bool
	// hopes is how many pods may become ready of which that is not known.
	hopes int
}

// NewEvictions returns the state of the budgets as they were read.
func NewEvictions(s *inspect.Snapshot) *Evictions {
	e := &Evictions{snapshot: s}
	for _, b := range selectable(s) {
		status := &b.Status
		a := &allowance{budget: b, allowed: int(status.DisruptionsAllowed), unconfirmed: len(status.DisruptedPods), surelyLost: true}
		// What was granted and is still counted as healthy goes soon.
		a.healthy = min(int(status.CurrentHealthy), int(status.DesiredHealthy)+max(0, a.allowed))
		present := 0
		for _, pod := range s.Objects().Pods {
			if !a.protects(pod) || inspect.Ended(pod) || pod.DeletionTimestamp != nil {
				continue
			}
			present++
			if pod.Spec.NodeName != "" && !ready(pod) {
				a.hopes++
			}
		}
		a.hopes += max(0, int(status.ExpectedPods)-present)
		e.budgets = append(e.budgets, a)
	}
	return e
}

// name is the budget in words.
func (a *allowance) name() string { return "budget " + a.Namespace + "/" + a.Name }

// ready reports whether a pod is ready, which is what budgets take for healthy.
func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// Of returns the names of the budgets that protect a pod.
func (e *Evictions) Of(pod *corev1.Pod) []string {
	var out []string
	for _, a := range e.protecting(pod) {
		out = append(out, a.Namespace+"/"+a.Name)
	}
	return out
}

func (e *Evictions) protecting(pod *corev1.Pod) []*allowance {
	return slices.DeleteFunc(slices.Clone(e.budgets), func(a *allowance) bool { return !a.protects(pod) })
}

// maxGranted is how many evictions the API server grants that the disruption controller has not seen yet.
const maxGranted = 2000

// Ask asks for the eviction of a pod. The eviction says why it is not simply granted; it is nil if it is.
func (e *Evictions) Ask(pod *corev1.Pod) (Answer, *explain.Eviction) {
	if ignoresBudgets(pod) {
		return Granted, nil
	}
	of := e.protecting(pod)
	say := func(answer Answer, format string, args ...any) (Answer, *explain.Eviction) {
		return answer, &explain.Eviction{Budgets: e.Of(pod), Open: answer == Unsure, Message: fmt.Sprintf(format, args...)}
	}
	switch {
	case len(of) > 1:
		return say(Refused, "budgets %s protect it, and the API server evicts no pod that more than one protects", words.And(e.Of(pod)))
	case e.snapshot != nil && unread(e.snapshot, inspect.Budgets, pod.Namespace):
		return say(Unsure, "PodDisruptionBudgets of namespace %s were not read", pod.Namespace)
	case len(of) == 0:
		return Granted, nil
	}
	a := of[0]
	switch {
	case a.newer != "":
		return say(Unsure, "%s", a.newer)
	case a.ignores(pod):
		return Granted, nil
	case a.Status.ObservedGeneration < a.Generation, !a.known():
		return say(Unsure, "%s was made or changed, and its pods are not counted yet", a.name())
	case a.allowed < 0:
		return say(Refused, "%s allows less than none, which the API server refuses", a.name())
	case a.unconfirmed > maxGranted:
		return say(Refused, "%s has granted %d evictions that are not confirmed, and the API server refuses more", a.name(), a.unconfirmed)
	case a.allowed == 0 && a.syncFailed() != "":
		return Denied, nil
	case a.allowed == 0 && a.Status.ExpectedPods == 0:
		return say(Unsure, "%s counts no pods: they are new, or no controller has them", a.name())
	case a.allowed == 0:
		return Denied, nil
	}
	after := a.ready[:max(0, len(a.ready)-a.allowed+1)]
	a.ready = a.ready[len(after):]
	a.allowed, a.healthy, a.unconfirmed = a.allowed-1, a.healthy-1, a.unconfirmed+1
	if len(after) == 0 {
		return Granted, nil
	}
	return say(Granted, "waits until %s %s ready: %s allows %d of %d",
		words.Shorten(after, maxAfter), words.Plural(len(after), "is", "are"), a.name(), a.Status.DisruptionsAllowed, a.Status.ExpectedPods)
}

// ignoresBudgets reports whether a pod goes whatever budgets protect it: it does not run, or goes already.
func ignoresBudgets(pod *corev1.Pod) bool {
	switch pod.Status.Phase {
	case corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed:
		return true
	}
	return pod.DeletionTimestamp != nil
}

// ignores reports whether a budget lets a pod go without counting it, because it is not ready.
func (a *allowance) ignores(pod *corev1.Pod) bool {
	if ready(pod) {
		return false
	}
	policy, desired := a.Spec.UnhealthyPodEvictionPolicy, int(a.Status.DesiredHealthy)
	return policy != nil && *policy == policyv1.AlwaysAllow || desired > 0 && a.healthy >= desired
}

// maxAfter is the number of pods that are named which an eviction waits for.
const maxAfter = 3

// syncFailed is why the disruption controller cannot count the pods of a budget, or "".
func (b *budget) syncFailed() string {
	c := meta.FindStatusCondition(b.Status.Conditions, policyv1.DisruptionAllowedCondition)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != policyv1.SyncFailedReason {
		return ""
	}
	return c.Message
}

// uncountable reports whether the disruption controller cannot count the pods of a budget as long as there
// are some pods: the budget depends on how many there should be, which a Job does not say as a scale.
func (b *budget) uncountable(pods []*corev1.Pod) bool {
	return (b.Spec.MinAvailable == nil || b.Spec.MinAvailable.Type == intstr.String) && slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		owner := metav1.GetControllerOfNoCopy(pod)
		return owner != nil && owner.Kind == "Job" && strings.HasPrefix(owner.APIVersion, "batch/") && b.protects(pod)
	})
}

// Replaced says that a pod which went has been replaced by one that found a node and becomes ready, or that
// this is not so, for certain or perhaps. One that was not ready was not counted, and is among those that may
// become ready wherever they are.
func (e *Evictions) Replaced(pod *corev1.Pod, found, certain bool) {
	if !ready(pod) || pod.DeletionTimestamp != nil {
		return
	}
	name := "a replacement of " + pod.Namespace + "/" + pod.Name
	for _, a := range e.protecting(pod) {
		if found {
			a.add(name)
		} else {
			a.lost, a.surelyLost = append(a.lost, name), a.surelyLost && certain
		}
	}
}

// Ready says that a pod becomes ready which had no node.
func (e *Evictions) Ready(pod *corev1.Pod) {
	for _, a := range e.protecting(pod) {
		a.add(pod.Namespace + "/" + pod.Name)
	}
}

// add counts a pod as healthy, if pods are counted.
func (a *allowance) add(name string) {
	if a.syncFailed() != "" {
		return
	}
	a.ready = append(a.ready, name)
	a.healthy++
	a.unconfirmed = len(a.Status.DisruptedPods)
	a.allowed = max(a.allowed, a.healthy-int(a.Status.DesiredHealthy))
}

// Hope says that a pod which had no node may become ready.
func (e *Evictions) Hope(pod *corev1.Pod) {
	for _, a := range e.protecting(pod) {
		a.hopes++
	}
}

// Held says why a pod whose eviction was denied stays, when nothing more changes. always says that the budget
// allows none however many of its pods are healthy.
func (e *Evictions) Held(pod *corev1.Pod) (out explain.Eviction, always bool) {
	out.Budgets = e.Of(pod)
	a := e.protecting(pod)[0]
	if why := a.syncFailed(); why != "" {
		out.Open = !a.uncountable(e.snapshot.Objects().Pods)
		out.Message = fmt.Sprintf("%s allows none as the disruption controller cannot count its pods: %s", a.name(), words.OneLine(why))
		return out, true
	}
	desired := int(a.Status.DesiredHealthy)
	needed := desired + 1 - a.healthy
	out.Open = a.hopes >= needed || !a.surelyLost && a.hopes+len(a.lost) >= needed
	switch {
	case len(a.lost) > 0:
		out.Message = fmt.Sprintf("waits until %s %s ready, which %s no node: %s allows %d of %d", words.Shorten(a.lost, maxAfter),
			words.Plural(len(a.lost), "is", "are"), words.Plural(len(a.lost), "finds", "find"), a.name(), a.Status.DisruptionsAllowed, a.Status.ExpectedPods)
	case !out.Open && int(a.Status.ExpectedPods) <= desired:
		always = true
		out.Message = fmt.Sprintf("%s needs %d healthy pods of %d, so it never allows an eviction", a.name(), desired, a.Status.ExpectedPods)
	case out.Open:
		out.Message = fmt.Sprintf("waits until %s of it %s healthy, which is not known: %s needs %d and has %d",
			words.Count(needed, "more pod"), words.Plural(needed, "is", "are"), a.name(), desired, a.healthy)
	default:
		out.Message = fmt.Sprintf("%s needs %d healthy pods and has %d, and nothing that is planned changes that", a.name(), desired, a.healthy)
	}
	return out, always
}
