package defaults

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Defaults of flow control.
const (
	defaultShares             = 30
	defaultQueues             = 64
	defaultHandSize           = 8
	defaultQueueLengthLimit   = 50
	defaultMatchingPrecedence = 1000
)

// Set fills in what the API server would have filled in when it was given the object at
// apiVersion. The object itself is already at its newest version.
func Set(object metav1.Object, apiVersion string) {
	switch object := object.(type) {
	case *resourcev1.ResourceClaim:
		defaultClaimSpec(&object.Spec)
		if object.Status.Allocation != nil {
			for i := range object.Status.Allocation.Devices.Results {
				defaultTolerations(object.Status.Allocation.Devices.Results[i].Tolerations)
			}
		}
	case *resourcev1.ResourceClaimTemplate:
		defaultClaimSpec(&object.Spec.Spec)
	case *corev1.Pod:
		defaultPod(object)
	case *corev1.Node:
		if object.Status.Allocatable == nil {
			object.Status.Allocatable = maps.Clone(object.Status.Capacity)
		}
	case *corev1.Namespace:
		defaultValue(&object.Status.Phase, corev1.NamespaceActive)
		if object.Labels == nil {
			object.Labels = map[string]string{}
		}
		object.Labels[corev1.LabelMetadataName] = object.Name
	case *flowcontrolv1.PriorityLevelConfiguration:
		defaultPriorityLevel(object, apiVersion)
	case *flowcontrolv1.FlowSchema:
		defaultValue(&object.Spec.MatchingPrecedence, defaultMatchingPrecedence)
	case *storagev1.StorageClass:
		defaultPointer(&object.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)
		defaultPointer(&object.VolumeBindingMode, storagev1.VolumeBindingImmediate)
	case *storagev1.CSIDriver:
		defaultDriver(&object.Spec)
	case *corev1.PersistentVolumeClaim:
		defaultPointer(&object.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		defaultValue(&object.Status.Phase, corev1.ClaimPending)
	case *corev1.PersistentVolume:
		defaultPointer(&object.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
		defaultValue(&object.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
		defaultValue(&object.Status.Phase, corev1.VolumePending)
	}
}

func defaultPointer[T any](field **T, value T) {
	if *field == nil {
		*field = ptr.To(value)
	}
}

func defaultValue[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func defaultClaimSpec(spec *resourcev1.ResourceClaimSpec) {
	for i := range spec.Devices.Requests {
		request := &spec.Devices.Requests[i]
		if exactly := request.Exactly; exactly != nil {
			defaultCount(&exactly.AllocationMode, &exactly.Count)
			defaultTolerations(exactly.Tolerations)
		}
		for j := range request.FirstAvailable {
			sub := &request.FirstAvailable[j]
			defaultCount(&sub.AllocationMode, &sub.Count)
			defaultTolerations(sub.Tolerations)
		}
	}
}

func defaultCount(mode *resourcev1.DeviceAllocationMode, count *int64) {
	defaultValue(mode, resourcev1.DeviceAllocationModeExactCount)
	if *mode == resourcev1.DeviceAllocationModeExactCount {
		defaultValue(count, 1)
	}
}

func defaultTolerations(tolerations []resourcev1.DeviceToleration) {
	for i := range tolerations {
		defaultValue(&tolerations[i].Operator, resourcev1.DeviceTolerationOpEqual)
	}
}

// defaultPriorityLevel knows the one difference between v1 and v1beta3: there, a share of 0 could not
// be told from none and became the default, unless an annotation said that it came from v1.
func defaultPriorityLevel(level *flowcontrolv1.PriorityLevelConfiguration, apiVersion string) {
	if exempt := level.Spec.Exempt; exempt != nil {
		defaultPointer(&exempt.NominalConcurrencyShares, int32(0))
		defaultPointer(&exempt.LendablePercent, int32(0))
	}
	beta, keepZero := apiVersion == flowcontrolv1.GroupName+"/v1beta3", false
	if beta {
		_, keepZero = level.Annotations[flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey]
		delete(level.Annotations, flowcontrolv1beta3.PriorityLevelPreserveZeroConcurrencySharesKey)
	}
	limited := level.Spec.Limited
	if limited == nil {
		return
	}
	if beta && ptr.Deref(limited.NominalConcurrencyShares, 0) == 0 {
		limited.NominalConcurrencyShares = ptr.To[int32](defaultShares)
		if keepZero {
			limited.NominalConcurrencyShares = ptr.To[int32](0)
		}
	}
	defaultPointer(&limited.NominalConcurrencyShares, defaultShares)
	defaultPointer(&limited.LendablePercent, int32(0))
	if queuing := limited.LimitResponse.Queuing; queuing != nil {
		defaultValue(&queuing.Queues, defaultQueues)
		defaultValue(&queuing.HandSize, defaultHandSize)
		defaultValue(&queuing.QueueLengthLimit, defaultQueueLengthLimit)
	}
}

func defaultDriver(spec *storagev1.CSIDriverSpec) {
	defaultPointer(&spec.AttachRequired, true)
	defaultPointer(&spec.PodInfoOnMount, false)
	defaultPointer(&spec.StorageCapacity, false)
	defaultPointer(&spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	defaultPointer(&spec.RequiresRepublish, false)
	defaultPointer(&spec.SELinuxMount, false)
	if len(spec.VolumeLifecycleModes) == 0 {
		spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}
