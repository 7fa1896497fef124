package kueue

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/podrequests"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// waiting is a workload that waits for quota.
type waiting struct {
	*quota.Workload
	queue *queue
	ref   Ref
	// shape is equal for workloads that Kueue does not tell apart; see shapeOf.
	shape string
	// tried is at which flavor the search of the last cycle stopped, by pod set; see assigner.
	tried []map[corev1.ResourceName]int
	// refused says why it cannot be admitted when its turn comes; unknown why that is not decided.
	refused, unknown *Reason
}

// facts are what is so of a workload that waits, whatever the queues and who is in them.
type facts struct {
	// counted is nil until it is needed, and so is shape "".
	*counted
	shape string
	// exceeds says which container asks for more than its limits. It is nil if none does.
	exceeds *Reason
	looks   string
}

// factsOf are those of a workload of the state.
func (s *State) factsOf(w *kueuev1beta2.Workload) *facts {
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	out := s.known.facts[w]
	if out == nil {
		out = &facts{looks: looksOf(w)}
		for i := range w.Spec.PodSets {
			if name := podrequests.ExceedsLimits(podrequests.Adjusted(&w.Spec.PodSets[i].Template.Spec)); name != "" && out.exceeds == nil {
				out.exceeds = &Reason{Code: RequestsExceedLimits, PodSet: string(w.Spec.PodSets[i].Name), Name: name,
					Message: "resources validation failed: requests of " + name + " must not exceed its limits"}
			}
		}
		s.known.facts[w] = out
	}
	if out.counted == nil {
		counts := s.count(w)
		counts.refused, counts.unknown, counts.assumed = slices.Clip(counts.refused), slices.Clip(counts.unknown), slices.Clip(counts.assumed)
		out.counted, out.shape = &counts, shapeOf(out.looks, counts.sets)
	}
	return out
}

// templatesOf are the claim templates that a workload names.
func templatesOf(w *kueuev1beta2.Workload) []Ref {
	var out []Ref
	for i := range w.Spec.PodSets {
		for _, c := range w.Spec.PodSets[i].Template.Spec.ResourceClaims {
			if c.ResourceClaimTemplateName != nil {
				out = append(out, Ref{w.Namespace, *c.ResourceClaimTemplateName})
			}
		}
	}
	return out
}

// refOf names a workload.
func refOf(w *quota.Workload) Ref { return Ref{w.Object.Namespace, w.Object.Name} }

// holdsQuota reports whether the workload counts against quota.
func holdsQuota(w *kueuev1beta2.Workload) bool {
	return isTrue(w, kueuev1beta2.WorkloadQuotaReserved) && !isTrue(w, kueuev1beta2.WorkloadFinished) &&
		(w.Spec.Active == nil || *w.Spec.Active) && w.Status.Admission != nil
}

func isTrue(w *kueuev1beta2.Workload, condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// newWorkload is what a queue knows of a workload; its pod sets are still to be set.
func (s *State) newWorkload(w *kueuev1beta2.Workload, queue *quota.Node) *quota.Workload {
	out := &quota.Workload{Object: w, Queue: queue, Reserved: s.now, Evicted: isTrue(w, kueuev1beta2.WorkloadEvicted)}
	out.Priority = priorityOf(w)
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionTrue {
		out.Reserved = c.LastTransitionTime.Time
	}
	out.Since = w.CreationTimestamp.Time
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadPreempted); c != nil && c.Status == metav1.ConditionTrue &&
		c.Reason == kueuev1beta2.InCohortReclaimWhileBorrowingReason && !s.config.gate("PrioritySortingWithinCohort") {
		out.Since = c.LastTransitionTime.Add(time.Millisecond)
	}
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadEvicted); c != nil && c.Status == metav1.ConditionTrue {
		byCreation := s.config.WaitForPodsReady != nil && s.config.WaitForPodsReady.ByCreation
		if c.Reason == kueuev1beta2.WorkloadEvictedByAdmissionCheck || c.Reason == kueuev1beta2.WorkloadEvictedByPodsReadyTimeout && !byCreation {
			out.Since = c.LastTransitionTime.Time
		}
	}
	return out
}

func priorityOf(w *kueuev1beta2.Workload) int64 {
	if w.Spec.Priority != nil {
		return int64(*w.Spec.Priority)
	}
	return 0
}

// left is how many pods of each set are not done yet.
func (s *State) left(w *kueuev1beta2.Workload) map[string]int32 {
	left := make(map[string]int32, len(w.Spec.PodSets))
	for i := range w.Spec.PodSets {
		left[string(w.Spec.PodSets[i].Name)] = w.Spec.PodSets[i].Count
	}
	if s.config.gate("ReclaimablePods") {
		for _, done := range w.Status.ReclaimablePods {
			if count, ok := left[string(done.Name)]; ok {
				left[string(done.Name)] = count - min(done.Count, count)
			}
		}
	}
	return left
}

// admittedSets are the pod sets of a workload that has quota.
func (s *State) admittedSets(w *kueuev1beta2.Workload) []quota.Pods {
	left := s.left(w)
	counts := make(map[string]int32, len(w.Spec.PodSets))
	for i := range w.Spec.PodSets {
		counts[string(w.Spec.PodSets[i].Name)] = w.Spec.PodSets[i].Count
	}
	var out []quota.Pods
	for _, a := range w.Status.Admission.PodSetAssignments {
		set := quota.Pods{Name: string(a.Name), Count: counts[string(a.Name)], Flavors: make(map[corev1.ResourceName]string, len(a.Flavors))}
		if a.Count != nil {
			set.Count = *a.Count
		}
		for name, flavor := range a.Flavors {
			set.Flavors[name] = string(flavor)
		}
		for name, q := range a.ResourceUsage {
			set.Requests = append(set.Requests, quota.Request{Resource: name, Amount: quota.RequestAmount(name, q)})
		}
		quota.SortRequests(set.Requests)
		if count := left[set.Name]; count < set.Count {
			set = set.Scaled(count)
		}
		out = append(out, set)
	}
	return out
}

// shapeOf is a text that is equal for workloads that Kueue does not tell apart: when one of them finds no
// quota, the others need not be tried.
func shapeOf(looks string, sets []quota.Pods) string {
	if looks == "" {
		return ""
	}
	var b strings.Builder
	b.WriteString(looks)
	for i := range sets {
		fmt.Fprint(&b, " ", sets[i].Count, sets[i].Requests)
	}
	return b.String()
}

// looksOf is the part of a shape that does not follow from what the workload counts for, or "" if there is
// none.
func looksOf(w *kueuev1beta2.Workload) string {
	var all []any
	for i := range w.Spec.PodSets {
		set, spec := &w.Spec.PodSets[i], podrequests.Adjusted(&w.Spec.PodSets[i].Template.Spec)
		var requests []any
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for j := range containers {
				requests = append(requests, containers[j].Resources.Requests, containers[j].Ports)
			}
			requests = append(requests, "")
		}
		all = append(all, set.Name, set.MinCount, set.TopologyRequest, requests, spec.NodeSelector, spec.Affinity,
			spec.Tolerations, spec.RuntimeClassName, spec.Priority, spec.TopologySpreadConstraints, spec.Overhead, spec.ResourceClaims, spec.Resources)
	}
	text, err := json.Marshal(append(all, priorityOf(w)))
	if err != nil {
		return ""
	}
	return string(text)
}

// mayShrink reports whether fewer pods than asked for can be admitted.
func (w *waiting) mayShrink() bool {
	return slices.ContainsFunc(w.Object.Spec.PodSets, func(p kueuev1beta2.PodSet) bool { return p.MinCount != nil && p.Count > *p.MinCount })
}

// compareQueued orders the workloads of a queue.
func compareQueued(a, b *waiting) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), a.Since.Compare(b.Since), cmp.Compare(a.Object.UID, b.Object.UID),
		cmp.Compare(a.Object.Namespace, b.Object.Namespace), cmp.Compare(a.Object.Name, b.Object.Name))
}
