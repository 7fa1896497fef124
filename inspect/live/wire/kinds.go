package wire

import (
	"cmp"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// Kind says how one resource is read.
type Kind struct {
	inspect.Kind
	Versions []Version // newest first
	// Reduced drops what no question reads of an object besides managed fields. It may be nil.
	Reduced func(Object)
}

// Object is an object of any kind.
type Object interface {
	metav1.Object
	runtime.Object
}

// Version is a version at which a kind may be served.
type Version string

// JSONOnly reports whether the list at a version cannot be decoded from protobuf.
func (k Kind) JSONOnly(v Version) bool {
	gv := k.GroupVersion(v)
	return gv == schedulingAlpha || gv == resourceAlpha || k.Resource.OfKueue() || // which are custom resources
		k.Resource == inspect.CompositePodGroups // whose type is that of another version
}

// Watched reports whether changes at a version are followed by a watch. Otherwise, the objects are listed
// again and again.
func (k Kind) Watched(v Version) bool {
	return !k.JSONOnly(v) || k.Resource.OfKueue() && v == k.Versions[0]
}

// NewList returns an empty list at a version.
func (k Kind) NewList(v Version) runtime.Object {
	list, err := scheme().New(k.GroupVersion(v).WithKind(k.Name + "List"))
	if err != nil {
		panic(err) // a program error: the scheme knows all kinds at all their versions
	}
	return list
}

// Is reports whether an object is one of the kind at its newest version.
func (k Kind) Is(o runtime.Object) bool {
	of, known := scheme().AllKnownTypes()[k.GroupVersion(k.Versions[0]).WithKind(k.Name)]
	return known && reflect.TypeOf(o).Elem() == of
}

// Items returns the objects of a decoded list at the newest version. With a *PartialError some are missing.
func (k Kind) Items(v Version, list runtime.Object) ([]Object, error) {
	var err error
	if v != k.Versions[0] {
		old := list
		list = k.NewList(k.Versions[0])
		err = k.convert(old, list)
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	objects := make([]Object, items.Len())
	for i := range objects {
		alone := reflect.New(items.Type().Elem()) // a pointer to an item would keep the whole list in memory
		alone.Elem().Set(items.Index(i))
		objects[i] = alone.Interface().(Object) //nolint:forcetypeassert // items of lists are
	}
	return objects, err
}

// Reduce drops what no question reads of an object.
func (k Kind) Reduce(o Object) {
	inspect.ReduceManagedFields(o)
	if k.Reduced != nil {
		k.Reduced(o)
	}
}

// Read returns the objects of a decoded list at the newest version, reduced. They share memory with those
// before them.
func (k Kind) Read(v Version, list runtime.Object, c *sharing.Common) ([]Object, error) {
	objects, err := k.Items(v, list)
	for i, o := range objects {
		if o.GetName() == "" {
			return nil, fmt.Errorf("the answer is no list of %s: item %d has no name", k.Qualified(), i+1)
		}
		k.Reduce(o)
		c.Share(o)
	}
	return objects, err
}

// Path is that of the objects of a namespace, or of all.
func (k Kind) Path(v Version, namespace string) []string {
	path := Path(k.Group, string(v))
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, string(k.Resource))
}

// Path begins the paths of all objects of a group at a version.
func Path(group, version string) []string {
	if group == "" {
		return []string{"/api", version}
	}
	return []string{"/apis", group, version}
}

// GroupVersion is the group with a version.
func (k Kind) GroupVersion(v Version) schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: string(v)}
}

// Qualified names the resource as in an RBAC message: "pods", "resourceslices.resource.k8s.io".
func (k Kind) Qualified() string {
	return schema.GroupResource{Group: k.Group, Resource: string(k.Resource)}.String()
}

// older are the versions besides the newest one at which resources may be served, newest first. Others have
// none.
var older = map[inspect.Resource][]Version{
	inspect.Claims: {"v1beta2", "v1beta1"}, inspect.Templates: {"v1beta2", "v1beta1"},
	inspect.Classes: {"v1beta2", "v1beta1"}, inspect.Slices: {"v1beta2", "v1beta1"}, inspect.TaintRules: {"v1beta2", "v1alpha3"},
	inspect.PriorityLevels: {"v1beta3"}, inspect.FlowSchemas: {"v1beta3"},
	inspect.StorageCapacities: {"v1beta1"},
	inspect.PodGroups:         {"v1alpha3", "v1alpha2"},
}

// KindOf returns how the resource is read.
func KindOf(resource inspect.Resource) (Kind, bool) {
	k := inspect.KindOf(resource)
	if resource.OfKueue() {
		return Kind{k, []Version{Version(k.Version), "v1beta1"}, ReduceObject}, true
	}
	return Kind{k, append([]Version{Version(k.Version)}, older[resource]...), ReduceObject}, k.Name != ""
}

// Beside returns a kind of a group that is in no snapshot, and served at v1.
func Beside(group string, resource inspect.Resource, name string, namespaced bool, reduced func(Object)) Kind {
	return Kind{
		inspect.Kind{Group: group, Resource: resource, Name: name, Namespaced: namespaced}, []Version{"v1"}, reduced,
	}
}

// ReduceObject drops what no question reads of an object in a snapshot.
func ReduceObject(o Object) {
	switch o := o.(type) {
	case *corev1.Pod:
		reduceMeta(&o.ObjectMeta)
		inspect.ReducePod(o)
	case *corev1.Node: // lists of images and volumes are by far the largest part of a node
		o.Status.Images, o.Status.VolumesInUse, o.Status.VolumesAttached = nil, nil, nil
	case *kueuev1beta2.Workload:
		reduceMeta(&o.ObjectMeta)
		inspect.ReduceKueueWorkload(o)
	case *storagev1.VolumeAttachment: // what is handed on to the kubelet
		reduceMeta(&o.ObjectMeta)
		o.Status.AttachmentMetadata = nil
	case *policyv1.PodDisruptionBudget:
		generation := o.Generation // of which the status says whether it is of this one
		Bare(o)
		o.Generation = generation
	case *corev1.PersistentVolumeClaim, *corev1.PersistentVolume, *corev1.Namespace, *corev1.ResourceQuota, *corev1.LimitRange, *storagev1.CSINode:
		Bare(o)
	}
}

// CheckItems refuses items that say that they are something else than what was asked for. Those of most
// servers say nothing.
func CheckItems(list runtime.Object, kind string, version schema.GroupVersion) error {
	switch list.(type) {
	case *alphaTaintRuleList, *alphaPodGroupList, *alphaList[upgraded]: // their items are no runtime.Object, and are asked for at one version
		return nil
	}
	n := 0
	err := meta.EachListItem(list, func(item runtime.Object) error {
		n++
		is := item.GetObjectKind().GroupVersionKind()
		if is.Kind != "" && is.Kind != kind || is.Version != "" && is.GroupVersion() != version {
			return fmt.Errorf("item %d is no %s of %s but %q of %q", n, kind, version, is.Kind, is.GroupVersion())
		}
		return nil
	})
	return err //nolint:wrapcheck // it says what is wrong
}

// Key names an object within its resource.
type Key struct{ namespace, name string }

// KeyOf returns the key of an object.
func KeyOf(o Object) Key { return Key{o.GetNamespace(), o.GetName()} }

// Compare orders by namespace, then by name.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.namespace, other.namespace), cmp.Compare(k.name, other.name))
}

// String is NAMESPACE/NAME, or NAME.
func (k Key) String() string {
	if k.namespace == "" {
		return k.name
	}
	return k.namespace + "/" + k.name
}
