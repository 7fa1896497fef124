package fix_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// volumeDriver is the driver of the volumes of a problem.
const volumeDriver = "csi.example.com"

// boundClaims is the number of volume claims of a problem that have a volume: in one zone, and the last for
// one pod only.
const boundClaims = 3

// storage adds volumes in zones with their claims, and a claim that waits for a node with room.
func (g problemMaker) storage(o *inspect.Objects) {
	o.StorageClasses = []*storagev1.StorageClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "sc"}, Provisioner: volumeDriver, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	o.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: volumeDriver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(true)}}}
	for i := range boundClaims {
		mode := corev1.ReadWriteOnce
		if i == boundClaims-1 {
			mode = corev1.ReadWriteOncePod
		}
		g.boundClaim(o, fmt.Sprint("data-", i), oneOf(g, "z0", "z1"), mode)
	}
	o.VolumeClaims = append(o.VolumeClaims, volumeClaim("waiting", oneOf(g, "2Gi", "20Gi"), corev1.ReadWriteOnce))
}

func volumeClaim(name, size string, mode corev1.PersistentVolumeAccessMode) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: name, UID: types.UID(name)}}
	claim.Spec = corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To("sc"), AccessModes: []corev1.PersistentVolumeAccessMode{mode},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}
	claim.Status.Phase = corev1.ClaimPending
	return claim
}

func (g problemMaker) boundClaim(o *inspect.Objects, name, zone string, mode corev1.PersistentVolumeAccessMode) {
	claim := volumeClaim(name, "2Gi", mode)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name}}
	volume.Spec = corev1.PersistentVolumeSpec{
		StorageClassName: "sc", AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: volumeDriver, VolumeHandle: "handle-" + name}},
		ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: name, UID: claim.UID},
	}
	if g.once(2) {
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelTopologyZone, Operator: corev1.NodeSelectorOpIn, Values: []string{zone}}},
		}}}}
	} else if g.once(2) {
		volume.Labels = map[string]string{corev1.LabelTopologyZone: zone}
	}
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Spec.VolumeName, claim.Status.Phase, volume.Status.Phase = volume.Name, corev1.ClaimBound, corev1.VolumeBound
	o.VolumeClaims, o.Volumes = append(o.VolumeClaims, claim), append(o.Volumes, volume)
}

// attach says how many volumes a node can have, and how much room for new ones.
func (g problemMaker) attach(o *inspect.Objects, node string) {
	o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{
			Name: volumeDriver, NodeID: node, TopologyKeys: []string{corev1.LabelHostname}, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(oneOf[int32](g, 1, 2, 8))},
		}},
	}})
	o.StorageCapacities = append(o.StorageCapacities, &storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceDefault, Name: "room-" + node}, StorageClassName: "sc", Capacity: ptr.To(resource.MustParse(oneOf(g, "1Gi", "5Gi", "50Gi"))),
		NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: node}},
	})
}

// existingClaim names a volume claim of a problem.
func (g problemMaker) existingClaim() string {
	return oneOf(g, "data-0", "data-1", "data-2", "waiting")
}

// mount lets a pod use a volume claim. One that is on a node cannot use the claim that waits.
func mount(pod *corev1.Pod, claim string) {
	again := slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.PersistentVolumeClaim.ClaimName == claim })
	if again || pod.Spec.NodeName != "" && claim == "waiting" {
		return
	}
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
		Name: claim, VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}},
	})
}
