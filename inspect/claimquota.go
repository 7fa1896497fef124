package inspect

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// A ResourceQuota limits how many devices of a class the claims of a namespace ask for, whether they have
// them or not, and how many claims there are. The API server refuses a claim that is created beyond that
// (pkg/quota/v1/evaluator/core and plugin/resourcequota of apiserver). A claim that is there already is never
// taken away.

// claimsName is the resource of a quota that counts claims.
const claimsName corev1.ResourceName = "count/resourceclaims.resource.k8s.io"

// QuotaExcess says why the API server refuses to create a claim.
type QuotaExcess struct {
	Quota *corev1.ResourceQuota
	// Class is the device class that the quota is about, or "" if it counts claims.
	Class string
	// Hard is the limit, Used what the claims of the namespace take of it, Charged what the claims take that
	// were created before, and Requested what the claim would take.
	Hard, Used, Charged, Requested int64
}

// ClaimQuota creates claims in a namespace as far as its quotas allow.
type ClaimQuota struct {
	snapshot *Snapshot
	quotas   []*corev1.ResourceQuota
	charged  map[corev1.ResourceName]int64 // by claims that were created
	existing map[corev1.ResourceName]int64 // nil until it is needed
}

// ClaimQuota returns the quotas of a namespace that limit claims.
func (s *Snapshot) ClaimQuota(namespace string) *ClaimQuota {
	q := &ClaimQuota{snapshot: s, charged: map[corev1.ResourceName]int64{}}
	for _, quota := range s.objects.Quotas {
		// Quotas with scopes are not about claims, which have none.
		if quota.Namespace == namespace && len(quota.Spec.Scopes) == 0 && quota.Spec.ScopeSelector == nil {
			q.quotas = append(q.quotas, quota)
		}
	}
	return q
}

// Create charges a claim to the quotas, unless one would be exceeded. Then nothing is charged, and the result
// is the first excess in the order of the quotas and of the names of resources.
func (q *ClaimQuota) Create(claim *resourcev1.ResourceClaim) *QuotaExcess {
	if len(q.quotas) == 0 {
		return nil
	}
	usage, classes := q.snapshot.claimUsage(claim)
	for _, quota := range q.quotas {
		hard := quota.Status.Hard
		if hard == nil {
			hard = quota.Spec.Hard // of a file, or before the controller has got to it
		}
		for _, name := range slices.Sorted(maps.Keys(usage)) {
			limit, limited := hard[name]
			used := q.used(quota, name)
			if limited && usage[name] > 0 && used+q.charged[name]+usage[name] > limit.Value() {
				return &QuotaExcess{quota, classes[name], limit.Value(), used, q.charged[name], usage[name]}
			}
		}
	}
	for name, amount := range usage {
		q.charged[name] += amount
	}
	return nil
}

// used is what is taken of a resource, by what the quota says itself or else by the claims that there are.
func (q *ClaimQuota) used(quota *corev1.ResourceQuota, name corev1.ResourceName) int64 {
	if used, ok := quota.Status.Used[name]; ok {
		return used.Value()
	}
	if q.existing == nil {
		q.existing = map[corev1.ResourceName]int64{}
		for _, claim := range q.snapshot.Objects().Claims {
			if claim.Namespace != quota.Namespace {
				continue
			}
			usage, _ := q.snapshot.claimUsage(claim)
			for name, amount := range usage {
				q.existing[name] += amount
			}
		}
	}
	return q.existing[name]
}

// claimUsage is what a claim takes of quotas, and the device class behind each name.
func (s *Snapshot) claimUsage(claim *resourcev1.ResourceClaim) (usage map[corev1.ResourceName]int64, classes map[corev1.ResourceName]string) {
	usage, classes = map[corev1.ResourceName]int64{claimsName: 1}, map[corev1.ResourceName]string{}
	for i := range claim.Spec.Devices.Requests {
		for class, count := range devicesByClass(&claim.Spec.Devices.Requests[i]) {
			for _, name := range s.quotaNames(class) {
				usage[name] += count
				classes[name] = class
			}
		}
	}
	return usage, classes
}

// devicesByClass is how many devices of each class a request may take at most. All devices count as many as a
// claim can have, and of alternatives the largest counts.
func devicesByClass(request *resourcev1.DeviceRequest) map[string]int64 {
	out := map[string]int64{}
	count := func(class string, mode resourcev1.DeviceAllocationMode, n int64) {
		if mode == resourcev1.DeviceAllocationModeAll {
			n = resourcev1.AllocationResultsMaxSize
		}
		out[class] = max(out[class], n)
	}
	if exact := request.Exactly; exact != nil {
		count(exact.DeviceClassName, exact.AllocationMode, exact.Count)
	}
	for i := range request.FirstAvailable {
		sub := &request.FirstAvailable[i]
		count(sub.DeviceClassName, sub.AllocationMode, sub.Count)
	}
	return out
}

// quotaNames are the names under which quotas limit the devices of a class: that of the class and, if it
// stands for an extended resource, those of the extended resource.
func (s *Snapshot) quotaNames(class string) []corev1.ResourceName {
	names := []corev1.ResourceName{corev1.ResourceName(class + corev1.ResourceClaimsPerClass)}
	if c, ok := s.Class(class); ok && c.Spec.ExtendedResourceName != nil && s.config.Features.Enabled(GateExtendedResource) {
		names = append(names, corev1.ResourceName(corev1.ResourceImplicitExtendedClaimsPerClass+class),
			corev1.ResourceName(corev1.DefaultResourceRequestsPrefix+*c.Spec.ExtendedResourceName))
	}
	return names
}
