package inspect

import (
	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Objects are the API objects that a Snapshot is made of, each at its newest version and with the API
// server's defaults applied. Whoever builds them hands them over: after New they must not be written.
type Objects struct {
	Claims                  []*resourcev1.ResourceClaim
	Templates               []*resourcev1.ResourceClaimTemplate
	Classes                 []*resourcev1.DeviceClass
	Slices                  []*resourcev1.ResourceSlice
	TaintRules              []*resourcev1.DeviceTaintRule
	Pods                    []*corev1.Pod
	Nodes                   []*corev1.Node
	PriorityLevels          []*flowcontrolv1.PriorityLevelConfiguration
	FlowSchemas             []*flowcontrolv1.FlowSchema
	StorageCapacities       []*storagev1.CSIStorageCapacity
	StorageClasses          []*storagev1.StorageClass
	CSIDrivers              []*storagev1.CSIDriver
	VolumeClaims            []*corev1.PersistentVolumeClaim
	Volumes                 []*corev1.PersistentVolume
	Namespaces              []*corev1.Namespace
	CSINodes                []*storagev1.CSINode
	VolumeAttachments       []*storagev1.VolumeAttachment
	PodGroups               []*schedulingv1beta1.PodGroup
	CompositePodGroups      []*schedulingv1alpha3.CompositePodGroup
	Quotas                  []*corev1.ResourceQuota
	Budgets                 []*policyv1.PodDisruptionBudget
	LimitRanges             []*corev1.LimitRange
	KueueWorkloads          []*kueuev1beta2.Workload
	ClusterQueues           []*kueuev1beta2.ClusterQueue
	LocalQueues             []*kueuev1beta2.LocalQueue
	Cohorts                 []*kueuev1beta2.Cohort
	ResourceFlavors         []*kueuev1beta2.ResourceFlavor
	WorkloadPriorityClasses []*kueuev1beta2.WorkloadPriorityClass
	AdmissionChecks         []*kueuev1beta2.AdmissionCheck
	Topologies              []*kueuev1beta2.Topology
}
