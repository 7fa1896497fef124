package lifecycle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/storage/ephemeral"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// selectedNode is the annotation by which the scheduler tells the provisioner of a volume which node it has
// chosen (PreBind of its plugin VolumeBinding).
const selectedNode = "volume.kubernetes.io/selected-node"

// provisioning are the claims of a pod for volumes that are being made on a node that was chosen, in the
// order of its volumes.
func provisioning(s *inspect.Snapshot, pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
		return nil
	}
	var out []*corev1.PersistentVolumeClaim
	for _, name := range VolumeClaimNames(pod) {
		claim, ok := s.VolumeClaim(pod.Namespace, name)
		if ok && claim.Annotations[selectedNode] != "" && claim.Spec.VolumeName == "" && claim.Status.Phase != corev1.ClaimBound && claim.DeletionTimestamp == nil {
			out = append(out, claim)
		}
	}
	return out
}

// VolumeClaimNames are the names of the volume claims of a pod.
func VolumeClaimNames(pod *corev1.Pod) []string {
	var out []string
	for i := range pod.Spec.Volumes {
		switch v := &pod.Spec.Volumes[i]; {
		case v.PersistentVolumeClaim != nil:
			out = append(out, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			out = append(out, ephemeral.VolumeClaimName(pod, v))
		}
	}
	return out
}

// volumes adds the volumes of a pod that are being made.
func (b *builder) volumes(pod *corev1.Pod) {
	for _, claim := range provisioning(b.s, pod) {
		b.add(b.volumeWait(claim))
		b.happened(volumeClaimKind, claim)
	}
}

const volumeClaimKind = "PersistentVolumeClaim"

// provisioningEvents are the reasons of Events by which provisioners and the controller of volumes tell of a
// volume that is being made.
var provisioningEvents = map[string]bool{"ExternalProvisioning": false, "Provisioning": false, "ProvisioningFailed": true}

// volumeWait is that a volume has not been made yet, or could not be.
func (b *builder) volumeWait(claim *corev1.PersistentVolumeClaim) explain.Problem {
	p := explain.Problem{
		Code: explain.VolumePending, Object: subjectOf(volumeClaimKind, claim.Namespace, claim.Name), Actor: explain.ClusterAdmin,
		Commands: commands(describe("pvc", claim.Namespace, claim.Name)),
	}
	var newest *inspect.Event
	all := summed(b.events.About(volumeClaimKind, claim.Namespace, claim.Name, claim.UID))
	for i := range all {
		e := &all[i]
		if _, tells := provisioningEvents[e.Reason]; !tells {
			continue
		}
		if newest == nil || e.Last.After(newest.Last) || e.Last.Equal(newest.Last) && provisioningEvents[e.Reason] {
			newest = e
		}
		if p.Since.IsZero() || e.First.Before(p.Since) {
			p.Since = e.First
		}
	}
	by := claim.Annotations["volume.kubernetes.io/storage-provisioner"]
	if by != "" {
		by = " by " + by
	}
	node := claim.Annotations[selectedNode]
	what := fmt.Sprintf("volume claim %s waits for a volume to be made%s on node %s", claim.Name, by, node)
	if newest == nil {
		p.Message, p.Brief = what, "its "+what
		return p
	}
	p.Reason, p.Said, p.Count, p.Last = newest.Reason, newest.Message, newest.Count, newest.Last
	if provisioningEvents[newest.Reason] {
		p.Fails = true
		p.Brief = fmt.Sprintf("no volume could be made%s for its volume claim %s on node %s", by, claim.Name, node)
		p.Message = p.Brief + b.times(newest)
		return p
	}
	p.Message = what + b.ago(p.Since, ", for ")
	p.Brief = "its " + p.Message
	return p
}

// SelectedNode is the node that the scheduler has chosen for a pod whose volumes are being made there. It is
// "" if there is none.
func SelectedNode(s *inspect.Snapshot, pod *corev1.Pod) inspect.NodeName {
	for _, claim := range provisioning(s, pod) {
		return inspect.NodeName(claim.Annotations[selectedNode])
	}
	return ""
}
