package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// zoneLabels are the labels of volumes and nodes that say where they are. The first two have been replaced by
// the others.
var zoneLabels = []string{
	corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion, corev1.LabelTopologyZone, corev1.LabelTopologyRegion,
}

// newZoneLabel is what a label has been replaced by.
func newZoneLabel(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	}
	return key
}

// prepareVolumeZone is the plugin VolumeZone: a volume that says by labels in which zone or region it is can
// be used there only. The claims of ephemeral volumes are not looked at.
func prepareVolumeZone(p *Prepared) (check, Outcome) {
	v := &volumeZone{assumed: p.snapshot.NodesAssumed()}
	var everywhere Outcome
	for _, use := range p.volumesOf(p.Pod) {
		if use.ephemeral {
			continue
		}
		pv, o := p.zonedVolume(&use)
		everywhere.and(o)
		if pv != nil {
			v.add(use, pv)
		}
	}
	everywhere = everywhere.once()
	if len(v.places) == 0 {
		return nil, everywhere
	}
	return v, everywhere
}

// zonedVolume returns the volume of a claim. It is nil without any reason if one will be bound once a node
// has been chosen.
func (x *Index) zonedVolume(use *volumeUse) (*corev1.PersistentVolume, Outcome) {
	if use.claim == nil {
		return nil, use.absent(VolumeZone)
	}
	name, volumes := use.claim.Spec.VolumeName, x.storage.byName().volumes
	if name == "" {
		_, o := x.lateClass(VolumeZone, use)
		return nil, o
	}
	switch pv := volumes[name]; {
	case pv == nil && x.storageUnread(inspect.Volumes, "", len(volumes)):
		return nil, doubt(Doubt{Plugin: VolumeZone, Resource: inspect.Volumes, Key: name, Message: fmt.Sprintf("the volume %s of claim %s could not be read", name, use.name)})
	case pv == nil:
		return nil, use.volumeGone(VolumeZone)
	default:
		return pv, Outcome{}
	}
}

// volumeZone is what the plugin knows of a pod.
type volumeZone struct {
	places  []volumePlace
	assumed bool // nothing is known of the nodes
}

// volumePlace is where a volume says that it is.
type volumePlace struct {
	use    volumeUse
	volume string
	key    string
	values []string
}

func (v *volumeZone) add(use volumeUse, pv *corev1.PersistentVolume) {
	for _, key := range zoneLabels {
		if values := zonesOf(pv.Labels[key]); values != nil {
			v.places = append(v.places, volumePlace{use: use, volume: pv.Name, key: key, values: values})
		}
	}
}

// zonesOf takes apart the value of a label of a volume, which may be in several zones. One of which a part is
// empty says nothing.
func zonesOf(value string) []string {
	out := strings.Split(value, "__")
	for i := range out {
		if out[i] = strings.TrimSpace(out[i]); out[i] == "" {
			return nil
		}
	}
	return out
}

// without is the same check: it is about volumes, whoever uses them.
func (v *volumeZone) without(*Prepared, []*podInfo) (check, bool) { return v, true }

func (v *volumeZone) on(n *nodeInfo) Outcome {
	if v.assumed {
		return v.unknown()
	}
	placed := func(key string) bool { _, ok := n.Labels[key]; return ok }
	if !slices.ContainsFunc(zoneLabels, placed) {
		return Outcome{} // a cluster without zones
	}
	var out Outcome
	for _, p := range v.places {
		at, ok := n.Labels[p.key]
		if !ok {
			at, ok = n.Labels[newZoneLabel(p.key)]
		}
		if ok && slices.Contains(p.values, at) {
			continue
		}
		out.and(refuse(Refusal{
			Plugin: VolumeZone, Code: VolumeOutOfZone, Key: p.key + " " + p.use.name.String(), Unresolvable: true,
			Object: p.use.object(), By: Object{Kind: "PersistentVolume", Name: p.volume},
			Message: fmt.Sprintf("the volume %s of claim %s is in %s %s, and the node is not", p.volume, p.use.name, p.key, strings.Join(p.values, " and ")),
		}))
	}
	return out
}

// unknown is what the plugin says of any node if nothing is known of nodes.
func (v *volumeZone) unknown() Outcome {
	var out Outcome
	for _, p := range v.places {
		out.and(doubt(Doubt{
			Plugin: VolumeZone, Resource: inspect.Nodes, Key: p.use.name.String(),
			Message: fmt.Sprintf("whether nodes are where the volume %s of claim %s is could not be read", p.volume, p.use.name),
		}))
	}
	return out.once()
}
