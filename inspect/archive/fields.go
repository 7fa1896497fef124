package archive

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// rule says what becomes of the text in a field. While names are learnt, the answer is not used.
type rule func(r *renamer, s string) string

func of(sort names) rule {
	return func(r *renamer, s string) string { return r.name(sort, s) }
}

func dropped(*renamer, string) string { return "" }

// digits keeps a number.
func digits(_ *renamer, s string) string {
	for _, c := range s {
		if c < '0' || c > '9' {
			return ""
		}
	}
	return s
}

// ownName is for the names of the objects themselves.
func ownName(r *renamer, s string) string { return r.name(r.own, s) }

// fields are the rules for fields that hold names and other text with a form, by the type that has the field.
// All other text is replaced as (*renamer).text does, whatever field it is in: a field that a later version
// of Kubernetes adds gives nothing away.
var fields = map[string]rule{
	"ObjectMeta.Name":            ownName,
	"ObjectMeta.Namespace":       of(namespaces),
	"ObjectMeta.ResourceVersion": digits,
	"ObjectMeta.GenerateName":    dropped,
	"ObjectMeta.SelfLink":        dropped,

	"ResourceSliceSpec.NodeName":  of(nodes),
	"Device.NodeName":             of(nodes),
	"PodSpec.NodeName":            of(nodes),
	"PodSpec.ServiceAccountName":  of(serviceAccounts),
	"PodStatus.NominatedNodeName": of(nodes),
	"NodeSystemInfo.KubeletVersion": func(r *renamer, s string) string {
		return r.version(s)
	},

	"NodeSystemInfo.ContainerRuntimeVersion": (*renamer).runtime,

	"ResourcePool.Name":                  of(pools),
	"DeviceRequestAllocationResult.Pool": of(pools),
	"AllocatedDeviceStatus.Pool":         of(pools),
	"DeviceTaintSelector.Pool":           of(pools),

	"Device.Name":                          of(devices),
	"DeviceRequestAllocationResult.Device": of(devices),
	"AllocatedDeviceStatus.Device":         of(devices),
	"DeviceTaintSelector.Device":           of(devices),
	"AllocatedDeviceStatus.ShareID":        of(uids),
	"DeviceAttribute.VersionValue":         (*renamer).version,
	"DeviceAttribute.VersionValues":        (*renamer).version,

	"ResourceSliceSpec.Driver":             of(drivers),
	"DeviceRequestAllocationResult.Driver": of(drivers),
	"AllocatedDeviceStatus.Driver":         of(drivers),
	"DeviceTaintSelector.Driver":           of(drivers),
	"OpaqueDeviceConfiguration.Driver":     of(drivers),

	"ExactDeviceRequest.DeviceClassName":   of(classes),
	"DeviceSubRequest.DeviceClassName":     of(classes),
	"DeviceClassSpec.ExtendedResourceName": (*renamer).resource,
	"CELDeviceSelector.Expression":         (*renamer).expression,
	"DeviceDerivedAttribute.Expression":    (*renamer).expression,

	"DeviceRequest.Name":                           (*renamer).request,
	"DeviceSubRequest.Name":                        (*renamer).request,
	"DeviceConstraint.Requests":                    (*renamer).request,
	"DeviceClaimConfiguration.Requests":            (*renamer).request,
	"DeviceAllocationConfiguration.Requests":       (*renamer).request,
	"DeviceRequestAllocationResult.Request":        (*renamer).request,
	"ContainerExtendedResourceRequest.RequestName": (*renamer).request,
	"ResourceClaim.Request":                        (*renamer).request, // of a container

	"PodResourceClaim.Name":                                of(podClaims),
	"PodResourceClaimStatus.Name":                          of(podClaims),
	"ResourceClaim.Name":                                   of(podClaims), // of a container
	"PodResourceClaim.ResourceClaimName":                   of(claims),
	"PodResourceClaim.ResourceClaimTemplateName":           of(templates),
	"PodResourceClaimStatus.ResourceClaimName":             of(claims),
	"PodExtendedResourceClaimStatus.ResourceClaimName":     of(claims),
	"NodeAllocatableResourceClaimStatus.ResourceClaimName": of(claims),
	"NodeAllocatableResourceClaimStatus.Containers":        of(containers),
	"ContainerExtendedResourceRequest.ContainerName":       of(containers),
	"ContainerExtendedResourceRequest.ResourceName":        (*renamer).resource,
	"ContainerStatus.Name":                                 of(containers),
	"ResourceStatus.Name":                                  (*renamer).allocated,
	"ResourceHealth.ResourceID":                            (*renamer).device,
	"Container.Name":                                       of(containers),
	"PodSchedulingGroup.PodGroupName":                      of(podGroups),
	"ContainerPort.HostIP":                                 (*renamer).port,
	"Volume.Name":                                          of(podVolumes),
	"VolumeMount.Name":                                     of(podVolumes),
	"PersistentVolumeClaimVolumeSource.ClaimName":          of(volumeClaims),
	"CSIVolumeSource.Driver":                               of(csiDrivers),
	"PodAffinityTerm.Namespaces":                           of(namespaces),

	"PodDisruptionBudgetStatus.DisruptedPods":           of(pods), // its keys
	"PodGroupResourceClaim.Name":                        of(podClaims),
	"PodGroupResourceClaim.ResourceClaimName":           of(claims),
	"PodGroupResourceClaim.ResourceClaimTemplateName":   of(templates),
	"PodGroupResourceClaimStatus.Name":                  of(podClaims),
	"PodGroupResourceClaimStatus.ResourceClaimName":     of(claims),
	"PodGroupSpec.ParentCompositePodGroupName":          of(podGroups),
	"CompositePodGroupSpec.ParentCompositePodGroupName": of(podGroups),
	"WorkloadReference.WorkloadName":                    of(owners),

	"PersistentVolumeClaimSpec.VolumeName":        of(volumes),
	"ObjectReference.Name":                        of(volumeClaims), // of a volume
	"ObjectReference.Namespace":                   of(namespaces),
	"ObjectReference.ResourceVersion":             digits,
	"ObjectReference.FieldPath":                   dropped,
	"PersistentVolumeClaimSpec.StorageClassName":  of(storageClasses),
	"PersistentVolumeSpec.StorageClassName":       of(storageClasses),
	"CSIStorageCapacity.StorageClassName":         of(storageClasses),
	"StorageClass.Provisioner":                    of(csiDrivers),
	"CSIPersistentVolumeSource.Driver":            of(csiDrivers),
	"CSINodeDriver.Name":                          of(csiDrivers),
	"VolumeAttachmentSpec.Attacher":               of(csiDrivers),
	"VolumeAttachmentSpec.NodeName":               of(nodes),
	"VolumeAttachmentSource.PersistentVolumeName": of(volumes),

	"Settings.Namespace":                       of(namespaces), // of Kueue
	"DeviceClassMapping.DeviceClassNames":      of(classes),
	"Resources.ExcludeResourcePrefixes":        (*renamer).resource,
	"SourceOf.Driver":                          of(drivers),
	"SourceOf.Name":                            (*renamer).qualified,
	"PriorityLevelConfigurationReference.Name": of(priorityLevels),
	"ResourcePolicyRule.Namespaces":            of(namespaces),
	"ServiceAccountSubject.Namespace":          of(namespaces),
	"ServiceAccountSubject.Name":               of(serviceAccounts),
	"UserSubject.Name":                         of(users),
	"GroupSubject.Name":                        of(groups),
}

// annotations are the rules for values of annotations, by key.
var annotations = map[string]rule{
	resourcev1.PodResourceClaimAnnotation:           of(podClaims),
	"volume.kubernetes.io/selected-node":            of(nodes),
	"volume.kubernetes.io/storage-provisioner":      of(csiDrivers),
	"volume.beta.kubernetes.io/storage-provisioner": of(csiDrivers),
	"volume.beta.kubernetes.io/storage-class":       of(storageClasses),
	"pv.kubernetes.io/provisioned-by":               of(csiDrivers),
	"pv.kubernetes.io/migrated-to":                  of(csiDrivers),
	"storage.alpha.kubernetes.io/migrated-plugins":  each((*renamer).text),
	inspect.NewerKey:                                func(_ *renamer, s string) string { return s }, // see dropFreeText
	inspect.AnnouncementKey:                         func(_ *renamer, s string) string { return s }, // an action and a time
}
