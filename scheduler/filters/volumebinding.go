package filters

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Annotations of claims.
const (
	bindCompleted = "pv.kubernetes.io/bind-completed"
	selectedNode  = "volume.kubernetes.io/selected-node"
)

// prepareVolumeBinding is the plugin VolumeBinding: each claim of a pod must be bound to a volume that the
// node reaches, or there must be such a volume, or it can be made.
func prepareVolumeBinding(p *Prepared) (check, Outcome) {
	v, everywhere := newVolumeBinding(p.Index, p.Pod)
	if len(v.bound)+len(v.selected)+len(v.waiting) == 0 {
		return nil, everywhere
	}
	return v, everywhere
}

// volumeBinding is what the plugin knows of a pod.
type volumeBinding struct {
	index *Index
	bound []*boundClaim
	// selected are claims for which a node has been chosen, waiting those for which none has, the smallest
	// first.
	selected, waiting []*waitingClaim
	// anywhere are volumes that all nodes reach and that suit several claims of the pod.
	anywhere []volumeGroup
	// volumesUnread says that there may be volumes that are not known.
	volumesUnread bool
}

func newVolumeBinding(x *Index, pod *corev1.Pod) (*volumeBinding, Outcome) {
	v := &volumeBinding{index: x}
	var everywhere Outcome
	for _, use := range x.volumesOf(pod) {
		everywhere.and(v.add(use, pod))
	}
	smallestFirst(v.waiting)
	v.volumesUnread = x.storageUnread(inspect.Volumes, "", len(x.storage.byName().volumes))
	if len(v.waiting) > 1 && len(v.waiting) <= mostMatched {
		var volumes []*corev1.PersistentVolume
		for _, claim := range v.waiting {
			volumes = append(volumes, claim.suits...)
		}
		slices.SortFunc(volumes, byVolumeName)
		v.anywhere = groupVolumes(v.waiting, slices.Compact(volumes))
	}
	return v, everywhere.once()
}

// add sorts a claim in, or says why no node will do.
func (v *volumeBinding) add(use volumeUse, pod *corev1.Pod) Outcome {
	if use.claim == nil {
		return use.absent(VolumeBinding)
	}
	switch claim := use.claim; {
	case claim.Status.Phase == corev1.ClaimLost:
		return use.unusable(VolumeBinding, "lost", fmt.Sprintf("the volume claim %s has lost its volume %s", use.name, claim.Spec.VolumeName))
	case claim.DeletionTimestamp != nil:
		return use.unusable(VolumeBinding, "deleted", fmt.Sprintf("the volume claim %s is being deleted", use.name))
	}
	if o := use.fromOtherPod(VolumeBinding, pod); !o.Passes() {
		return o
	}
	if _, completed := use.claim.Annotations[bindCompleted]; completed && use.claim.Spec.VolumeName != "" {
		return v.addBound(use)
	}
	return v.addUnbound(use)
}

// addUnbound sorts in a claim that is not bound.
func (v *volumeBinding) addUnbound(use volumeUse) Outcome {
	if name := use.claim.Spec.VolumeName; name != "" {
		return use.unusable(VolumeBinding, "unbound", fmt.Sprintf("the volume claim %s names the volume %s and is not bound to it yet", use.name, name))
	}
	class, o := v.index.lateClass(VolumeBinding, &use)
	if !o.Passes() {
		return o
	}
	w, err := v.index.newWaitingClaim(use, class)
	_, selected := use.claim.Annotations[selectedNode]
	switch {
	case selected: // volumes that there are already are not looked at
		v.selected = append(v.selected, w)
		return Outcome{}
	case err != nil:
		return use.unusable(VolumeBinding, "selector", fmt.Sprintf("the selector of the volume claim %s is invalid: %v", use.name, err))
	case !w.attributes && stringOf(use.claim.Spec.VolumeAttributesClassName) != "":
		return use.unusable(VolumeBinding, "attributes", fmt.Sprintf("the volume claim %s has a VolumeAttributesClass, which the scheduler does not know (gate VolumeAttributesClass is off)", use.name))
	}
	v.waiting = append(v.waiting, w)
	return Outcome{}
}

// lateClass returns the storage class of a claim that is not bound, if it binds claims once a node has been
// chosen (WaitForFirstConsumer). Other claims have to be bound before the scheduler looks for a node, and the
// outcome says so.
func (x *Index) lateClass(plugin Plugin, use *volumeUse) (*storagev1.StorageClass, Outcome) {
	name, classes := classOfClaim(use.claim), x.storage.byName().classes
	class := classes[name]
	switch {
	case unclassed(use.claim) && x.storageUnread(inspect.StorageClasses, "", len(classes)):
		return nil, doubt(Doubt{Plugin: plugin, Resource: inspect.StorageClasses, Key: "default", Message: fmt.Sprintf("which storage class the volume claim %s gets by default could not be read", use.name)})
	case name == "":
		return nil, use.unusable(plugin, "unbound", fmt.Sprintf("the volume claim %s is not bound to a volume, and has no storage class that would make one", use.name))
	case class == nil && x.storageUnread(inspect.StorageClasses, "", len(classes)):
		return nil, doubt(Doubt{Plugin: plugin, Resource: inspect.StorageClasses, Key: name, Message: fmt.Sprintf("the storage class %s of the volume claim %s could not be read", name, use.name)})
	case class == nil:
		return nil, use.unusable(plugin, "unbound", fmt.Sprintf("the volume claim %s is not bound to a volume, and its storage class %s does not exist", use.name, name))
	case class.VolumeBindingMode == nil:
		return nil, use.unusable(plugin, "mode", fmt.Sprintf("the storage class %s of the volume claim %s has no volumeBindingMode", name, use.name))
	case *class.VolumeBindingMode != storagev1.VolumeBindingWaitForFirstConsumer:
		return nil, use.unusable(plugin, "unbound", fmt.Sprintf("the volume claim %s is not bound to a volume yet, and its storage class %s binds at once, before a node is chosen", use.name, name))
	}
	return class, Outcome{}
}

// without is the same check: it is about volumes, whoever uses them.
func (v *volumeBinding) without(*Prepared, []*podInfo) (check, bool) { return v, true }

func (v *volumeBinding) on(n *nodeInfo) Outcome {
	var out Outcome
	verdicts := v.verdicts(n)
	for i := range verdicts {
		out.and(verdicts[i].outcome())
	}
	if len(out.Refusals)+len(out.Doubts) > 1 {
		return out.once()
	}
	return out
}

// verdicts says how the claims that are or can be bound fare on a node: those that are bound, then the
// others.
func (v *volumeBinding) verdicts(n *nodeInfo) []VolumeVerdict {
	out := make([]VolumeVerdict, 0, len(v.bound)+len(v.selected)+len(v.waiting))
	for _, b := range v.bound {
		out = append(out, b.on(v.index, n))
	}
	for _, claim := range v.selected {
		out = append(out, claim.selectedOn(v.index, n))
	}
	return append(out, v.waitingOn(n)...)
}

// selectedOn is the verdict about a claim for which a node has been chosen.
func (w *waitingClaim) selectedOn(x *Index, n *nodeInfo) VolumeVerdict {
	chosen := w.claim.Annotations[selectedNode]
	if n.Name == chosen {
		return w.provisionedOn(x, n)
	}
	verdict := VolumeVerdict{Claim: w.object(), Rule: VolumeSelected, By: Object{Kind: "Node", Name: chosen}}
	if n.Name == string(inspect.PseudoNode) && x.snapshot.NodesAssumed() {
		verdict.Doubt = unknownLabels(&w.volumeUse)
		return verdict
	}
	return verdict.refuse(VolumeNode, "selected "+w.name.String(), fmt.Sprintf("the volume of claim %s is being made for node %s (annotation %s)", w.name, chosen, selectedNode))
}

// unknownLabels is the doubt about whatever depends on nodes that were not read.
func unknownLabels(use *volumeUse) *Doubt {
	return &Doubt{
		Plugin: VolumeBinding, Resource: inspect.Nodes, Key: "labels " + use.name.String(),
		Message: fmt.Sprintf("which nodes reach the storage of the volume claim %s depends on their labels, which could not be read", use.name),
	}
}

func byVolumeName(a, b *corev1.PersistentVolume) int {
	switch {
	case a.Name < b.Name:
		return -1
	case a.Name > b.Name:
		return 1
	}
	return 0
}
