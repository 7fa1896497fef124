package filters

import (
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	csitranslation "k8s.io/csi-translation-lib"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// boundClaim is a claim with the volume that it is bound to.
type boundClaim struct {
	volumeUse
	volume *corev1.PersistentVolume            // nil if there is none
	nodes  *nodeaffinity.LazyErrorNodeSelector // nil: all nodes
	// plugin is the one that served the volume before CSI drivers did, or "". Nodes that have migrated to the
	// CSI driver look at migrated instead of the volume.
	plugin        string
	migrated      *corev1.PersistentVolume
	migratedNodes *nodeaffinity.LazyErrorNodeSelector
	// err is why the volume cannot be migrated.
	err error
}

// addBound sorts in a claim that is bound.
func (v *volumeBinding) addBound(use volumeUse) Outcome {
	name, volumes := use.claim.Spec.VolumeName, v.index.storage.byName().volumes
	pv := volumes[name]
	switch {
	case pv == nil && v.index.storageUnread(inspect.Volumes, "", len(volumes)):
		return doubt(Doubt{Plugin: VolumeBinding, Resource: inspect.Volumes, Key: name, Message: fmt.Sprintf("the volume %s of claim %s could not be read", name, use.name)})
	case pv == nil: // the scheduler notices it on each node
		v.bound = append(v.bound, &boundClaim{volumeUse: use})
		return Outcome{}
	}
	b := &boundClaim{volumeUse: use, volume: pv, nodes: selectorOf(pv)}
	b.migrate()
	v.bound = append(v.bound, b)
	return v.index.untranslated(b)
}

// untranslated is a doubt about a volume that no CSI driver can serve, if some node would serve it so. There
// the plugin fails instead of refusing, and kube-scheduler gives up on the pod, whatever it found of other
// nodes, unless something refuses that node before.
func (x *Index) untranslated(b *boundClaim) Outcome {
	if b.err == nil || !slices.ContainsFunc(x.nodes, func(n *nodeInfo) bool {
		migrated, _ := x.migratedOn(b.plugin, n)
		return migrated
	}) {
		return Outcome{}
	}
	return doubt(failsSomewhere(VolumeBinding, fmt.Sprintf("the volume %s of claim %s", b.volume.Name, b.name), b.name.String(), b.err))
}

// failsSomewhere is the doubt of untranslated.
func failsSomewhere(plugin Plugin, volume, key string, err error) Doubt {
	return Doubt{
		Plugin: plugin, Key: "untranslated " + key,
		Message: fmt.Sprintf("kube-scheduler fails at nodes that serve %s by its CSI driver (%v), and may then place the pod on no node", volume, err),
	}
}

// volumeGone is the refusal of a claim whose volume does not exist.
func (u *volumeUse) volumeGone(plugin Plugin) Outcome {
	return u.unusable(plugin, "gone", fmt.Sprintf("the volume %s, to which the claim %s is bound, does not exist", u.claim.Spec.VolumeName, u.name))
}

func selectorOf(pv *corev1.PersistentVolume) *nodeaffinity.LazyErrorNodeSelector {
	required := requiredNodes(pv)
	if required == nil {
		return nil
	}
	return nodeaffinity.NewLazyErrorNodeSelector(required)
}

// migrate finds out what the volume is to nodes that use the CSI driver in place of what Kubernetes once had
// built in.
func (b *boundClaim) migrate() {
	translator := csitranslation.New()
	if !translator.IsPVMigratable(b.volume) {
		return
	}
	plugin, err := translator.GetInTreePluginNameFromSpec(b.volume, nil)
	if err != nil || !migrates(plugin) {
		return
	}
	b.plugin = plugin
	if b.migrated, b.err = translator.TranslateInTreePVToCSI(logr.Discard(), b.volume); b.err == nil {
		b.migratedNodes = selectorOf(b.migrated)
	}
}

// on is the verdict about a bound claim.
func (b *boundClaim) on(x *Index, n *nodeInfo) VolumeVerdict {
	verdict := VolumeVerdict{Claim: b.object(), Rule: VolumeReach, By: Object{Kind: "PersistentVolume", Name: b.claim.Spec.VolumeName}}
	if b.volume == nil {
		verdict.Refusal = &b.volumeGone(VolumeBinding).Refusals[0]
		return verdict
	}
	volume, nodes := b.volume, b.nodes
	switch migrated, known := x.migratedOn(b.plugin, n); {
	case !known && (b.err != nil || b.migratedNodes != nil || b.nodes != nil):
		verdict.Doubt = &Doubt{
			Plugin: VolumeBinding, Resource: inspect.CSINodes, Key: "migrated " + b.name.String(),
			Message: fmt.Sprintf("whether nodes serve the volume %s of claim %s by its CSI driver could not be read", b.volume.Name, b.name),
		}
		return verdict
	case migrated && b.err != nil:
		return verdict.refuse(VolumeNode, "untranslated "+b.name.String(), fmt.Sprintf("the volume %s of claim %s cannot be served by its CSI driver: %v", b.volume.Name, b.name, b.err))
	case migrated:
		volume, nodes = b.migrated, b.migratedNodes
	}
	switch {
	case nodes == nil:
	case x.snapshot.NodesAssumed():
		verdict.Doubt = unknownLabels(&b.volumeUse)
	case !reaches(nodes, labelsOnly(n)):
		return verdict.refuse(VolumeNode, "bound "+b.name.String(), fmt.Sprintf("the claim %s is bound to volume %s, which only nodes with %s reach", b.name, volume.Name, termWords(requiredNodes(volume))))
	}
	return verdict
}
