package archive

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What is saved of an object:
//
//   - metadata: name, namespace, UID, resource version, labels, finalizers, owners, creation and deletion
//     time; no annotations but those that inspect.ReduceAnnotations keeps, in templates neither; of managed
//     fields who wrote in an old version of the API, and of DeviceTaintRules who set the taint
//   - workloads of Kueue: their pod templates like pods
//   - pods: as inspect/live keeps them: no environment, commands, images, and no volumes but claims and disks
//   - nodes: all but addresses, images, volumes, configuration and what identifies the machine; CSI nodes
//     without the ID that the driver gives the machine
//   - claims: all but the data of its own form that a driver publishes about an allocated device; conditions
//     and network addresses stay
//   - volumes: capacity, access, class, claim, node affinity, the disk of a cloud, or the CSI driver with a
//     text in place of the handle that is the same for the same handle; no other source
//   - attachments of volumes: what is attached where, and how that failed
//   - storage classes: no parameters and no mount options, which may name secrets
//   - all else in full; that includes the parameters for drivers in claims and classes
//
// saved lists the objects of a snapshot that an archive has. They belong to the snapshot; the lists do not.
func saved(s *inspect.Snapshot) []listing {
	objects := *s.Objects()
	if s.NodesAssumed() {
		objects.Nodes = nil // stand-ins, derived again when the archive is read
	}
	all := listings(&objects)
	for i := range all {
		// Of several objects with one name a snapshot knows the first.
		all[i].objects = slices.CompactFunc(all[i].objects, func(a, b metav1.Object) bool {
			return a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
		})
	}
	return all
}

// reduce puts deep copies in place of all objects, which the caller may change.
func reduce(all []listing) {
	for i := range all {
		for j, object := range all[i].objects {
			all[i].objects[j] = Reduced(all[i].Kind, object)
		}
		all[i].reduced = true
	}
}

func reduceObject(object metav1.Object) {
	inspect.ReduceAnnotations(object)
	inspect.ReduceManagedFields(object)
	object.SetSelfLink("")
	object.SetGenerateName("")
	switch o := object.(type) {
	case *corev1.Pod:
		inspect.ReducePod(o)
	case *corev1.Node:
		reduceNode(o)
	case *kueuev1beta2.Workload:
		inspect.ReduceKueueWorkload(o)
	case *resourcev1.ResourceClaimTemplate:
		o.Spec.ObjectMeta = metav1.ObjectMeta{Labels: o.Spec.Labels}
	case *resourcev1.ResourceClaim:
		for i := range o.Status.Devices {
			o.Status.Devices[i].Data = nil
		}
	case *corev1.PersistentVolume:
		reduceVolume(&o.Spec)
	case *storagev1.VolumeAttachment:
		o.Status.AttachmentMetadata = nil
		if inline := o.Spec.Source.InlineVolumeSpec; inline != nil {
			reduceVolume(inline)
		}
	case *storagev1.CSINode:
		for i := range o.Spec.Drivers {
			o.Spec.Drivers[i].NodeID = ""
		}
	case *storagev1.StorageClass:
		o.Parameters, o.MountOptions = nil, nil
	}
}

func reduceNode(n *corev1.Node) {
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	s := &n.Status
	s.NodeInfo = corev1.NodeSystemInfo{
		KubeletVersion: s.NodeInfo.KubeletVersion, OperatingSystem: s.NodeInfo.OperatingSystem, Architecture: s.NodeInfo.Architecture,
		ContainerRuntimeVersion: s.NodeInfo.ContainerRuntimeVersion,
	}
	s.Addresses, s.Images, s.VolumesInUse, s.VolumesAttached, s.Config = nil, nil, nil, nil, nil
	s.DaemonEndpoints = corev1.NodeDaemonEndpoints{}
}

func reduceVolume(v *corev1.PersistentVolumeSpec) {
	spec := *v
	*v = corev1.PersistentVolumeSpec{
		Capacity: spec.Capacity, AccessModes: spec.AccessModes, ClaimRef: spec.ClaimRef,
		PersistentVolumeReclaimPolicy: spec.PersistentVolumeReclaimPolicy, StorageClassName: spec.StorageClassName,
		VolumeMode: spec.VolumeMode, NodeAffinity: spec.NodeAffinity, VolumeAttributesClassName: spec.VolumeAttributesClassName,
	}
	v.AWSElasticBlockStore, v.GCEPersistentDisk, v.AzureDisk = spec.AWSElasticBlockStore, spec.GCEPersistentDisk, spec.AzureDisk
	v.PortworxVolume, v.VsphereVolume = spec.PortworxVolume, spec.VsphereVolume
	if disk := spec.Cinder; disk != nil {
		v.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: disk.VolumeID, ReadOnly: disk.ReadOnly}
	}
	if share := spec.AzureFile; share != nil {
		v.AzureFile = &corev1.AzureFilePersistentVolumeSource{ShareName: share.ShareName, ReadOnly: share.ReadOnly}
	}
	if spec.CSI != nil {
		v.CSI = &corev1.CSIPersistentVolumeSource{Driver: spec.CSI.Driver, VolumeHandle: handle(spec.CSI.VolumeHandle)}
	}
}

// handleLength is the number of characters that tell handles apart.
const handleLength = 16

// handle stands for the handle of a volume, which may say where a driver has it: a limit is about how many
// there are.
func handle(of string) string {
	if of == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:])[:handleLength]
}
