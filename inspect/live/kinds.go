package live

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	flowcontrolv1beta3 "k8s.io/api/flowcontrol/v1beta3"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1beta1 "k8s.io/api/resource/v1beta1"
	resourcev1beta2 "k8s.io/api/resource/v1beta2"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1beta1 "k8s.io/api/storage/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// kind says how one resource is read.
type kind struct {
	inspect.Kind
	versions []apiVersion // newest first
	typed
}

// object is an object of any kind.
type object interface {
	metav1.Object
	runtime.Object
}

// typed is what has to know the Go types of a kind.
type typed struct {
	// items returns the objects of a decoded list at the newest version. With a *partialError some are missing.
	items func(v apiVersion, list runtime.Object) ([]object, error)
	// is reports whether an object is one at the newest version.
	is func(runtime.Object) bool
	// reduce drops what no question reads of an object.
	reduce func(object)
}

// read returns the objects of a decoded list at the newest version, reduced. They share memory with those before them.
func (k kind) read(v apiVersion, list runtime.Object, c *sharing.Common) ([]object, error) {
	objects, err := k.items(v, list)
	for i, o := range objects {
		if o.GetName() == "" {
			return nil, fmt.Errorf("the answer is no list of %s: item %d has no name", k.qualified(), i+1)
		}
		k.reduce(o)
		c.Share(o)
	}
	return objects, err
}

// apiVersion is one version at which a kind may be served.
type apiVersion struct {
	name    string
	newList func() runtime.Object
	// convert fills a list at the newest version from one at this version. It is nil for the newest.
	convert func(in, out runtime.Object) error
	// jsonOnly is set where the list type cannot decode protobuf.
	jsonOnly bool
}

func (k kind) groupVersion(v apiVersion) schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: v.name}
}

// qualified names the resource as in an RBAC message: "pods", "resourceslices.resource.k8s.io".
func (k kind) qualified() string {
	return schema.GroupResource{Group: k.Group, Resource: string(k.Resource)}.String()
}

func list[T any, P interface {
	*T
	runtime.Object
}]() runtime.Object {
	return P(new(T))
}

// items returns the functions of a kind whose list at the newest version is L and whose object is T. They take the objects
// out of a list and, if reduce is not nil, reduce them.
func items[L, T any, PL interface {
	*L
	runtime.Object
}, PT interface {
	*T
	object
}](of func(*L) []T, reduce func(*T)) typed {
	return typed{
		is: func(o runtime.Object) bool { _, ok := o.(PT); return ok },
		items: func(v apiVersion, in runtime.Object) ([]object, error) {
			var err error
			out, ok := in.(PL)
			if !ok {
				out = PL(new(L))
				err = v.convert(in, out)
			}
			objects := of((*L)(out))
			result := make([]object, len(objects))
			for i := range objects {
				alone := objects[i] // a pointer to an item would keep the whole list in memory
				result[i] = PT(&alone)
			}
			return result, err
		},
		reduce: func(o object) {
			inspect.ReduceManagedFields(o)
			if reduce != nil {
				reduce((*T)(o.(PT)))
			}
		},
	}
}

// kindOf returns how the resource is read.
func kindOf(resource inspect.Resource) (kind, bool) {
	for _, k := range kinds() {
		if k.Resource == resource {
			return k, true
		}
	}
	return kind{}, false
}

// kinds returns how every resource of a Snapshot is read.
func kinds() []kind {
	return slices.Concat(draKinds(), coreKinds(), flowKinds(), storageKinds(), schedulingKinds())
}

func draKinds() []kind {
	return []kind{{
		Kind: inspect.KindOf(inspect.Claims),
		versions: []apiVersion{
			{name: "v1", newList: list[resourcev1.ResourceClaimList]},
			{name: "v1beta2", newList: list[resourcev1beta2.ResourceClaimList], convert: convert},
			{name: "v1beta1", newList: list[resourcev1beta1.ResourceClaimList], convert: convert},
		},
		typed: items(func(l *resourcev1.ResourceClaimList) []resourcev1.ResourceClaim { return l.Items }, nil),
	}, {
		Kind: inspect.KindOf(inspect.Templates),
		versions: []apiVersion{
			{name: "v1", newList: list[resourcev1.ResourceClaimTemplateList]},
			{name: "v1beta2", newList: list[resourcev1beta2.ResourceClaimTemplateList], convert: convert},
			{name: "v1beta1", newList: list[resourcev1beta1.ResourceClaimTemplateList], convert: convert},
		},
		typed: items(func(l *resourcev1.ResourceClaimTemplateList) []resourcev1.ResourceClaimTemplate { return l.Items }, nil),
	}, {
		Kind: inspect.KindOf(inspect.Classes),
		versions: []apiVersion{
			{name: "v1", newList: list[resourcev1.DeviceClassList]},
			{name: "v1beta2", newList: list[resourcev1beta2.DeviceClassList], convert: convert},
			{name: "v1beta1", newList: list[resourcev1beta1.DeviceClassList], convert: convert},
		},
		typed: items(func(l *resourcev1.DeviceClassList) []resourcev1.DeviceClass { return l.Items }, nil),
	}, {
		Kind: inspect.KindOf(inspect.Slices),
		versions: []apiVersion{
			{name: "v1", newList: list[resourcev1.ResourceSliceList]},
			{name: "v1beta2", newList: list[resourcev1beta2.ResourceSliceList], convert: convert},
			{name: "v1beta1", newList: list[resourcev1beta1.ResourceSliceList], convert: convert},
		},
		typed: items(func(l *resourcev1.ResourceSliceList) []resourcev1.ResourceSlice { return l.Items }, nil),
	}, {
		Kind: inspect.KindOf(inspect.TaintRules),
		versions: []apiVersion{
			{name: "v1", newList: list[resourcev1.DeviceTaintRuleList]},
			{name: "v1beta2", newList: list[resourcev1beta2.DeviceTaintRuleList], convert: convert},
			{name: "v1alpha3", newList: list[alphaTaintRuleList], convert: convertAlphaTaintRules, jsonOnly: true},
		},
		typed: items(func(l *resourcev1.DeviceTaintRuleList) []resourcev1.DeviceTaintRule { return l.Items }, nil),
	}}
}

func coreKinds() []kind {
	return []kind{{
		Kind:     inspect.KindOf(inspect.Pods),
		versions: []apiVersion{{name: "v1", newList: list[corev1.PodList]}},
		typed:    items(func(l *corev1.PodList) []corev1.Pod { return l.Items }, reducePod),
	}, {
		Kind:     inspect.KindOf(inspect.Nodes),
		versions: []apiVersion{{name: "v1", newList: list[corev1.NodeList]}},
		typed:    items(func(l *corev1.NodeList) []corev1.Node { return l.Items }, reduceNode),
	}, {
		Kind:     inspect.KindOf(inspect.VolumeClaims),
		versions: []apiVersion{{name: "v1", newList: list[corev1.PersistentVolumeClaimList]}},
		typed:    items(func(l *corev1.PersistentVolumeClaimList) []corev1.PersistentVolumeClaim { return l.Items }, bare),
	}, {
		Kind:     inspect.KindOf(inspect.Volumes),
		versions: []apiVersion{{name: "v1", newList: list[corev1.PersistentVolumeList]}},
		typed:    items(func(l *corev1.PersistentVolumeList) []corev1.PersistentVolume { return l.Items }, bare),
	}, {
		Kind:     inspect.KindOf(inspect.Namespaces),
		versions: []apiVersion{{name: "v1", newList: list[corev1.NamespaceList]}},
		typed:    items(func(l *corev1.NamespaceList) []corev1.Namespace { return l.Items }, bare),
	}, {
		Kind:     inspect.KindOf(inspect.Quotas),
		versions: []apiVersion{{name: "v1", newList: list[corev1.ResourceQuotaList]}},
		typed:    items(func(l *corev1.ResourceQuotaList) []corev1.ResourceQuota { return l.Items }, bare),
	}}
}

func flowKinds() []kind {
	return []kind{{
		Kind: inspect.KindOf(inspect.PriorityLevels),
		versions: []apiVersion{
			{name: "v1", newList: list[flowcontrolv1.PriorityLevelConfigurationList]},
			{name: "v1beta3", newList: list[flowcontrolv1beta3.PriorityLevelConfigurationList], convert: convertJSON},
		},
		typed: items(func(l *flowcontrolv1.PriorityLevelConfigurationList) []flowcontrolv1.PriorityLevelConfiguration {
			return l.Items
		}, nil),
	}, {
		Kind: inspect.KindOf(inspect.FlowSchemas),
		versions: []apiVersion{
			{name: "v1", newList: list[flowcontrolv1.FlowSchemaList]},
			{name: "v1beta3", newList: list[flowcontrolv1beta3.FlowSchemaList], convert: convertJSON},
		},
		typed: items(func(l *flowcontrolv1.FlowSchemaList) []flowcontrolv1.FlowSchema { return l.Items }, nil),
	}}
}

func storageKinds() []kind {
	return []kind{{
		Kind: inspect.KindOf(inspect.StorageCapacities),
		versions: []apiVersion{
			{name: "v1", newList: list[storagev1.CSIStorageCapacityList]},
			{name: "v1beta1", newList: list[storagev1beta1.CSIStorageCapacityList], convert: convertJSON},
		},
		typed: items(func(l *storagev1.CSIStorageCapacityList) []storagev1.CSIStorageCapacity { return l.Items }, nil),
	}, {
		Kind:     inspect.KindOf(inspect.StorageClasses),
		versions: []apiVersion{{name: "v1", newList: list[storagev1.StorageClassList]}},
		typed:    items(func(l *storagev1.StorageClassList) []storagev1.StorageClass { return l.Items }, nil),
	}, {
		Kind:     inspect.KindOf(inspect.CSIDrivers),
		versions: []apiVersion{{name: "v1", newList: list[storagev1.CSIDriverList]}},
		typed:    items(func(l *storagev1.CSIDriverList) []storagev1.CSIDriver { return l.Items }, nil),
	}, {
		Kind:     inspect.KindOf(inspect.CSINodes),
		versions: []apiVersion{{name: "v1", newList: list[storagev1.CSINodeList]}},
		typed:    items(func(l *storagev1.CSINodeList) []storagev1.CSINode { return l.Items }, bare),
	}, {
		Kind:     inspect.KindOf(inspect.VolumeAttachments),
		versions: []apiVersion{{name: "v1", newList: list[storagev1.VolumeAttachmentList]}},
		typed:    items(func(l *storagev1.VolumeAttachmentList) []storagev1.VolumeAttachment { return l.Items }, reduceAttachment),
	}}
}

func schedulingKinds() []kind {
	return []kind{{
		Kind: inspect.KindOf(inspect.PodGroups),
		versions: []apiVersion{
			{name: "v1beta1", newList: list[schedulingv1beta1.PodGroupList]},
			{name: "v1alpha3", newList: list[schedulingv1alpha3.PodGroupList], convert: convertJSON},
			{name: "v1alpha2", newList: list[alphaPodGroupList], convert: convertAlphaPodGroups, jsonOnly: true},
		},
		typed: items(func(l *schedulingv1beta1.PodGroupList) []schedulingv1beta1.PodGroup { return l.Items }, nil),
	}}
}
