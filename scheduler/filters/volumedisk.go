package filters

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// exclusiveDisk reports whether a volume is a disk that the pod names itself and that pods on one node cannot
// always share.
func exclusiveDisk(v *corev1.Volume) bool {
	return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.RBD != nil || v.ISCSI != nil
}

// sharingDisk are those of the pods on a node that have the disk of a volume in a way that keeps others from
// it, sorted.
func sharingDisk(v *corev1.Volume, pods []*podInfo) []inspect.PodRef {
	var out []inspect.PodRef
	for _, other := range pods {
		if slices.ContainsFunc(other.Spec.Volumes, func(o corev1.Volume) bool { return diskConflict(v, &o) }) {
			out = append(out, inspect.PodRef{Namespace: other.Namespace, Name: other.Name})
		}
	}
	return out
}

// diskConflict reports whether two volumes of pods on one node are the same disk and cannot be used by both.
// Disks of AWS serve one pod however they are used, the others any number of pods that only read.
func diskConflict(a, b *corev1.Volume) bool {
	switch {
	case a.AWSElasticBlockStore != nil && b.AWSElasticBlockStore != nil && a.AWSElasticBlockStore.VolumeID == b.AWSElasticBlockStore.VolumeID:
		return true
	case a.GCEPersistentDisk != nil && b.GCEPersistentDisk != nil && a.GCEPersistentDisk.PDName == b.GCEPersistentDisk.PDName:
		return !a.GCEPersistentDisk.ReadOnly || !b.GCEPersistentDisk.ReadOnly
	case a.ISCSI != nil && b.ISCSI != nil && a.ISCSI.IQN == b.ISCSI.IQN:
		return !a.ISCSI.ReadOnly || !b.ISCSI.ReadOnly
	case a.RBD != nil && b.RBD != nil && sameImage(a.RBD, b.RBD):
		return !a.RBD.ReadOnly || !b.RBD.ReadOnly
	}
	return false
}

// sameImage reports whether two volumes are the same image of Ceph: one monitor that both name is enough.
func sameImage(a, b *corev1.RBDVolumeSource) bool {
	return a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage &&
		slices.ContainsFunc(a.CephMonitors, func(m string) bool { return slices.Contains(b.CephMonitors, m) })
}
