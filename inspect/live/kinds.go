package live

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// kind says how one resource is read.
type kind struct {
	inspect.Kind
	versions []apiVersion // newest first
	// reduced drops what no question reads of an object besides managed fields. It may be nil.
	reduced func(object)
}

// object is an object of any kind.
type object interface {
	metav1.Object
	runtime.Object
}

// apiVersion is a version at which a kind may be served.
type apiVersion string

// jsonOnly reports whether the list at a version cannot be decoded from protobuf.
func (k kind) jsonOnly(v apiVersion) bool {
	gv := k.groupVersion(v)
	return gv == schedulingAlpha || gv == resourceAlpha || k.Resource.OfKueue() // which are custom resources
}

// newList returns an empty list at a version.
func (k kind) newList(v apiVersion) runtime.Object {
	list, err := scheme().New(k.groupVersion(v).WithKind(k.Name + "List"))
	if err != nil {
		panic(err) // a program error: the scheme knows all kinds at all their versions
	}
	return list
}

// is reports whether an object is one of the kind at its newest version.
func (k kind) is(o runtime.Object) bool {
	of, known := scheme().AllKnownTypes()[k.groupVersion(k.versions[0]).WithKind(k.Name)]
	return known && reflect.TypeOf(o).Elem() == of
}

// items returns the objects of a decoded list at the newest version. With a *partialError some are missing.
func (k kind) items(v apiVersion, list runtime.Object) ([]object, error) {
	var err error
	if v != k.versions[0] {
		old := list
		list = k.newList(k.versions[0])
		err = k.convert(old, list)
	}
	items := reflect.ValueOf(list).Elem().FieldByName("Items")
	objects := make([]object, items.Len())
	for i := range objects {
		alone := reflect.New(items.Type().Elem()) // a pointer to an item would keep the whole list in memory
		alone.Elem().Set(items.Index(i))
		objects[i] = alone.Interface().(object) //nolint:forcetypeassert // items of lists are
	}
	return objects, err
}

// reduce drops what no question reads of an object.
func (k kind) reduce(o object) {
	inspect.ReduceManagedFields(o)
	if k.reduced != nil {
		k.reduced(o)
	}
}

// read returns the objects of a decoded list at the newest version, reduced. They share memory with those
// before them.
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

func (k kind) groupVersion(v apiVersion) schema.GroupVersion {
	return schema.GroupVersion{Group: k.Group, Version: string(v)}
}

// qualified names the resource as in an RBAC message: "pods", "resourceslices.resource.k8s.io".
func (k kind) qualified() string {
	return schema.GroupResource{Group: k.Group, Resource: string(k.Resource)}.String()
}

// older are the versions besides the newest one at which resources may be served, newest first. Others have
// none.
var older = map[inspect.Resource][]apiVersion{
	inspect.Claims: {"v1beta2", "v1beta1"}, inspect.Templates: {"v1beta2", "v1beta1"},
	inspect.Classes: {"v1beta2", "v1beta1"}, inspect.Slices: {"v1beta2", "v1beta1"}, inspect.TaintRules: {"v1beta2", "v1alpha3"},
	inspect.PriorityLevels: {"v1beta3"}, inspect.FlowSchemas: {"v1beta3"},
	inspect.StorageCapacities: {"v1beta1"},
	inspect.PodGroups:         {"v1alpha3", "v1alpha2"},
}

// kindOf returns how the resource is read.
func kindOf(resource inspect.Resource) (kind, bool) {
	k := inspect.KindOf(resource)
	if resource.OfKueue() {
		return kind{k, []apiVersion{apiVersion(k.Version), "v1beta1"}, reduceObject}, true
	}
	return kind{k, append([]apiVersion{apiVersion(k.Version)}, older[resource]...), reduceObject}, k.Name != ""
}

// besideOf returns a kind of a group that is in no snapshot, and served at v1.
func besideOf(group string, resource inspect.Resource, name string, namespaced bool, reduced func(object)) kind {
	return kind{
		inspect.Kind{Group: group, Resource: resource, Name: name, Namespaced: namespaced}, []apiVersion{"v1"}, reduced,
	}
}

// reduceObject drops what no question reads of an object in a snapshot.
func reduceObject(o object) {
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
		bare(o)
		o.Generation = generation
	case *corev1.PersistentVolumeClaim, *corev1.PersistentVolume, *corev1.Namespace, *corev1.ResourceQuota, *corev1.LimitRange, *storagev1.CSINode:
		bare(o)
	}
}
