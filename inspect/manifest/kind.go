package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	drav1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	drav1beta2 "k8s.io/dynamic-resource-allocation/api/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// kind is how one kind at one API version is read.
type kind struct {
	resource   inspect.Resource
	namespaced bool
	newest     string // the apiVersion of the decoded object
	// decode decodes strictly as far as complaints go and leniently as far as the object goes, and
	// converts to the newest version.
	decode func(raw []byte) (object metav1.Object, complaints []error, err error)
	// flat is set for resource.k8s.io before v1beta2: the fields under "exactly" belong to the request
	// itself, and those of a device stand under "basic".
	flat bool
}

const (
	resourceGroup    = "resource.k8s.io/"
	flowcontrolGroup = "flowcontrol.apiserver.k8s.io/"
	storageGroup     = "storage.k8s.io/"
)

// kindOf returns how to read a kind; false when no question needs it or its API version is gone.
func kindOf(apiVersion, name string) (kind, bool) {
	switch {
	case apiVersion == "v1":
		return coreKind(name)
	case strings.HasPrefix(apiVersion, resourceGroup):
		return resourceKind(strings.TrimPrefix(apiVersion, resourceGroup), name)
	case apiVersion == flowcontrolGroup+"v1", apiVersion == flowcontrolGroup+"v1beta3":
		return flowcontrolKind(name)
	case apiVersion == storageGroup+"v1", apiVersion == storageGroup+"v1beta1" && name == "CSIStorageCapacity":
		return storageKind(name)
	}
	return kind{}, false
}

func coreKind(name string) (kind, bool) {
	k := kind{newest: "v1", namespaced: true}
	switch name {
	case "Pod":
		k.resource, k.decode = inspect.Pods, decode[corev1.Pod]
	case "Node":
		k.resource, k.decode, k.namespaced = inspect.Nodes, decode[corev1.Node], false
	case "PersistentVolumeClaim":
		k.resource, k.decode = inspect.VolumeClaims, decode[corev1.PersistentVolumeClaim]
	case "PersistentVolume":
		k.resource, k.decode, k.namespaced = inspect.Volumes, decode[corev1.PersistentVolume], false
	default:
		return kind{}, false
	}
	return k, true
}

// flowcontrolKind serves v1beta3 as well: its JSON is that of v1, and only a default differs.
func flowcontrolKind(name string) (kind, bool) {
	k := kind{newest: flowcontrolGroup + "v1"}
	switch name {
	case "PriorityLevelConfiguration":
		k.resource, k.decode = inspect.PriorityLevels, decode[flowcontrolv1.PriorityLevelConfiguration]
	case "FlowSchema":
		k.resource, k.decode = inspect.FlowSchemas, decode[flowcontrolv1.FlowSchema]
	default:
		return kind{}, false
	}
	return k, true
}

// storageKind serves v1beta1 of CSIStorageCapacity as well: its JSON is that of v1.
func storageKind(name string) (kind, bool) {
	k := kind{newest: storageGroup + "v1"}
	switch name {
	case "CSIStorageCapacity":
		k.resource, k.decode, k.namespaced = inspect.StorageCapacities, decode[storagev1.CSIStorageCapacity], true
	case "StorageClass":
		k.resource, k.decode = inspect.StorageClasses, decode[storagev1.StorageClass]
	case "CSIDriver":
		k.resource, k.decode = inspect.CSIDrivers, decode[storagev1.CSIDriver]
	default:
		return kind{}, false
	}
	return k, true
}

// resourceKind serves resource.k8s.io. A DeviceTaintRule has the same JSON in all its versions
// (v1alpha3, v1beta2, v1). The other kinds of v1alpha3 look like v1beta1, but for the plain quantities
// of a device's capacity.
func resourceKind(version, name string) (kind, bool) {
	k := kind{newest: resourceGroup + "v1"}
	if name == "DeviceTaintRule" {
		k.resource, k.decode = inspect.TaintRules, decode[resourcev1.DeviceTaintRule]
		return k, version == "v1alpha3" || version == "v1beta2" || version == "v1"
	}
	decoders := map[string]decoders{
		"ResourceClaim": {
			decode[resourcev1.ResourceClaim],
			converting(drav1beta2.Convert_v1beta2_ResourceClaim_To_v1_ResourceClaim),
			converting(drav1beta1.Convert_v1beta1_ResourceClaim_To_v1_ResourceClaim),
		},
		"ResourceClaimTemplate": {
			decode[resourcev1.ResourceClaimTemplate],
			converting(drav1beta2.Convert_v1beta2_ResourceClaimTemplate_To_v1_ResourceClaimTemplate),
			converting(drav1beta1.Convert_v1beta1_ResourceClaimTemplate_To_v1_ResourceClaimTemplate),
		},
		"DeviceClass": {
			decode[resourcev1.DeviceClass],
			converting(drav1beta2.Convert_v1beta2_DeviceClass_To_v1_DeviceClass),
			converting(drav1beta1.Convert_v1beta1_DeviceClass_To_v1_DeviceClass),
		},
		"ResourceSlice": {
			decode[resourcev1.ResourceSlice],
			converting(drav1beta2.Convert_v1beta2_ResourceSlice_To_v1_ResourceSlice),
			converting(drav1beta1.Convert_v1beta1_ResourceSlice_To_v1_ResourceSlice),
		},
	}[name]
	switch version {
	case "v1":
		k.decode = decoders.v1
	case "v1beta2":
		k.decode = decoders.v1beta2
	case "v1beta1", "v1alpha3":
		k.decode, k.flat = decoders.v1beta1, true
	}
	switch name {
	case "ResourceClaim":
		k.resource, k.namespaced = inspect.Claims, true
	case "ResourceClaimTemplate":
		k.resource, k.namespaced = inspect.Templates, true
	case "DeviceClass":
		k.resource = inspect.Classes
	case "ResourceSlice":
		k.resource = inspect.Slices
		if version == "v1alpha3" && k.decode != nil {
			k.decode = decodeAlphaSlice
		}
	}
	return k, k.decode != nil
}

type decodeFunc = func(raw []byte) (metav1.Object, []error, error)

type decoders struct{ v1, v1beta2, v1beta1 decodeFunc }

// objectPointer is a pointer to an API type.
type objectPointer[T any] interface {
	*T
	metav1.Object
}

func decode[T any, P objectPointer[T]](raw []byte) (metav1.Object, []error, error) {
	object := P(new(T))
	complaints, err := unmarshal(raw, object)
	return object, complaints, err
}

// converting returns a decoder of an old version that ends in the newest one. The conversions need no
// scope: none of them converts through a scheme.
func converting[O, N any, NP objectPointer[N]](convert func(*O, *N, conversion.Scope) error) decodeFunc {
	return func(raw []byte) (metav1.Object, []error, error) {
		var old O
		complaints, err := unmarshal(raw, &old)
		if err != nil {
			return nil, nil, err
		}
		object := NP(new(N))
		return object, complaints, convert(&old, object, nil)
	}
}

// gone says why a kind at an API version cannot be read although newer versions of it are; empty for
// kinds that no question needs.
func gone(apiVersion, name string) string {
	newest := ""
	for _, candidate := range []string{"v1", resourceGroup + "v1", flowcontrolGroup + "v1", storageGroup + "v1"} {
		if _, ok := kindOf(candidate, name); ok && groupOf(candidate) == groupOf(apiVersion) {
			newest = candidate
		}
	}
	version := apiVersion[strings.LastIndexByte(apiVersion, '/')+1:]
	switch {
	case groupOf(apiVersion) == resourceGroup && (version == "v1alpha1" || version == "v1alpha2"):
		return apiVersion + " is the first API of dynamic resource allocation (classic DRA), which is gone since Kubernetes 1.31; " +
			"left out, write it anew for resource.k8s.io/v1"
	case newest == "":
		return ""
	}
	return apiVersion + " is served by no current Kubernetes release; left out, use " + newest
}

func groupOf(apiVersion string) string {
	return apiVersion[:strings.LastIndexByte(apiVersion, '/')+1]
}
