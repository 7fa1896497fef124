package kueue

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/component-base/featuregate"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	utilresource "sigs.k8s.io/kueue/pkg/util/resource"
	"sigs.k8s.io/kueue/pkg/workload"
)

func featuregateFeature(name string) featuregate.Feature { return featuregate.Feature(name) }

type perSet map[kueuev1beta2.PodSetReference]corev1.ResourceList

// devices counts devices with Kueue's functions, in the order of its controller of workloads.
func (o *oracle) devices(w *kueuev1beta2.Workload) (perSet, map[kueuev1beta2.PodSetReference]sets.Set[corev1.ResourceName], string) {
	if workload.HasResourceClaim(w) {
		return nil, nil, "KueueDRAIntegration feature does not support use of resource claims"
	}
	all := perSet{}
	var failure string
	add := func(more perSet, errs field.ErrorList) {
		if len(errs) > 0 && failure == "" {
			failure = errs.ToAggregate().Error()
		}
		for name, list := range more {
			all[name] = utilresource.MergeResourceListKeepSum(maps.Clone(all[name]), list)
		}
	}
	slices := dra.NewResourceSliceCache(o.api)
	found, errs := dra.GetResourceRequestsForResourceClaimTemplates(o.ctx, o.api, slices, o.mapper, w)
	add(found, errs)
	var replaced map[kueuev1beta2.PodSetReference]sets.Set[corev1.ResourceName]
	if failure == "" && features.Enabled(features.KueueDRAIntegrationExtendedResource) {
		found, replaced, errs = dra.ResolveExtendedResourceQuota(o.ctx, o.api, o.mapper, w)
		add(found, errs)
	}
	if failure == "" && features.Enabled(features.KueueDRAIntegrationPartitionableDevices) {
		found, errs = dra.GetCounterResourcesForWorkload(o.ctx, o.api, slices, o.mapper, w)
		add(found, errs)
	}
	if failure == "" && features.Enabled(features.KueueDRAIntegrationConsumableCapacity) {
		found, errs = dra.DetermineCapacityResourcesForWorkload(o.ctx, o.api, slices, o.mapper, w)
		add(found, errs)
	}
	return all, replaced, failure
}
