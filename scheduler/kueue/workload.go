package kueue

import (
	"cmp"
	"encoding/json"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// request is how much of a resource is asked for.
type request struct {
	resource corev1.ResourceName
	amount   Amount
}

// podSet is a set of pods of a workload: what all of them ask for, and the flavors, if it has quota.
type podSet struct {
	name     string
	count    int32
	requests []request // in Kueue's order, see sortRequests
	flavors  map[corev1.ResourceName]string
}

// scaled is the same for another number of pods.
func (p *podSet) scaled(count int32) podSet {
	out := *p
	if p.count == 0 || p.count == count {
		return out
	}
	out.count, out.requests = count, slices.Clone(p.requests)
	for i := range out.requests {
		out.requests[i].amount = (out.requests[i].amount / Amount(p.count)).times(int64(count))
	}
	return out
}

// sortRequests puts requests in the order in which Kueue goes through them, that of a hash of the names: the
// one that comes first chooses the flavor of its group.
func sortRequests(requests []request) {
	hash := func(name corev1.ResourceName) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name))
		return h.Sum64()
	}
	slices.SortFunc(requests, func(a, b request) int {
		return cmp.Or(cmp.Compare(hash(a.resource), hash(b.resource)), strings.Compare(string(a.resource), string(b.resource)))
	})
}

// workload is a workload that holds quota or waits for it.
type workload struct {
	obj      *kueuev1beta2.Workload
	ref      Ref
	queue    *node
	sets     []podSet
	priority int64
	// since orders workloads of equal priority; reserved is when it got its quota.
	since, reserved time.Time
	evicted         bool
	// used is what it holds, by flavor.
	used amounts
	// shape is equal for workloads that Kueue does not tell apart.
	shape string
	// tried is at which flavor the search of the last cycle stopped, by pod set; see assigner.
	tried []map[corev1.ResourceName]int
	// refused says why it cannot be admitted when its turn comes; unknown why that is not decided.
	refused, unknown *Reason
}

// holdsQuota reports whether the workload counts against quota.
func holdsQuota(w *kueuev1beta2.Workload) bool {
	return isTrue(w, kueuev1beta2.WorkloadQuotaReserved) && !isTrue(w, kueuev1beta2.WorkloadFinished) &&
		(w.Spec.Active == nil || *w.Spec.Active) && w.Status.Admission != nil
}

func isTrue(w *kueuev1beta2.Workload, condition string) bool {
	return meta.IsStatusConditionTrue(w.Status.Conditions, condition)
}

// newWorkload is what a queue knows of a workload; its pod sets are still to be set.
func (s *State) newWorkload(w *kueuev1beta2.Workload, queue *node) *workload {
	out := &workload{obj: w, ref: Ref{w.Namespace, w.Name}, queue: queue, reserved: s.now, evicted: isTrue(w, kueuev1beta2.WorkloadEvicted)}
	if w.Spec.Priority != nil {
		out.priority = int64(*w.Spec.Priority)
	}
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadQuotaReserved); c != nil && c.Status == metav1.ConditionTrue {
		out.reserved = c.LastTransitionTime.Time
	}
	out.since = w.CreationTimestamp.Time
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadPreempted); c != nil && c.Status == metav1.ConditionTrue &&
		c.Reason == kueuev1beta2.InCohortReclaimWhileBorrowingReason && !s.config.gate("PrioritySortingWithinCohort") {
		out.since = c.LastTransitionTime.Add(time.Millisecond)
	}
	if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadEvicted); c != nil && c.Status == metav1.ConditionTrue {
		byCreation := s.config.WaitForPodsReady != nil && s.config.WaitForPodsReady.ByCreation
		if c.Reason == kueuev1beta2.WorkloadEvictedByAdmissionCheck || c.Reason == kueuev1beta2.WorkloadEvictedByPodsReadyTimeout && !byCreation {
			out.since = c.LastTransitionTime.Time
		}
	}
	return out
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
func (s *State) admittedSets(w *kueuev1beta2.Workload) []podSet {
	left := s.left(w)
	counts := make(map[string]int32, len(w.Spec.PodSets))
	for i := range w.Spec.PodSets {
		counts[string(w.Spec.PodSets[i].Name)] = w.Spec.PodSets[i].Count
	}
	var out []podSet
	for _, a := range w.Status.Admission.PodSetAssignments {
		set := podSet{name: string(a.Name), count: counts[string(a.Name)], flavors: make(map[corev1.ResourceName]string, len(a.Flavors))}
		if a.Count != nil {
			set.count = *a.Count
		}
		for name, flavor := range a.Flavors {
			set.flavors[name] = string(flavor)
		}
		for name, q := range a.ResourceUsage {
			set.requests = append(set.requests, request{name, requestAmount(name, q)})
		}
		sortRequests(set.requests)
		if count := left[set.name]; count < set.count {
			set = set.scaled(count)
		}
		out = append(out, set)
	}
	return out
}

// usage is what pod sets hold by flavor.
func usage(sets []podSet) amounts {
	out := amounts{}
	for i := range sets {
		for _, r := range sets[i].requests {
			fr := flavorResource{sets[i].flavors[r.resource], r.resource}
			out[fr] = out[fr].add(r.amount)
		}
	}
	return out
}

// usesAny reports whether the workload has one of the resources in one of the flavors.
func (w *workload) usesAny(of map[flavorResource]bool) bool {
	for i := range w.sets {
		for resource, flavor := range w.sets[i].flavors {
			if of[flavorResource{flavor, resource}] {
				return true
			}
		}
	}
	return false
}

// mayShrink reports whether fewer pods than asked for can be admitted.
func (w *workload) mayShrink() bool {
	return slices.ContainsFunc(w.obj.Spec.PodSets, func(p kueuev1beta2.PodSet) bool { return p.MinCount != nil && p.Count > *p.MinCount })
}

// shapeOf is a text that is equal for workloads that Kueue does not tell apart: when one of them finds no
// quota, the others need not be tried.
func shapeOf(w *workload) string {
	var all []any
	for i := range w.obj.Spec.PodSets {
		set, spec := &w.obj.Spec.PodSets[i], adjusted(&w.obj.Spec.PodSets[i].Template.Spec)
		var requests []any
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for j := range containers {
				requests = append(requests, containers[j].Resources.Requests, containers[j].Ports)
			}
			requests = append(requests, "")
		}
		counted := map[corev1.ResourceName]Amount{}
		for _, r := range w.sets[i].requests {
			counted[r.resource] = r.amount
		}
		all = append(all, set.Name, w.sets[i].count, counted, set.MinCount, set.TopologyRequest, requests, spec.NodeSelector, spec.Affinity,
			spec.Tolerations, spec.RuntimeClassName, spec.Priority, spec.TopologySpreadConstraints, spec.Overhead, spec.ResourceClaims, spec.Resources)
	}
	text, err := json.Marshal(append(all, w.priority))
	if err != nil {
		return ""
	}
	return string(text)
}

// compareQueued orders the workloads of a queue.
func compareQueued(a, b *workload) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), a.since.Compare(b.since), cmp.Compare(a.obj.UID, b.obj.UID),
		cmp.Compare(a.ref.Namespace, b.ref.Namespace), cmp.Compare(a.ref.Name, b.ref.Name))
}
