package filters

import (
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// waitingClaim is a claim of a pod that is bound once the scheduler has chosen a node (WaitForFirstConsumer):
// to a volume that there is already, or to one that is made then.
type waitingClaim struct {
	volumeUse
	class *storagev1.StorageClass
	// wanted is nil if the claim asks for no size.
	wanted *resource.Quantity
	// bytes is wanted as what can be made is compared with it.
	bytes *resource.Quantity
	// selector is nil if the claim takes volumes with any labels.
	selector labels.Selector
	// attributes says whether the scheduler compares the VolumeAttributesClass.
	attributes bool
	// topologies are those of which a node needs one for a volume to be made for it.
	topologies []labels.Selector
	// driver is the CSIDriver of the provisioner, or nil.
	driver       *storagev1.CSIDriver
	driverUnread bool
	files        bool // the objects are from files

	reach *volumeReach
	// suits are volumes that all nodes reach and that suit the claim, prebound those that name it, wherever
	// they are.
	suits    []*corev1.PersistentVolume
	prebound []*corev1.PersistentVolume
}

// newWaitingClaim returns a claim of a class that binds late. An error is about the claim's selector: the
// claim cannot have a volume that there is already.
func (x *Index) newWaitingClaim(use volumeUse, class *storagev1.StorageClass) (*waitingClaim, error) {
	w := &waitingClaim{volumeUse: use, class: class, attributes: x.comparesVolumeAttributes(), reach: x.storage.reachOf(class.Name), files: x.storage.files}
	if q, ok := use.claim.Spec.Resources.Requests[corev1.ResourceStorage]; ok {
		w.wanted, w.bytes = &q, bytesOf(x.snapshot, &q)
	}
	for _, term := range class.AllowedTopologies {
		if selector, ok := topologySelector(term); ok {
			w.topologies = append(w.topologies, selector)
		}
	}
	objects := x.storage.byName()
	w.driver = objects.drivers[class.Provisioner]
	w.driverUnread = w.driver == nil && x.storageUnread(inspect.CSIDrivers, "", len(objects.drivers))
	if s := use.claim.Spec.Selector; s != nil {
		var err error
		if w.selector, err = metav1.LabelSelectorAsSelector(s); err != nil {
			return w, err
		}
	}
	for _, pv := range w.reach.anywhere {
		if w.suited(pv) {
			w.suits = append(w.suits, pv)
		}
	}
	for _, pv := range objects.ofClass[class.Name] {
		if boundTo(pv, use.claim) && w.misfit(pv) == "" {
			w.prebound = append(w.prebound, pv)
		}
	}
	return w, nil
}

// topologySelector returns what one of the allowed topologies of a class asks of the labels of nodes. It is
// false if no node matches.
func topologySelector(term corev1.TopologySelectorTerm) (labels.Selector, bool) {
	selector := labels.NewSelector()
	for _, e := range term.MatchLabelExpressions {
		r, err := labels.NewRequirement(e.Key, selection.In, e.Values)
		if err != nil {
			return nil, false
		}
		selector = selector.Add(*r)
	}
	return selector, len(term.MatchLabelExpressions) > 0
}

// boundTo reports whether a volume is reserved for a claim.
func boundTo(pv *corev1.PersistentVolume, claim *corev1.PersistentVolumeClaim) bool {
	ref := pv.Spec.ClaimRef
	return ref != nil && ref.Namespace == claim.Namespace && ref.Name == claim.Name && (ref.UID == "" || ref.UID == claim.UID)
}

// Misfits of a volume: why a claim cannot have it, on whatever node. They complete "2 volumes are …".
const (
	volumeTaken      = "taken"
	volumeSmall      = "too small"
	volumeMode       = "of another volumeMode"
	volumeAttributes = "of another VolumeAttributesClass"
	volumeDeleted    = "being deleted"
	volumePhase      = "not available"
	volumeLabels     = "not matched by its selector"
	volumeAccess     = "without one of its access modes"
)

// misfit says why a claim cannot have a volume even if the volume is reserved for it, or "".
func (w *waitingClaim) misfit(pv *corev1.PersistentVolume) string {
	size := pv.Spec.Capacity[corev1.ResourceStorage]
	switch claim := w.claim; {
	case pv.Spec.ClaimRef != nil && !boundTo(pv, claim):
		return volumeTaken
	case pv.DeletionTimestamp != nil:
		return volumeDeleted
	case modeOf(claim.Spec.VolumeMode) != modeOf(pv.Spec.VolumeMode):
		return volumeMode
	case w.attributes && stringOf(claim.Spec.VolumeAttributesClassName) != stringOf(pv.Spec.VolumeAttributesClassName),
		!w.attributes && stringOf(pv.Spec.VolumeAttributesClassName) != "":
		return volumeAttributes
	case w.wanted != nil && size.Cmp(*w.wanted) < 0:
		return volumeSmall
	}
	return ""
}

// mismatch is misfit of a volume that is not reserved for the claim.
func (w *waitingClaim) mismatch(pv *corev1.PersistentVolume) string {
	lacks := func(m corev1.PersistentVolumeAccessMode) bool { return !slices.Contains(pv.Spec.AccessModes, m) }
	switch why := w.misfit(pv); {
	case why != "" && why != volumeSmall:
		return why
	case pv.Status.Phase != corev1.VolumeAvailable && !w.unsaid(pv):
		return volumePhase
	case w.selector != nil && !w.selector.Matches(labels.Set(pv.Labels)):
		return volumeLabels
	case slices.ContainsFunc(w.claim.Spec.AccessModes, lacks):
		return volumeAccess
	default:
		return why
	}
}

// suited reports whether a claim can have a volume that is reserved for nobody.
func (w *waitingClaim) suited(pv *corev1.PersistentVolume) bool {
	return pv.Spec.ClaimRef == nil && w.mismatch(pv) == ""
}

// unsaid reports whether a volume does not say whether it is available, as in files written by hand.
func (w *waitingClaim) unsaid(pv *corev1.PersistentVolume) bool {
	return w.files && pv.Status.Phase == ""
}

func modeOf(mode *corev1.PersistentVolumeMode) corev1.PersistentVolumeMode {
	if mode == nil {
		return corev1.PersistentVolumeFilesystem
	}
	return *mode
}

// stringOf returns a text, or "" if there is none.
func stringOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// smallestFirst sorts claims as the scheduler does before it looks for volumes. The order of claims of one
// size is that which this sort leaves them in, for the scheduler as well.
func smallestFirst(claims []*waitingClaim) { sort.Sort(bySize(claims)) }

type bySize []*waitingClaim

func (s bySize) Len() int      { return len(s) }
func (s bySize) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s bySize) Less(i, j int) bool {
	a, b := s[i].claim.Spec.Resources.Requests[corev1.ResourceStorage], s[j].claim.Spec.Resources.Requests[corev1.ResourceStorage]
	return a.Cmp(b) < 0
}

// comparesVolumeAttributes reports whether the scheduler knows of VolumeAttributesClasses.
func (x *Index) comparesVolumeAttributes() bool {
	return x.snapshot.Features().Enabled(inspect.GateVolumeAttributesClass)
}
