package manifest

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// appendObject adds an object to the list of its kind.
func appendObject(o inspect.Objects, object metav1.Object) inspect.Objects {
	switch object := object.(type) {
	case *resourcev1.ResourceClaim:
		o.Claims = append(o.Claims, object)
	case *resourcev1.ResourceClaimTemplate:
		o.Templates = append(o.Templates, object)
	case *resourcev1.DeviceClass:
		o.Classes = append(o.Classes, object)
	case *resourcev1.ResourceSlice:
		o.Slices = append(o.Slices, object)
	case *resourcev1.DeviceTaintRule:
		o.TaintRules = append(o.TaintRules, object)
	case *corev1.Pod:
		o.Pods = append(o.Pods, object)
	case *corev1.Node:
		o.Nodes = append(o.Nodes, object)
	case *flowcontrolv1.PriorityLevelConfiguration:
		o.PriorityLevels = append(o.PriorityLevels, object)
	case *flowcontrolv1.FlowSchema:
		o.FlowSchemas = append(o.FlowSchemas, object)
	case *storagev1.CSIStorageCapacity:
		o.StorageCapacities = append(o.StorageCapacities, object)
	case *storagev1.StorageClass:
		o.StorageClasses = append(o.StorageClasses, object)
	case *storagev1.CSIDriver:
		o.CSIDrivers = append(o.CSIDrivers, object)
	case *corev1.PersistentVolumeClaim:
		o.VolumeClaims = append(o.VolumeClaims, object)
	case *corev1.PersistentVolume:
		o.Volumes = append(o.Volumes, object)
	}
	return o
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	keys := make([]K, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// setType gives an object the apiVersion and kind that it has after conversion.
func setType(object metav1.Object, apiVersion, kindName string) {
	if o, ok := object.(runtime.Object); ok {
		o.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kindName))
	}
}
