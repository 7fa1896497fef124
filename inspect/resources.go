package inspect

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// Resource names one of the resources that a Snapshot carries, by its plural as in a URL.
type Resource string

// The resources that a Snapshot carries.
const (
	Claims                  Resource = "resourceclaims"
	Templates               Resource = "resourceclaimtemplates"
	Classes                 Resource = "deviceclasses"
	Slices                  Resource = "resourceslices"
	TaintRules              Resource = "devicetaintrules"
	Pods                    Resource = "pods"
	Nodes                   Resource = "nodes"
	PriorityLevels          Resource = "prioritylevelconfigurations"
	FlowSchemas             Resource = "flowschemas"
	StorageCapacities       Resource = "csistoragecapacities"
	StorageClasses          Resource = "storageclasses"
	CSIDrivers              Resource = "csidrivers"
	VolumeClaims            Resource = "persistentvolumeclaims"
	Volumes                 Resource = "persistentvolumes"
	Namespaces              Resource = "namespaces"
	CSINodes                Resource = "csinodes"
	VolumeAttachments       Resource = "volumeattachments"
	PodGroups               Resource = "podgroups"
	CompositePodGroups      Resource = "compositepodgroups"
	Quotas                  Resource = "resourcequotas"
	Budgets                 Resource = "poddisruptionbudgets"
	LimitRanges             Resource = "limitranges"
	KueueWorkloads          Resource = "workloads"
	ClusterQueues           Resource = "clusterqueues"
	LocalQueues             Resource = "localqueues"
	Cohorts                 Resource = "cohorts"
	ResourceFlavors         Resource = "resourceflavors"
	WorkloadPriorityClasses Resource = "workloadpriorityclasses"
	AdmissionChecks         Resource = "admissionchecks"
	Topologies              Resource = "topologies"
)

// Optional reports whether many servers do not serve the resource, for their age or their feature gates. Then
// there are no such objects, and nothing is amiss. LimitRanges are read only where Kueue is, which heeds
// them.
func (r Resource) Optional() bool {
	return r == TaintRules || r == PodGroups || r == CompositePodGroups || r == LimitRanges || r.OfKueue()
}

// OfKueue reports whether the resource is one of Kueue, which is in clusters that have installed it.
func (r Resource) OfKueue() bool { return KindOf(r).Group == kueueGroup }

// Kind is what all that read or write objects of a Resource have to know of it.
type Kind struct {
	Resource Resource
	// Name is the kind as in a manifest, "ResourceClaim".
	Name string
	// Group is the API group; "" is the core group.
	Group string
	// Version is the newest version of the API, which the objects in a Snapshot have.
	Version    string
	Namespaced bool

	list list
}

// APIVersion is that of the objects in a Snapshot, "resource.k8s.io/v1".
func (k Kind) APIVersion() string { return k.GroupVersionKind().GroupVersion().String() }

// GroupVersionKind is that of the objects in a Snapshot.
func (k Kind) GroupVersionKind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.Group, Version: k.Version, Kind: k.Name}
}

// Objects returns the objects of the kind, in their order.
func (k Kind) Objects(of *Objects) []metav1.Object { return k.list.objects(of) }

// New returns an empty object of the kind.
func (k Kind) New() metav1.Object { return k.list.empty() }

// kueueGroup is the API group of Kueue.
const kueueGroup = "kueue.x-k8s.io"

// kinds is the table of all kinds. A kind of object that is not in it does not exist for this program.
//
// A new kind also needs a list in Objects; how it is read from a server (scheme.go in inspect/live for a new
// group or version, kinds.go where there are older ones) and from files (kind.go in inspect/manifest, and its
// defaults where the API server has some); for anonymized archives its own name (ownNames in anonymize.go of
// inspect/archive, and rename.go) and a rule in fields.go for every field that names another object, since
// all other text is replaced anyway; a line in docs/rbac/read.yaml. Tests find most of what was forgotten.
var kinds = []Kind{
	{Claims, "ResourceClaim", resourcev1.GroupName, "v1", true, in(func(o *Objects) *[]*resourcev1.ResourceClaim { return &o.Claims })},
	{Templates, "ResourceClaimTemplate", resourcev1.GroupName, "v1", true, in(func(o *Objects) *[]*resourcev1.ResourceClaimTemplate { return &o.Templates })},
	{Classes, "DeviceClass", resourcev1.GroupName, "v1", false, in(func(o *Objects) *[]*resourcev1.DeviceClass { return &o.Classes })},
	{Slices, "ResourceSlice", resourcev1.GroupName, "v1", false, in(func(o *Objects) *[]*resourcev1.ResourceSlice { return &o.Slices })},
	{TaintRules, "DeviceTaintRule", resourcev1.GroupName, "v1", false, in(func(o *Objects) *[]*resourcev1.DeviceTaintRule { return &o.TaintRules })},
	{Pods, "Pod", corev1.GroupName, "v1", true, in(func(o *Objects) *[]*corev1.Pod { return &o.Pods })},
	{Nodes, "Node", corev1.GroupName, "v1", false, in(func(o *Objects) *[]*corev1.Node { return &o.Nodes })},
	{PriorityLevels, "PriorityLevelConfiguration", flowcontrolv1.GroupName, "v1", false, in(func(o *Objects) *[]*flowcontrolv1.PriorityLevelConfiguration { return &o.PriorityLevels })},
	{FlowSchemas, "FlowSchema", flowcontrolv1.GroupName, "v1", false, in(func(o *Objects) *[]*flowcontrolv1.FlowSchema { return &o.FlowSchemas })},
	{StorageCapacities, "CSIStorageCapacity", storagev1.GroupName, "v1", true, in(func(o *Objects) *[]*storagev1.CSIStorageCapacity { return &o.StorageCapacities })},
	{StorageClasses, "StorageClass", storagev1.GroupName, "v1", false, in(func(o *Objects) *[]*storagev1.StorageClass { return &o.StorageClasses })},
	{CSIDrivers, "CSIDriver", storagev1.GroupName, "v1", false, in(func(o *Objects) *[]*storagev1.CSIDriver { return &o.CSIDrivers })},
	{VolumeClaims, "PersistentVolumeClaim", corev1.GroupName, "v1", true, in(func(o *Objects) *[]*corev1.PersistentVolumeClaim { return &o.VolumeClaims })},
	{Volumes, "PersistentVolume", corev1.GroupName, "v1", false, in(func(o *Objects) *[]*corev1.PersistentVolume { return &o.Volumes })},
	{Namespaces, "Namespace", corev1.GroupName, "v1", false, in(func(o *Objects) *[]*corev1.Namespace { return &o.Namespaces })},
	{CSINodes, "CSINode", storagev1.GroupName, "v1", false, in(func(o *Objects) *[]*storagev1.CSINode { return &o.CSINodes })},
	{VolumeAttachments, "VolumeAttachment", storagev1.GroupName, "v1", false, in(func(o *Objects) *[]*storagev1.VolumeAttachment { return &o.VolumeAttachments })},
	{PodGroups, "PodGroup", schedulingv1beta1.GroupName, "v1beta1", true, in(func(o *Objects) *[]*schedulingv1beta1.PodGroup { return &o.PodGroups })},
	// Of Kubernetes 1.38, which has them at v1beta1. The types of this program are those of 1.37, where
	// v1alpha3 has the same fields.
	{CompositePodGroups, "CompositePodGroup", schedulingv1beta1.GroupName, "v1beta1", true, in(func(o *Objects) *[]*schedulingv1alpha3.CompositePodGroup { return &o.CompositePodGroups })},
	{Quotas, "ResourceQuota", corev1.GroupName, "v1", true, in(func(o *Objects) *[]*corev1.ResourceQuota { return &o.Quotas })},
	{Budgets, "PodDisruptionBudget", policyv1.GroupName, "v1", true, in(func(o *Objects) *[]*policyv1.PodDisruptionBudget { return &o.Budgets })},
	{LimitRanges, "LimitRange", corev1.GroupName, "v1", true, in(func(o *Objects) *[]*corev1.LimitRange { return &o.LimitRanges })},
	{KueueWorkloads, "Workload", kueueGroup, "v1beta2", true, in(func(o *Objects) *[]*kueuev1beta2.Workload { return &o.KueueWorkloads })},
	{ClusterQueues, "ClusterQueue", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.ClusterQueue { return &o.ClusterQueues })},
	{LocalQueues, "LocalQueue", kueueGroup, "v1beta2", true, in(func(o *Objects) *[]*kueuev1beta2.LocalQueue { return &o.LocalQueues })},
	{Cohorts, "Cohort", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.Cohort { return &o.Cohorts })},
	{ResourceFlavors, "ResourceFlavor", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.ResourceFlavor { return &o.ResourceFlavors })},
	{WorkloadPriorityClasses, "WorkloadPriorityClass", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.WorkloadPriorityClass { return &o.WorkloadPriorityClasses })},
	{AdmissionChecks, "AdmissionCheck", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.AdmissionCheck { return &o.AdmissionChecks })},
	{Topologies, "Topology", kueueGroup, "v1beta2", false, in(func(o *Objects) *[]*kueuev1beta2.Topology { return &o.Topologies })},
}

// Kinds returns the kinds of all objects that a Snapshot carries, in a fixed order.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf returns the kind of the objects of a resource; the zero value for a resource that does not exist.
func KindOf(resource Resource) Kind {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Resource == resource })
	if i < 0 {
		return Kind{}
	}
	return kinds[i]
}

// Resources lists every Resource, in a fixed order.
func Resources() []Resource {
	out := make([]Resource, len(kinds))
	for i, k := range kinds {
		out[i] = k.Resource
	}
	return out
}

// SetObjects replaces the objects of a kind. It panics on an object of another kind.
func SetObjects[O metav1.Object](of *Objects, k Kind, all []O) {
	k.list.set(of, len(all), func(i int) metav1.Object { return all[i] })
}

// Add appends an object to the list of its kind. It returns false for an object of no kind that a Snapshot
// carries.
func (o *Objects) Add(object metav1.Object) bool {
	return slices.ContainsFunc(kinds, func(k Kind) bool { return k.list.add(o, object) })
}

// Sort sorts every list by namespace and name, in place.
func (o *Objects) Sort() { o.sortLike(&Objects{}) }

// sortLike is Sort for lists that have much in common with lists that are sorted.
func (o *Objects) sortLike(before *Objects) {
	for _, k := range kinds {
		k.list.sortLike(o, before)
	}
}

// clone returns Objects whose lists are copies.
func (o *Objects) clone() Objects {
	out := *o
	for _, k := range kinds {
		k.list.clone(&out)
	}
	return out
}

// list is one of the lists of Objects, whatever its type.
type list interface {
	objects(of *Objects) []metav1.Object
	empty() metav1.Object
	set(of *Objects, n int, at func(i int) metav1.Object)
	add(of *Objects, object metav1.Object) bool
	sortLike(of, before *Objects)
	clone(of *Objects)
}

// listOf finds a list in Objects.
type listOf[T object] func(*Objects) *[]T

// in lets the compiler infer the type of a list.
func in[T object](field listOf[T]) list { return field }

func (field listOf[T]) objects(of *Objects) []metav1.Object {
	var out []metav1.Object
	for _, object := range *field(of) {
		out = append(out, object)
	}
	return out
}

func (field listOf[T]) empty() metav1.Object {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) //nolint:forcetypeassert // it was made as one
}

func (field listOf[T]) set(of *Objects, n int, at func(i int) metav1.Object) {
	to := slices.Grow([]T(nil), n)
	for i := range n {
		to = append(to, at(i).(T)) //nolint:forcetypeassert // see SetObjects
	}
	*field(of) = to
}

func (field listOf[T]) add(of *Objects, object metav1.Object) bool {
	o, ok := object.(T)
	if ok {
		to := field(of)
		*to = append(*to, o)
	}
	return ok
}

func (field listOf[T]) sortLike(of, before *Objects) { sortByName(*field(of), *field(before)) }

func (field listOf[T]) clone(of *Objects) { *field(of) = slices.Clone(*field(of)) }
