package manifest

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	drav1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	drav1beta2 "k8s.io/dynamic-resource-allocation/api/v1beta2"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// kind is how one kind at one API version is read.
type kind struct {
	inspect.Kind
	version
}

// version is how an API version of a kind is read.
type version struct {
	name string
	// decode decodes strictly as far as complaints go and leniently as far as the object goes, and
	// converts to the newest version.
	decode decodeFunc
	// flat is set for resource.k8s.io before v1beta2: the fields under "exactly" belong to the request
	// itself, and those of a device stand under "basic".
	flat bool
}

// versions are those at which the kinds can be read. Where a version has the JSON of the newest one it is
// decoded as that (TestSameShape); at most a default differs. The kinds of resource.k8s.io/v1alpha3 look like
// those of v1beta1, but for the plain quantities of a device's capacity.
var versions = map[inspect.Resource][]version{
	inspect.Claims: resourceVersions(decode[resourcev1.ResourceClaim],
		converting(drav1beta2.Convert_v1beta2_ResourceClaim_To_v1_ResourceClaim),
		converting(drav1beta1.Convert_v1beta1_ResourceClaim_To_v1_ResourceClaim)),
	inspect.Templates: resourceVersions(decode[resourcev1.ResourceClaimTemplate],
		converting(drav1beta2.Convert_v1beta2_ResourceClaimTemplate_To_v1_ResourceClaimTemplate),
		converting(drav1beta1.Convert_v1beta1_ResourceClaimTemplate_To_v1_ResourceClaimTemplate)),
	inspect.Classes: resourceVersions(decode[resourcev1.DeviceClass],
		converting(drav1beta2.Convert_v1beta2_DeviceClass_To_v1_DeviceClass),
		converting(drav1beta1.Convert_v1beta1_DeviceClass_To_v1_DeviceClass)),
	inspect.Slices: {
		{name: "v1", decode: decode[resourcev1.ResourceSlice]},
		{name: "v1beta2", decode: converting(drav1beta2.Convert_v1beta2_ResourceSlice_To_v1_ResourceSlice)},
		{name: "v1beta1", decode: converting(drav1beta1.Convert_v1beta1_ResourceSlice_To_v1_ResourceSlice), flat: true},
		{name: "v1alpha3", decode: decodeAlphaSlice, flat: true},
	},
	inspect.TaintRules:        alike(decode[resourcev1.DeviceTaintRule], "v1", "v1beta2", "v1alpha3"),
	inspect.Pods:              alike(decode[corev1.Pod], "v1"),
	inspect.Nodes:             alike(decode[corev1.Node], "v1"),
	inspect.PriorityLevels:    alike(decode[flowcontrolv1.PriorityLevelConfiguration], "v1", "v1beta3"),
	inspect.FlowSchemas:       alike(decode[flowcontrolv1.FlowSchema], "v1", "v1beta3"),
	inspect.StorageCapacities: alike(decode[storagev1.CSIStorageCapacity], "v1", "v1beta1"),
	inspect.StorageClasses:    alike(decode[storagev1.StorageClass], "v1"),
	inspect.CSIDrivers:        alike(decode[storagev1.CSIDriver], "v1"),
	inspect.VolumeClaims:      alike(decode[corev1.PersistentVolumeClaim], "v1"),
	inspect.Volumes:           alike(decode[corev1.PersistentVolume], "v1"),
	inspect.Namespaces:        alike(decode[corev1.Namespace], "v1"),
	inspect.CSINodes:          alike(decode[storagev1.CSINode], "v1"),
	inspect.VolumeAttachments: alike(decode[storagev1.VolumeAttachment], "v1"),
	inspect.Quotas:            alike(decode[corev1.ResourceQuota], "v1"),
	inspect.Budgets:           alike(decode[policyv1.PodDisruptionBudget], "v1"),
	inspect.LimitRanges:       alike(decode[corev1.LimitRange], "v1"),
	inspect.PodGroups: append(alike(decode[schedulingv1beta1.PodGroup], "v1beta1", "v1alpha3"),
		version{name: "v1alpha2", decode: decodeAlphaPodGroup}),
	inspect.CompositePodGroups:      alike(decode[schedulingv1alpha3.CompositePodGroup], "v1beta1", "v1alpha3"),
	inspect.KueueWorkloads:          kueueVersions(decode[kueuev1beta2.Workload]),
	inspect.ClusterQueues:           kueueVersions(decode[kueuev1beta2.ClusterQueue]),
	inspect.LocalQueues:             kueueVersions(decode[kueuev1beta2.LocalQueue]),
	inspect.Cohorts:                 kueueVersions(decode[kueuev1beta2.Cohort]),
	inspect.ResourceFlavors:         kueueVersions(decode[kueuev1beta2.ResourceFlavor]),
	inspect.WorkloadPriorityClasses: kueueVersions(decode[kueuev1beta2.WorkloadPriorityClass]),
	inspect.AdmissionChecks:         kueueVersions(decode[kueuev1beta2.AdmissionCheck]),
	inspect.Topologies:              kueueVersions(decode[kueuev1beta2.Topology]),
}

// kueueVersions are those of a kind of Kueue, of which the older one has fields of other names.
func kueueVersions(v1beta2 decodeFunc) []version {
	return []version{{name: "v1beta2", decode: v1beta2}, {name: "v1beta1", decode: func(raw []byte) (metav1.Object, []error, error) {
		raw, err := inspect.UpgradeKueue(raw)
		if err != nil {
			return nil, nil, err
		}
		return v1beta2(raw)
	}}}
}

// alike are versions that are decoded alike.
func alike(decode decodeFunc, names ...string) []version {
	var out []version
	for _, name := range names {
		out = append(out, version{name: name, decode: decode})
	}
	return out
}

// resourceVersions are the versions of most kinds of resource.k8s.io.
func resourceVersions(v1, v1beta2, v1beta1 decodeFunc) []version {
	return []version{
		{name: "v1", decode: v1}, {name: "v1beta2", decode: v1beta2},
		{name: "v1beta1", decode: v1beta1, flat: true}, {name: "v1alpha3", decode: v1beta1, flat: true},
	}
}

// sameShape reports whether the fields of the version have the places of the newest one. Those of which that
// does not hold are of no server that is newer than this program.
func (k kind) sameShape() bool {
	return k.name == k.Version || k.name == "v1beta2" && k.Group == resourcev1.GroupName
}

// kindOf returns how to read a kind. It returns false if no question needs the kind, or its API version is
// gone.
func kindOf(apiVersion, name string) (kind, bool) {
	group, wanted := splitVersion(apiVersion)
	known, ok := kindNamed(group, name)
	if !ok {
		return kind{}, false
	}
	of := versions[known.Resource]
	i := slices.IndexFunc(of, func(v version) bool { return v.name == wanted })
	if i < 0 {
		return kind{}, false
	}
	return kind{known, of[i]}, true
}

// kindNamed returns the kind of that name in a group.
func kindNamed(group, name string) (inspect.Kind, bool) {
	all := inspect.Kinds()
	i := slices.IndexFunc(all, func(k inspect.Kind) bool { return k.Group == group && k.Name == name })
	if i < 0 {
		return inspect.Kind{}, false
	}
	return all[i], true
}

// splitVersion takes an apiVersion apart.
func splitVersion(apiVersion string) (group, version string) {
	at := strings.LastIndexByte(apiVersion, '/')
	return apiVersion[:max(at, 0)], apiVersion[at+1:]
}

type decodeFunc = func(raw []byte) (metav1.Object, []error, error)

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
	group, version := splitVersion(apiVersion)
	if group == resourcev1.GroupName && (version == "v1alpha1" || version == "v1alpha2") {
		return apiVersion + " is the first API of dynamic resource allocation (classic DRA), which is gone since Kubernetes 1.31; " +
			"left out, write it anew for resource.k8s.io/v1"
	}
	newest, ok := kindNamed(group, name)
	if !ok {
		return ""
	}
	return apiVersion + " is served by no current Kubernetes release; left out, use " + newest.APIVersion()
}

// setType gives an object the apiVersion and kind that it has after conversion.
func setType(object metav1.Object, apiVersion, kindName string) {
	if o, ok := object.(runtime.Object); ok {
		o.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(apiVersion, kindName))
	}
}
