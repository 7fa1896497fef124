package filters

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// volumeIndex finds objects of storage by name. It is built when a pod with volumes is first asked about, and
// snapshots in which these objects and the nodes are the same share it.
type volumeIndex struct {
	*storageIndex
	*volumeOffers
	claims func() map[objectName]*corev1.PersistentVolumeClaim
	// attached says how each claim counts towards what nodes can attach.
	attached func() map[objectName]attachable
}

// storageIndex is the part of a volumeIndex that does not depend on claims and nodes, but for CSINodes.
type storageIndex struct {
	byName  func() *volumeObjects
	made    atomic.Pointer[volumeObjects] // what byName returned, or nil if nobody has asked yet
	reaches *sync.Map                     // name of a StorageClass -> func() *volumeReach; they depend on volumes alone
	files   bool
}

// volumeOffers is the part that depends on nodes.
type volumeOffers struct {
	snapshot *inspect.Snapshot
	offers   sync.Map // name of a StorageClass -> func() map[inspect.NodeName]*volumeOffer
}

// volumeObjects are the objects of storage by name.
type volumeObjects struct {
	defaultClass *storagev1.StorageClass // or nil
	volumes      map[string]*corev1.PersistentVolume
	ofClass      map[string][]*corev1.PersistentVolume // sorted by name
	classes      map[string]*storagev1.StorageClass
	drivers      map[string]*storagev1.CSIDriver
	nodes        map[string]*storagev1.CSINode
	attachments  map[string][]*storagev1.VolumeAttachment // by node
}

// objectName names an object in a namespace.
type objectName struct{ namespace, name string }

func (n objectName) String() string { return n.namespace + "/" + n.name }

// newVolumeIndex returns the index of a snapshot. It shares with another one what is the same in both.
func newVolumeIndex(s *inspect.Snapshot, like *Index) *volumeIndex {
	v := &volumeIndex{volumeOffers: &volumeOffers{snapshot: s}}
	same := like != nil && sameStorage(s, like.snapshot)
	switch {
	case same && slices.Equal(s.Around().CSINodes, like.snapshot.Around().CSINodes):
		v.storageIndex = like.storage.storageIndex
		if slices.Equal(s.Around().Nodes, like.snapshot.Around().Nodes) {
			v.volumeOffers = like.storage.volumeOffers
		}
	case same: // a node that is only supposed comes with a CSINode
		v.storageIndex = newStorageIndex(s, like.storage.made.Load())
		v.reaches = like.storage.reaches
	default:
		v.storageIndex = newStorageIndex(s, nil)
	}
	if same && slices.Equal(s.Around().VolumeClaims, like.snapshot.Around().VolumeClaims) {
		v.claims, v.attached = like.storage.claims, like.storage.attached
		return v
	}
	v.claims = sync.OnceValue(func() map[objectName]*corev1.PersistentVolumeClaim {
		return v.byName().claimsByName(s.Around().VolumeClaims)
	})
	v.attached = sync.OnceValue(func() map[objectName]attachable { return v.byName().attachables(v.claims()) })
	return v
}

// newStorageIndex returns the index of a snapshot, with objects that are known but for CSINodes if they are
// not nil.
func newStorageIndex(s *inspect.Snapshot, known *volumeObjects) *storageIndex {
	v := &storageIndex{files: s.ServerVersion() == "", reaches: &sync.Map{}}
	v.byName = sync.OnceValue(func() *volumeObjects {
		objects := known.with(s.Around())
		v.made.Store(objects)
		return objects
	})
	return v
}

// with returns objects by name: these with other CSINodes, or if they are nil, all anew.
func (o *volumeObjects) with(objects *inspect.Objects) *volumeObjects {
	if o == nil {
		return newVolumeObjects(objects)
	}
	out := *o
	out.nodes = byObjectName(objects.CSINodes)
	return &out
}

// sameStorage reports whether all that a storageIndex is made of is the same in two snapshots, but for
// CSINodes.
func sameStorage(s, t *inspect.Snapshot) bool {
	a, b := s.Around(), t.Around()
	return s.ServerVersion() == t.ServerVersion() && s.Release() == t.Release() && s.NodesAssumed() == t.NodesAssumed() && slices.Equal(a.Volumes, b.Volumes) &&
		slices.Equal(a.StorageClasses, b.StorageClasses) && slices.Equal(a.StorageCapacities, b.StorageCapacities) &&
		slices.Equal(a.CSIDrivers, b.CSIDrivers) && slices.Equal(a.VolumeAttachments, b.VolumeAttachments)
}

// claimsByName are claims as they are once they have been created.
func (o *volumeObjects) claimsByName(claims []*corev1.PersistentVolumeClaim) map[objectName]*corev1.PersistentVolumeClaim {
	out := make(map[objectName]*corev1.PersistentVolumeClaim, len(claims))
	for _, claim := range claims {
		out[objectName{claim.Namespace, claim.Name}] = o.onceCreated(claim)
	}
	return out
}

func newVolumeObjects(o *inspect.Objects) *volumeObjects {
	out := &volumeObjects{
		volumes: byObjectName(o.Volumes), ofClass: map[string][]*corev1.PersistentVolume{}, classes: byObjectName(o.StorageClasses),
		drivers: byObjectName(o.CSIDrivers), nodes: byObjectName(o.CSINodes), attachments: map[string][]*storagev1.VolumeAttachment{},
		defaultClass: DefaultStorageClass(o.StorageClasses),
	}
	for _, volume := range o.Volumes {
		class := classOfVolume(volume)
		out.ofClass[class] = append(out.ofClass[class], volume)
	}
	for _, volumes := range out.ofClass {
		slices.SortStableFunc(volumes, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	}
	for _, a := range o.VolumeAttachments {
		out.attachments[a.Spec.NodeName] = append(out.attachments[a.Spec.NodeName], a)
	}
	return out
}

// byObjectName returns objects that have no namespace by name; of several with one name, the first.
func byObjectName[T metav1.Object](objects []T) map[string]T {
	out := make(map[string]T, len(objects))
	for _, object := range objects {
		if _, known := out[object.GetName()]; !known {
			out[object.GetName()] = object
		}
	}
	return out
}

// classOfClaim returns the name of the StorageClass that a claim asks for, or "". As in the scheduler, the
// annotation that preceded the field counts first.
func classOfClaim(claim *corev1.PersistentVolumeClaim) string {
	if class, found := claim.Annotations[corev1.BetaStorageClassAnnotation]; found {
		return class
	}
	if claim.Spec.StorageClassName != nil {
		return *claim.Spec.StorageClassName
	}
	return ""
}

// classOfVolume returns the name of the StorageClass of a volume, or "".
func classOfVolume(volume *corev1.PersistentVolume) string {
	if class, found := volume.Annotations[corev1.BetaStorageClassAnnotation]; found {
		return class
	}
	return volume.Spec.StorageClassName
}

// storageUnread reports whether there may be objects of a kind of storage, in a namespace, that are not
// known. Files hold all that there is, unless reading them failed.
func (x *Index) storageUnread(r inspect.Resource, namespace string, known int) bool {
	h := x.snapshot.Health(r)
	switch {
	case h.Complete():
		return false
	case h.State == inspect.NotRead:
		return known == 0 && x.snapshot.ServerVersion() != ""
	case h.State == inspect.Narrowed && namespace != "":
		return !slices.Contains(h.Namespaces, namespace)
	}
	return true
}
