package filters

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// prepareVolumeRestrictions is the plugin VolumeRestrictions: a claim with access mode ReadWriteOncePod
// serves one pod, and some disks that pods name themselves serve one pod on a node.
func prepareVolumeRestrictions(p *Prepared) (check, Outcome) {
	var everywhere Outcome
	v := &volumeRestrictions{alone: map[string]volumeUse{}}
	for _, use := range p.volumesOf(p.Pod) {
		switch {
		case use.ephemeral: // not looked at by this plugin
		case use.claim == nil:
			everywhere.and(use.absent(VolumeRestrictions))
		case slices.Contains(use.claim.Spec.AccessModes, corev1.ReadWriteOncePod):
			v.alone[use.name.name] = use
		}
	}
	for i := range p.Pod.Spec.Volumes {
		if exclusiveDisk(&p.Pod.Spec.Volumes[i]) {
			v.disks = append(v.disks, &p.Pod.Spec.Volumes[i])
		}
	}
	v.findUsers(p)
	everywhere.and(v.unread(p))
	everywhere = everywhere.once()
	if len(v.disks)+len(v.users) == 0 {
		return nil, everywhere // and pods for which room was made do not matter either, as for the scheduler
	}
	return v, everywhere
}

// volumeRestrictions is what the plugin knows of a pod.
type volumeRestrictions struct {
	disks []*corev1.Volume
	// alone are the claims of the pod that serve only one pod, by name.
	alone map[string]volumeUse
	// users are the pods that run with such a claim, by the name of the claim, sorted.
	users map[string][]inspect.PodRef
	// trial: the scheduler counts how often claims are used, from one user of each. So many are left.
	trial bool
	left  int
}

// uses counts the volumes of pods whose claims have the names of those of the pod that serve only one.
func (v *volumeRestrictions) uses(pods []*podInfo) int {
	n := 0
	for _, pod := range pods {
		for i := range pod.Spec.Volumes {
			if c := pod.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
				if _, ok := v.alone[c.ClaimName]; ok {
					n++
				}
			}
		}
	}
	return n
}

// findUsers finds the pods on nodes that use a claim that serves only one.
func (v *volumeRestrictions) findUsers(p *Prepared) {
	v.users = map[string][]inspect.PodRef{}
	if len(v.alone) == 0 {
		return
	}
	for i := range p.nodes {
		for _, other := range p.at(i).pods {
			if other.Spec.NodeName == "" || other.Namespace != p.Pod.Namespace {
				continue
			}
			v.addUser(v.users, other)
		}
	}
}

func (v *volumeRestrictions) addUser(users map[string][]inspect.PodRef, other *podInfo) {
	ref := inspect.PodRef{Namespace: other.Namespace, Name: other.Name}
	for i := range other.Spec.Volumes {
		if c := other.Spec.Volumes[i].PersistentVolumeClaim; c != nil {
			if _, ok := v.alone[c.ClaimName]; ok && !slices.Contains(users[c.ClaimName], ref) {
				users[c.ClaimName] = append(users[c.ClaimName], ref)
			}
		}
	}
}

// unread says what pods that are not known could have.
func (v *volumeRestrictions) unread(p *Prepared) Outcome {
	if len(v.disks) == 0 && len(v.alone) <= len(v.users) {
		return Outcome{}
	}
	known := len(p.snapshot.Objects().Pods)
	if len(v.disks) > 0 && p.storageUnread(inspect.Pods, "", known) {
		return doubt(Doubt{Plugin: VolumeRestrictions, Resource: inspect.Pods, Key: "disks", Message: "which pods have the disks that the pod names could not be read"})
	}
	if len(v.alone) > len(v.users) && p.storageUnread(inspect.Pods, p.Pod.Namespace, known) {
		return doubt(Doubt{Plugin: VolumeRestrictions, Resource: inspect.Pods, Key: "claims", Message: "whether another pod has a volume claim that serves only one (ReadWriteOncePod) could not be read"})
	}
	return Outcome{}
}

// without is the same check if it is about disks, of which it asks the pods of a node.
func (v *volumeRestrictions) without(p *Prepared, gone []*podInfo) (check, bool) {
	if p.trial == nil || len(v.users) == 0 {
		return v, len(v.users) == 0
	}
	out := *v
	out.trial, out.left = true, len(v.users)-v.uses(gone)
	return &out, true
}

func (v *volumeRestrictions) on(n *nodeInfo) Outcome {
	var out Outcome
	for _, disk := range v.disks {
		if pods := sharingDisk(disk, n.pods); len(pods) > 0 {
			out.and(refuse(Refusal{
				Plugin: VolumeRestrictions, Code: VolumeInUse, Key: "disk " + disk.Name, Object: Object{Kind: "Volume", Name: disk.Name}, Pods: pods,
				Message: fmt.Sprintf("the disk of the pod's volume %s is in use on the node by %s", disk.Name, podWords(pods)),
			}))
		}
	}
	users := v.usersWith(n)
	if v.trial {
		waiting := slices.DeleteFunc(slices.Clone(n.pods), func(other *podInfo) bool { return other.Spec.NodeName != "" })
		if v.left+v.uses(waiting) <= 0 {
			return out
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.alone)) {
		pods := users[name]
		if len(pods) == 0 {
			continue
		}
		use := v.alone[name]
		out.and(refuse(Refusal{
			Plugin: VolumeRestrictions, Code: VolumeInUse, Key: "claim " + use.name.String(), Object: use.object(), Pods: pods,
			Message: fmt.Sprintf("the volume claim %s serves only one pod (ReadWriteOncePod), and %s has it", use.name, podWords(pods)),
		}))
	}
	return out
}

// usersWith are the users of claims, together with pods that wait for room on the node. As in the scheduler,
// the namespace of those that wait is not looked at.
func (v *volumeRestrictions) usersWith(n *nodeInfo) map[string][]inspect.PodRef {
	waits := func(other *podInfo) bool { return other.Spec.NodeName == "" }
	if !slices.ContainsFunc(n.pods, waits) {
		return v.users
	}
	users := make(map[string][]inspect.PodRef, len(v.users))
	for name, pods := range v.users {
		users[name] = slices.Clone(pods)
	}
	for _, other := range n.pods {
		if waits(other) {
			v.addUser(users, other)
		}
	}
	return users
}
