package inspect

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// PodOwner is an object because of which there are pods: one whose controller makes them, or a PodGroup that
// they belong to. It is no part of a Snapshot, since its pods are.
type PodOwner struct {
	Kind            OwnerKind
	Namespace, Name string
	// Known says that the object itself was read. Otherwise there are only its pods.
	Known bool
	// UID may be empty, in files.
	UID types.UID
	// Templates are the pods that its controller makes, one for each pod template of the object, in the order
	// of their paths. There are none if the object has no template, or was not read.
	Templates []*Workload
	// Pods are those that exist and have not ended, sorted by name.
	Pods []*corev1.Pod
	// Unread says what could not be read because of which pods may be missing: the verb, the resource and
	// where.
	Unread []string
}

// OwnerKind is a kind of object because of which there are pods.
type OwnerKind struct {
	// Group and Version are those of the API; "" is the core group.
	Group, Version string
	// Resource is the plural as in a URL, "deployments".
	Resource string
	// Name is the kind as in a manifest, "Deployment".
	Name string
	// Singular is the resource for one object, "deployment".
	Singular string
	// Short are other names by which kubectl knows the resource, such as "deploy".
	Short []string
}

// ownerKinds are those that Kubernetes has, most used first.
var ownerKinds = []OwnerKind{
	{"batch", "v1", "jobs", "Job", "job", nil},
	{"apps", "v1", "deployments", "Deployment", "deployment", []string{"deploy"}},
	{"apps", "v1", "statefulsets", "StatefulSet", "statefulset", []string{"sts"}},
	{"apps", "v1", "daemonsets", "DaemonSet", "daemonset", []string{"ds"}},
	{"apps", "v1", "replicasets", "ReplicaSet", "replicaset", []string{"rs"}},
	{"batch", "v1", "cronjobs", "CronJob", "cronjob", []string{"cj"}},
	{"", "v1", "replicationcontrollers", "ReplicationController", "replicationcontroller", nil},
	{schedulingv1beta1.GroupName, "v1beta1", "podgroups", podGroupKind, "podgroup", nil},
}

// OwnerKinds returns the kinds of Kubernetes itself because of which there are pods, most used first.
func OwnerKinds() []OwnerKind { return slices.Clone(ownerKinds) }

// Called reports whether kubectl understands a word as the kind: "jobs", "deploy", "statefulset.apps",
// "Job.v1.batch".
func (k OwnerKind) Called(word string) bool {
	name, of, qualified := strings.Cut(strings.ToLower(word), ".")
	if name != k.Resource && name != k.Singular && !slices.Contains(k.Short, name) {
		return false
	}
	return !qualified || of == k.Group || of == k.Version || of == k.Version+"."+k.Group
}

// GroupResource is the resource as in messages of the API server, "jobs.batch".
func (k OwnerKind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.Resource}
}

// IsPodGroup reports whether pods belong to objects of the kind by their spec. Others are the controllers of
// their pods, or of what controls these.
func (k OwnerKind) IsPodGroup() bool {
	return k.Group == schedulingv1beta1.GroupName && k.Name == podGroupKind
}

// is reports whether a reference is to an object of the kind.
func (k OwnerKind) is(ref *metav1.OwnerReference) bool {
	group, _, _ := strings.Cut(ref.APIVersion, "/")
	if !strings.Contains(ref.APIVersion, "/") {
		group = ""
	}
	return ref.Kind == k.Name && group == k.Group
}

// Fill finds the pods of an object and, if it is a PodGroup of the snapshot, its UID. It reports whether
// anything is known of the object: whether it was read or has pods. See PodsOwnedBy about parents.
func (o *PodOwner) Fill(s *Snapshot, parents Parents) bool {
	if o.Kind.IsPodGroup() {
		for _, group := range s.objects.PodGroups {
			if group.Namespace == o.Namespace && group.Name == o.Name {
				o.UID = group.UID
				o.Known = true
			}
		}
	}
	o.Pods = s.PodsOwnedBy(o, parents)
	return o.Known || len(o.Pods) > 0
}

// Parents says who controls an object in a namespace, nil if nobody does or that is not known.
type Parents func(namespace string, of *metav1.OwnerReference) *metav1.OwnerReference

// maxOwners bounds a chain of controllers: those of known kinds have three links at most.
const maxOwners = 8

// PodsOwnedBy returns the pods of the snapshot that exist because of an object and have not ended, sorted by
// name: those of a PodGroup, or those from which a chain of controllers leads to the object. That a
// ReplicaSet is of a Deployment is seen by its name; of other objects that are no pods, parents tells, which
// may be nil. The UID counts if it is not empty.
func (s *Snapshot) PodsOwnedBy(o *PodOwner, parents Parents) []*corev1.Pod {
	var out []*corev1.Pod
	for _, pod := range s.Objects().Pods {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if pod.Namespace == o.Namespace && !ended && o.owns(pod, parents) {
			out = append(out, pod)
		}
	}
	return out
}

func (o *PodOwner) owns(pod *corev1.Pod, parents Parents) bool {
	if o.Kind.IsPodGroup() {
		return PodGroupOf(pod) == o.Name
	}
	return slices.ContainsFunc(Controllers(pod, parents), func(ref *metav1.OwnerReference) bool {
		return o.Kind.is(ref) && ref.Name == o.Name && (o.UID == "" || ref.UID == "" || ref.UID == o.UID)
	})
}

// Controllers returns the chain of controllers of a pod, the nearest first. See PodsOwnedBy about parents.
func Controllers(pod *corev1.Pod, parents Parents) []*metav1.OwnerReference {
	var chain []*metav1.OwnerReference
	for ref := metav1.GetControllerOf(pod); ref != nil && len(chain) < maxOwners; {
		chain = append(chain, ref)
		next := deploymentOf(pod, ref)
		if next == nil && parents != nil {
			next = parents(pod.Namespace, ref)
		}
		ref = next
	}
	return chain
}

// deploymentOf returns the Deployment of a ReplicaSet of a pod, or nil. The UID is not known.
func deploymentOf(pod *corev1.Pod, ref *metav1.OwnerReference) *metav1.OwnerReference {
	hash := pod.Labels["pod-template-hash"]
	name, ok := strings.CutSuffix(ref.Name, "-"+hash)
	if ref.Kind != "ReplicaSet" || hash == "" || !ok {
		return nil
	}
	return &metav1.OwnerReference{APIVersion: ref.APIVersion, Kind: "Deployment", Name: name}
}

// OwnerNames are the names of the objects of a kind in a namespace because of which there are pods, or
// PodGroups, sorted.
func (s *Snapshot) OwnerNames(k OwnerKind, namespace string) []string {
	var names []string
	if k.IsPodGroup() {
		for _, group := range s.objects.PodGroups {
			if group.Namespace == namespace {
				names = append(names, group.Name)
			}
		}
	}
	for _, pod := range s.Objects().Pods {
		if pod.Namespace != namespace {
			continue
		}
		if group := PodGroupOf(pod); k.IsPodGroup() && group != "" {
			names = append(names, group)
		}
		for _, ref := range Controllers(pod, nil) {
			if k.is(ref) {
				names = append(names, ref.Name)
			}
		}
	}
	slices.SortFunc(names, cmp.Compare)
	return slices.Compact(names)
}
