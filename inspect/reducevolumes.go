package inspect

import corev1 "k8s.io/api/core/v1"

// reduceVolumes keeps the volumes that the scheduler looks at: those with a claim, the disks of a cloud or a
// storage system that stand in the pod itself, without secrets, and keys that a node must have a feature for.
func reduceVolumes(in []corev1.Volume) []corev1.Volume {
	var out []corev1.Volume
	for i := range in {
		if source := reduceVolumeSource(&in[i].VolumeSource); source != (corev1.VolumeSource{}) {
			out = append(out, corev1.Volume{Name: in[i].Name, VolumeSource: source})
		}
	}
	return out
}

func reduceVolumeSource(from *corev1.VolumeSource) corev1.VolumeSource {
	out := corev1.VolumeSource{
		PersistentVolumeClaim: from.PersistentVolumeClaim,
		AWSElasticBlockStore:  from.AWSElasticBlockStore, GCEPersistentDisk: from.GCEPersistentDisk, AzureDisk: from.AzureDisk,
		PortworxVolume: from.PortworxVolume, VsphereVolume: from.VsphereVolume,
	}
	if from.Ephemeral != nil { // the claim has the name of the pod and of the volume
		out.Ephemeral = &corev1.EphemeralVolumeSource{}
	}
	if v := from.CSI; v != nil {
		out.CSI = &corev1.CSIVolumeSource{Driver: v.Driver, ReadOnly: v.ReadOnly}
	}
	if v := from.RBD; v != nil {
		out.RBD = &corev1.RBDVolumeSource{CephMonitors: v.CephMonitors, RBDImage: v.RBDImage, RBDPool: v.RBDPool, ReadOnly: v.ReadOnly}
	}
	if v := from.ISCSI; v != nil {
		out.ISCSI = &corev1.ISCSIVolumeSource{TargetPortal: v.TargetPortal, IQN: v.IQN, Lun: v.Lun, ReadOnly: v.ReadOnly}
	}
	if v := from.AzureFile; v != nil {
		out.AzureFile = &corev1.AzureFileVolumeSource{SecretName: v.SecretName, ShareName: v.ShareName, ReadOnly: v.ReadOnly}
	}
	if key := keyTypeMLDSA(from); key != "" {
		out.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{PodCertificate: &corev1.PodCertificateProjection{KeyType: key}}}}
	}
	if v := from.Cinder; v != nil {
		out.Cinder = &corev1.CinderVolumeSource{VolumeID: v.VolumeID, ReadOnly: v.ReadOnly}
	}
	return out
}
