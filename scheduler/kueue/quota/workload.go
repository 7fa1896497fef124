package quota

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Request is how much of a resource is asked for.
type Request struct {
	Resource corev1.ResourceName
	Amount   Amount
}

// Pods is a set of pods of a workload: what all of them ask for, and the flavors, if it has quota.
type Pods struct {
	Name     string
	Count    int32
	Requests []Request // in Kueue's order, see [SortRequests]
	Flavors  map[corev1.ResourceName]string
}

// Scaled is the same for another number of pods.
func (p *Pods) Scaled(count int32) Pods {
	out := *p
	if p.Count == 0 || p.Count == count {
		return out
	}
	out.Count, out.Requests = count, slices.Clone(p.Requests)
	for i := range out.Requests {
		out.Requests[i].Amount = (out.Requests[i].Amount / Amount(p.Count)).Times(int64(count))
	}
	return out
}

// SortRequests puts requests in the order in which Kueue goes through them, that of a hash of the names: the
// one that comes first chooses the flavor of its group.
func SortRequests(requests []Request) {
	hash := func(name corev1.ResourceName) uint64 {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name))
		return h.Sum64()
	}
	slices.SortFunc(requests, func(a, b Request) int {
		return cmp.Or(cmp.Compare(hash(a.Resource), hash(b.Resource)), strings.Compare(string(a.Resource), string(b.Resource)))
	})
}

// Workload is a workload that holds quota or asks for it.
type Workload struct {
	Object   *kueuev1beta2.Workload
	Queue    *Node
	Sets     []Pods
	Priority int64
	// Since orders workloads of equal priority; Reserved is when it got its quota.
	Since, Reserved time.Time
	Evicted         bool
	// Used is what it holds, by flavor.
	Used Amounts
}

// UsedBy is what pod sets hold by flavor.
func UsedBy(sets []Pods) Amounts {
	out := Amounts{}
	for i := range sets {
		for _, r := range sets[i].Requests {
			fr := FlavorResource{sets[i].Flavors[r.Resource], r.Resource}
			out[fr] = out[fr].Add(r.Amount)
		}
	}
	return out
}

// usesAny reports whether the workload has one of the resources in one of the flavors.
func (w *Workload) usesAny(of []FlavorResource) bool {
	for i := range w.Sets {
		for resource, flavor := range w.Sets[i].Flavors {
			if slices.Contains(of, FlavorResource{flavor, resource}) {
				return true
			}
		}
	}
	return false
}
