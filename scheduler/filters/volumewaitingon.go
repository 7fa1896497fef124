package filters

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// noProvisioner is the provisioner of storage classes for which no volumes are made.
const noProvisioner = "kubernetes.io/no-provisioner"

// waitingOn says how the claims for which no node has been chosen fare on a node, in the order in which they
// are served.
func (v *volumeBinding) waitingOn(n *nodeInfo) []VolumeVerdict {
	out := make([]VolumeVerdict, len(v.waiting))
	need := false
	for i, claim := range v.waiting {
		out[i] = claim.provisionedOn(v.index, n)
		need = need || out[i].answer() != fits
	}
	if !need {
		return out // whatever volumes there are
	}
	v.useVolumes(n, out)
	return out
}

// useVolumes changes verdicts of claims that get a volume that there is already.
func (v *volumeBinding) useVolumes(n *nodeInfo, verdicts []VolumeVerdict) {
	if len(v.waiting) > mostMatched {
		for i := range verdicts {
			v.doubtVolumes(i, verdicts, "", fmt.Sprintf("the pod has more than %d claims that wait for volumes", mostMatched))
		}
		return
	}
	if v.index.snapshot.NodesAssumed() {
		for i := range verdicts {
			v.withoutLabels(i, verdicts)
		}
		return
	}
	if v.volumesUnread {
		for i := range verdicts {
			v.doubtVolumes(i, verdicts, inspect.Volumes, "the volumes that there are could not be read")
		}
		return
	}
	m := v.match(n, verdicts)
	result := m.answer()
	for i, claim := range v.waiting {
		switch pv := m.first[i]; {
		case result == doubtful && m.failed[i]:
			v.doubtVolumes(i, verdicts, "", "it is chance, or not said, which of the volumes are free for it")
		case pv != nil:
			verdicts[i] = claim.takes(pv)
		case verdicts[i].answer() == refused:
			claim.nearest(v.volumesAt(claim, n), n, &verdicts[i])
		}
	}
}

// withoutLabels is useVolumes where nothing is known of nodes: a volume that all can reach serves the only
// claim, and any volume may serve it.
func (v *volumeBinding) withoutLabels(i int, verdicts []VolumeVerdict) {
	claim := v.waiting[i]
	said := func(pv *corev1.PersistentVolume) bool { return !claim.unsaid(pv) }
	if at := slices.IndexFunc(claim.suits, said); at >= 0 && len(v.waiting) == 1 && len(claim.prebound) == 0 {
		verdicts[i] = claim.takes(claim.suits[at])
		return
	}
	if len(v.index.storage.byName().ofClass[claim.class.Name]) > 0 && verdicts[i].answer() == refused {
		verdicts[i].Refusal, verdicts[i].Doubt = nil, unknownLabels(&claim.volumeUse)
	}
}

// doubtVolumes turns the refusal of a claim into a doubt.
func (v *volumeBinding) doubtVolumes(i int, verdicts []VolumeVerdict, unread inspect.Resource, why string) {
	if verdicts[i].answer() != refused {
		return
	}
	name := v.waiting[i].name
	verdicts[i].Refusal, verdicts[i].Doubt = nil, &Doubt{
		Plugin: VolumeBinding, Resource: unread, Key: "volumes " + name.String(),
		Message: fmt.Sprintf("whether the volume claim %s gets a volume is not known: %s", name, why),
	}
}

// match gives the volumes that a node reaches to claims.
func (v *volumeBinding) match(n *nodeInfo, verdicts []VolumeVerdict) *volumeMatch {
	m := &volumeMatch{claims: v.waiting, node: n, otherwise: make([]answer, len(verdicts))}
	var local []*corev1.PersistentVolume
	for i, claim := range v.waiting {
		m.otherwise[i] = verdicts[i].answer()
		if !slices.ContainsFunc(v.waiting[:i], func(w *waitingClaim) bool { return w.reach == claim.reach }) {
			local = append(local, claim.reach.at(n)...)
		}
	}
	groups := slices.Clone(v.anywhere)
	if len(v.waiting) == 1 {
		groups = groupVolumes(v.waiting, v.waiting[0].suits)
	}
	groups = mergeGroups(append(groups, groupVolumes(v.waiting, local)...))
	said := slices.DeleteFunc(slices.Clone(groups), func(g volumeGroup) bool { return g.unsaid })
	m.groups = said
	m.run()
	if len(said) < len(groups) {
		m.groups = groups
		m.run()
	}
	return m
}

// volumesAt are the volumes of a claim's class that a node reaches, sorted by name.
func (v *volumeBinding) volumesAt(claim *waitingClaim, n *nodeInfo) []*corev1.PersistentVolume {
	out := append(claim.reach.at(n), claim.reach.anywhere...)
	slices.SortFunc(out, byVolumeName)
	return out
}

// takes is the verdict for a claim that gets a volume that there is already.
func (w *waitingClaim) takes(pv *corev1.PersistentVolume) VolumeVerdict {
	verdict := VolumeVerdict{Claim: w.object(), Rule: VolumeExisting, By: Object{Kind: "PersistentVolume", Name: pv.Name}, Wanted: w.wanted}
	if size, ok := pv.Spec.Capacity[corev1.ResourceStorage]; ok {
		verdict.Offered, verdict.Field = &size, "capacity"
	}
	return verdict
}

// provisionedOn is the verdict for a claim for which a volume would have to be made.
func (w *waitingClaim) provisionedOn(x *Index, n *nodeInfo) VolumeVerdict {
	verdict := VolumeVerdict{Claim: w.object(), Rule: VolumeExisting, By: Object{Kind: "StorageClass", Name: w.class.Name}, Wanted: w.wanted}
	if w.class.Provisioner == "" || w.class.Provisioner == noProvisioner {
		return verdict.refuse(VolumeUnbound, "volumes "+w.name.String(), fmt.Sprintf("no volume of class %s suits the claim %s, and the class makes none", w.class.Name, w.name))
	}
	if allowed := w.class.AllowedTopologies; len(allowed) > 0 {
		verdict.Rule = VolumeTopology
		matches := slices.ContainsFunc(w.topologies, func(s labels.Selector) bool { return s.Matches(labels.Set(n.Labels)) })
		switch {
		case matches:
		case x.snapshot.NodesAssumed():
			verdict.Doubt = unknownLabels(&w.volumeUse)
			return verdict
		default:
			return verdict.refuse(VolumeNode, "topology "+w.name.String(), fmt.Sprintf("the storage class %s of claim %s makes volumes only for nodes with %s", w.class.Name, w.name, topologyWords(allowed)))
		}
	}
	return w.roomOn(x, n, verdict)
}

// roomOn looks at what can still be made for a node.
func (w *waitingClaim) roomOn(x *Index, n *nodeInfo, verdict VolumeVerdict) VolumeVerdict {
	switch {
	case w.wanted == nil:
		verdict.Rule = VolumeSizeless
		return verdict
	case w.driver == nil && !w.driverUnread:
		verdict.Rule = VolumeUntracked
		return verdict
	case w.driver != nil && (w.driver.Spec.StorageCapacity == nil || !*w.driver.Spec.StorageCapacity):
		verdict.Rule, verdict.By = VolumeUntracked, Object{Kind: "CSIDriver", Name: w.driver.Name}
		return verdict
	}
	verdict.Rule = VolumeRoom
	offer := x.storage.offersOf(w.class.Name)[inspect.NodeName(n.Name)]
	if offer != nil {
		verdict.By, verdict.Offered, verdict.Field = offer.object(), offer.Limit(), offer.LimitField()
		if offer.size != nil && offer.size.Cmp(*w.bytes) >= 0 {
			return verdict
		}
	}
	return w.noRoom(x, verdict, offer)
}

// noRoom is the verdict where nothing that is known offers enough.
func (w *waitingClaim) noRoom(x *Index, verdict VolumeVerdict, offer *volumeOffer) VolumeVerdict {
	capacities := len(x.snapshot.StorageCapacities())
	switch {
	case x.storageUnread(inspect.StorageCapacities, "", capacities):
		verdict.Doubt = w.unknownRoom(inspect.StorageCapacities, "what can still be made could not be read")
		return verdict
	case w.driverUnread:
		verdict.Doubt = w.unknownRoom(inspect.CSIDrivers, fmt.Sprintf("the CSIDriver %s, which says whether the scheduler looks at what is left, could not be read", w.class.Provisioner))
		return verdict
	case x.snapshot.NodesAssumed():
		verdict.Doubt = unknownLabels(&w.volumeUse)
		return verdict
	}
	asks := fmt.Sprintf("the claim %s asks for %s of class %s", w.name, w.wanted, w.class.Name)
	switch {
	case offer == nil:
		verdict.By = Object{}
		return verdict.refuse(VolumeCapacity, "none "+w.name.String(), asks+"; no storage capacity of that class reaches the node")
	case verdict.Offered == nil:
		return verdict.refuse(VolumeCapacity, "unsaid "+w.name.String(), fmt.Sprintf("%s; %s, which the node reaches, does not say at the moment what is left", asks, verdict.By.Name))
	}
	by := "CSIStorageCapacity " + verdict.By.Name
	if verdict.Field != "capacity" {
		by = verdict.Field + " of " + by
	}
	return verdict.refuse(VolumeCapacity, w.name.String(), fmt.Sprintf("%s; the node can have at most %s (%s)", asks, verdict.Offered, by))
}

func (w *waitingClaim) unknownRoom(unread inspect.Resource, why string) *Doubt {
	return &Doubt{
		Plugin: VolumeBinding, Resource: unread, Key: "room " + w.name.String(),
		Message: fmt.Sprintf("whether a volume can be made for claim %s is not known: %s", w.name, why),
	}
}
