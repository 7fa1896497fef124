package inspect

import (
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Objects are the API objects that a Snapshot is made of, each at its newest version and with the API
// server's defaults applied. Whoever builds them hands them over: after New they must not be written.
type Objects struct {
	Claims            []*resourcev1.ResourceClaim
	Templates         []*resourcev1.ResourceClaimTemplate
	Classes           []*resourcev1.DeviceClass
	Slices            []*resourcev1.ResourceSlice
	TaintRules        []*resourcev1.DeviceTaintRule
	Pods              []*corev1.Pod
	Nodes             []*corev1.Node
	PriorityLevels    []*flowcontrolv1.PriorityLevelConfiguration
	FlowSchemas       []*flowcontrolv1.FlowSchema
	StorageCapacities []*storagev1.CSIStorageCapacity
	StorageClasses    []*storagev1.StorageClass
	CSIDrivers        []*storagev1.CSIDriver
	VolumeClaims      []*corev1.PersistentVolumeClaim
	Volumes           []*corev1.PersistentVolume
}

// Resource names one of the resources that a Snapshot carries, by its plural as in a URL.
type Resource string

// The resources that a Snapshot carries.
const (
	Claims            Resource = "resourceclaims"
	Templates         Resource = "resourceclaimtemplates"
	Classes           Resource = "deviceclasses"
	Slices            Resource = "resourceslices"
	TaintRules        Resource = "devicetaintrules"
	Pods              Resource = "pods"
	Nodes             Resource = "nodes"
	PriorityLevels    Resource = "prioritylevelconfigurations"
	FlowSchemas       Resource = "flowschemas"
	StorageCapacities Resource = "csistoragecapacities"
	StorageClasses    Resource = "storageclasses"
	CSIDrivers        Resource = "csidrivers"
	VolumeClaims      Resource = "persistentvolumeclaims"
	Volumes           Resource = "persistentvolumes"
)

// Resources lists every Resource, in a fixed order.
func Resources() []Resource {
	return []Resource{
		Claims, Templates, Classes, Slices, TaintRules, Pods, Nodes, PriorityLevels, FlowSchemas,
		StorageCapacities, StorageClasses, CSIDrivers, VolumeClaims, Volumes,
	}
}
