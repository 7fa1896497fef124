package kueue

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
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

// workload is a workload that holds quota or asks for it.
type workload struct {
	obj      *kueuev1beta2.Workload
	queue    *node
	sets     []podSet
	priority int64
	// since orders workloads of equal priority; reserved is when it got its quota.
	since, reserved time.Time
	evicted         bool
	// used is what it holds, by flavor.
	used amounts
}

// usedBy is what pod sets hold by flavor.
func usedBy(sets []podSet) amounts {
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

// compareQueued orders the workloads of a queue.
func compareQueued(a, b *workload) int {
	return cmp.Or(cmp.Compare(b.priority, a.priority), a.since.Compare(b.since), cmp.Compare(a.obj.UID, b.obj.UID),
		cmp.Compare(a.obj.Namespace, b.obj.Namespace), cmp.Compare(a.obj.Name, b.obj.Name))
}
