package validate

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxResultConfigs is how many config entries an allocation may have: those of classes and of the claim.
const maxResultConfigs = 2 * resourcev1.DeviceConfigMaxSize

// claimStatus checks the status of a claim as far as a question depends on it: who has which device.
func (v *validator) claimStatus(claim *resourcev1.ResourceClaim, path place) {
	status := &claim.Status
	if len(status.ReservedFor) > 0 && status.Allocation == nil {
		v.refuse(field.Forbidden(path.Child("reservedFor").path, "only an allocated claim can be reserved"))
	}
	if v.size(len(status.ReservedFor), resourcev1.ResourceClaimReservedForMaxSize, path.Child("reservedFor")) {
		seen := map[string]bool{}
		for i := range status.ReservedFor {
			v.consumer(&status.ReservedFor[i], seen, path.Child("reservedFor").Index(i))
		}
	}
	if status.Allocation != nil {
		v.allocation(claim, path.Child("allocation", "devices"))
	}
	v.deviceStatus(status, path.Child("devices"))
}

func (v *validator) consumer(ref *resourcev1.ResourceClaimConsumerReference, seen map[string]bool, path place) {
	if ref.Resource == "" {
		v.refuse(field.Required(path.Child("resource").path, ""))
	}
	if ref.Name == "" {
		v.refuse(field.Required(path.Child("name").path, ""))
	}
	if ref.UID == "" {
		v.refuse(field.Required(path.Child("uid").path, ""))
		return
	}
	unique(v, seen, string(ref.UID), path.Child("uid"))
}

func (v *validator) allocation(claim *resourcev1.ResourceClaim, path place) {
	devices := &claim.Status.Allocation.Devices
	names := requestNames(&claim.Spec.Devices)
	if v.size(len(devices.Results), resourcev1.AllocationResultsMaxSize, path.Child("results")) {
		for i := range devices.Results {
			v.result(&devices.Results[i], names, path.Child("results").Index(i))
		}
	}
	if v.size(len(devices.Config), maxResultConfigs, path.Child("config")) {
		for i := range devices.Config {
			config, at := &devices.Config[i], path.Child("config").Index(i)
			if config.Source != resourcev1.AllocationConfigSourceClass && config.Source != resourcev1.AllocationConfigSourceClaim {
				v.refuse(field.NotSupported(at.Child("source").path, config.Source, []resourcev1.AllocationConfigSource{
					resourcev1.AllocationConfigSourceClass, resourcev1.AllocationConfigSourceClaim,
				}))
			}
			v.requestRefs(config.Requests, names, at.Child("requests"))
			v.configuration(&config.DeviceConfiguration, at)
		}
	}
	if selector := claim.Status.Allocation.NodeSelector; selector != nil {
		v.nodeSelector(selector, v.at("status", "allocation", "nodeSelector"))
	}
}

func (v *validator) result(result *resourcev1.DeviceRequestAllocationResult, names map[string]bool, path place) {
	if !names[result.Request] {
		v.refuse(field.Invalid(path.Child("request").path, inspect.SanitizeShort(result.Request, maxSnippetLength), requestReference))
	}
	v.driver(result.Driver, path.Child("driver"))
	v.poolName(result.Pool, path.Child("pool"))
	v.label(result.Device, path.Child("device"))
	for i := range result.Tolerations {
		v.toleration(&result.Tolerations[i], path.Child("tolerations").Index(i))
	}
	v.bindingConditions(result.BindingConditions, result.BindingFailureConditions, path)
}

// deviceStatus checks that drivers report only on devices that the claim has.
func (v *validator) deviceStatus(status *resourcev1.ResourceClaimStatus, path place) {
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
		if !has[k] {
			v.refuse(field.Invalid(path.Index(i).path, inspect.SanitizeShort(d.Driver+"/"+d.Pool+"/"+d.Device, maxSnippetLength), "is not among the devices of status.allocation"))
		}
		if seen[k] {
			v.refuse(field.Duplicate(path.Index(i).path, inspect.SanitizeShort(d.Driver+"/"+d.Pool+"/"+d.Device, maxSnippetLength)))
		}
		seen[k] = true
	}
}
