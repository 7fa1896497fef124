package validate

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxResultConfigs is how many config entries an allocation may have: those of classes and of the claim.
const maxResultConfigs = 2 * resourcev1.DeviceConfigMaxSize

// checkClaimStatus checks the status of a claim as far as a question depends on it: who has which device.
func checkClaimStatus(v *validator, claim *resourcev1.ResourceClaim, path place) {
	status := &claim.Status
	if len(status.ReservedFor) > 0 && status.Allocation == nil {
		v.refuse(field.Forbidden(path.Child("reservedFor").path, "only an allocated claim can be reserved"))
	}
	seen := map[string]bool{}
	reserved := path.Child("reservedFor")
	each(v, status.ReservedFor, resourcev1.ResourceClaimReservedForMaxSize, reserved,
		func(ref *resourcev1.ResourceClaimConsumerReference, at place) {
			v.required(ref.Resource, at.Child("resource"), "")
			v.required(ref.Name, at.Child("name"), "")
			if v.required(string(ref.UID), at.Child("uid"), "") {
				unique(v, seen, string(ref.UID), at.Child("uid"))
			}
		})
	if status.Allocation != nil {
		checkAllocation(v, claim, path.Child("allocation", "devices"))
	}
	checkDeviceStatus(v, status, path.Child("devices"))
}

func checkAllocation(v *validator, claim *resourcev1.ResourceClaim, path place) {
	devices := &claim.Status.Allocation.Devices
	names := requestNames(&claim.Spec.Devices)
	results := path.Child("results")
	each(v, devices.Results, resourcev1.AllocationResultsMaxSize, results,
		func(r *resourcev1.DeviceRequestAllocationResult, at place) {
			checkResult(v, r, names, at)
		})
	each(v, devices.Config, maxResultConfigs, path.Child("config"),
		func(config *resourcev1.DeviceAllocationConfiguration, at place) {
			supported(v, config.Source, at.Child("source"), resourcev1.AllocationConfigSourceClass, resourcev1.AllocationConfigSourceClaim)
			v.requestRefs(config.Requests, names, at.Child("requests"))
			checkConfiguration(v, &config.DeviceConfiguration, at)
		})
	if selector := claim.Status.Allocation.NodeSelector; selector != nil {
		v.nodeSelector(selector, v.at("status", "allocation", "nodeSelector"))
	}
}

func checkResult(v *validator, result *resourcev1.DeviceRequestAllocationResult, names map[string]bool, path place) {
	if !names[result.Request] {
		v.refuse(field.Invalid(path.Child("request").path, inspect.SanitizeShort(result.Request, maxSnippetLength), requestReference))
	}
	v.driver(result.Driver, path.Child("driver"))
	v.poolName(result.Pool, path.Child("pool"))
	v.label(result.Device, path.Child("device"))
	for i := range result.Tolerations {
		checkToleration(v, &result.Tolerations[i], path.Child("tolerations").Index(i))
	}
	v.from38(func() { checkAmounts(v, result.ConsumedCapacity, path.Child("consumedCapacity")) })
	checkBindingConditions(v, result.BindingConditions, result.BindingFailureConditions, path)
}

// checkDeviceStatus checks that drivers report only on devices that the claim has.
func checkDeviceStatus(v *validator, status *resourcev1.ResourceClaimStatus, path place) {
	type key struct{ driver, pool, device, share string }
	has, seen := map[key]bool{}, map[key]bool{}
	if status.Allocation != nil {
		for _, r := range status.Allocation.Devices.Results {
			share := ""
			if r.ShareID != nil {
				share = string(*r.ShareID)
			}
			has[key{r.Driver, r.Pool, r.Device, share}] = true
		}
	}
	for i := range status.Devices {
		d := &status.Devices[i]
		k := key{d.Driver, d.Pool, d.Device, ""}
		if d.ShareID != nil {
			k.share = *d.ShareID
		}
		name := inspect.SanitizeShort(d.Driver+"/"+d.Pool+"/"+d.Device, maxSnippetLength)
		if !has[k] {
			v.refuse(field.Invalid(path.Index(i).path, name, "is not among the devices of status.allocation"))
		}
		if seen[k] {
			v.refuse(field.Duplicate(path.Index(i).path, name))
		}
		seen[k] = true
	}
}
