package randompod

import (
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Maker makes random pods, and a cluster in which they may or may not fit.
type Maker struct{ rand *rand.Rand }

// New returns a maker that makes the same for the same seed.
func New(seed int) Maker { return Maker{rand.New(rand.NewPCG(uint64(seed), 14))} } //nolint:gosec // nothing is secret

const (
	nodeCount   = 4
	podCount    = 12
	volumeCount = 3
	driver      = "csi.example.com"
)

// once in n times.
func (g Maker) once(n int) bool { return g.rand.IntN(n) == 0 }

func oneOf[T any](g Maker, all ...T) T { return all[g.rand.IntN(len(all))] }

// World makes a cluster of four nodes, with pods on them and what these need, sorted.
func (g Maker) World() inspect.Objects {
	var o inspect.Objects
	for i := range nodeCount {
		g.node(&o, fmt.Sprint("n", i), fmt.Sprint("z", i%2))
	}
	o.StorageClasses = []*storagev1.StorageClass{{
		ObjectMeta: metav1.ObjectMeta{Name: "sc"}, Provisioner: driver, VolumeBindingMode: ptr.To(storagev1.VolumeBindingWaitForFirstConsumer),
	}}
	o.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(g.once(2))}}}
	for i := range volumeCount {
		g.volume(&o, fmt.Sprint("data-", i), fmt.Sprint("z", i%2))
	}
	for _, name := range []string{"a", "b"} {
		o.Namespaces = append(o.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
		group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "group"}}
		group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(1 + g.rand.IntN(podCount))} //nolint:gosec // small
		o.PodGroups = append(o.PodGroups, group)
	}
	for i := range podCount {
		pod := g.Pod(fmt.Sprint("p", i))
		pod.Spec.NodeName = fmt.Sprint("n", g.rand.IntN(nodeCount))
		if g.once(6) {
			pod.Spec.NodeName, pod.Status.NominatedNodeName = "", pod.Spec.NodeName
		}
		o.Pods = append(o.Pods, pod)
		o.VolumeClaims = append(o.VolumeClaims, g.ClaimsOf(pod)...)
	}
	o.Sort()
	return o
}

func (g Maker) node(o *inspect.Objects, name, zone string) {
	resources := g.list(oneOf(g, 8, 40))
	resources[corev1.ResourcePods] = resource.MustParse("5")
	resources[corev1.ResourceEphemeralStorage] = resource.MustParse("10Gi")
	node := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}},
		Spec:       corev1.NodeSpec{Unschedulable: g.once(8)},
		Status:     corev1.NodeStatus{Capacity: resources, Allocatable: resources},
	}
	node.Status.NodeInfo.KubeletVersion = "v1.37.1"
	if g.once(4) {
		node.Spec.Taints = []corev1.Taint{{Key: "k", Effect: corev1.TaintEffectNoSchedule}}
	}
	for _, feature := range features.AllFeatures {
		if g.once(2) {
			node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, feature.Name())
		}
	}
	o.Nodes = append(o.Nodes, node)
	o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{
			Name: driver, NodeID: name, TopologyKeys: []string{corev1.LabelTopologyZone}, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To[int32](2)},
		}},
	}})
	o.StorageCapacities = append(o.StorageCapacities, &storagev1.CSIStorageCapacity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "room-" + name}, StorageClassName: "sc", Capacity: ptr.To(resource.MustParse(oneOf(g, "1Gi", "5Gi"))),
		NodeTopology: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: name}},
	})
}

// volume makes a volume with its claim, which are bound or not, attached or not.
func (g Maker) volume(o *inspect.Objects, name, zone string) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: name, UID: types.UID(name)}}
	claim.Spec = corev1.PersistentVolumeClaimSpec{
		StorageClassName: ptr.To("sc"), AccessModes: []corev1.PersistentVolumeAccessMode{oneOf(g, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
	}
	if g.once(4) {
		claim.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"disk": oneOf(g, "fast", "slow")}}
	}
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{
		Name: "pv-" + name, Labels: map[string]string{corev1.LabelTopologyZone: zone, "disk": "fast"},
	}}
	volume.Spec = corev1.PersistentVolumeSpec{
		StorageClassName: "sc", AccessModes: claim.Spec.AccessModes, Capacity: claim.Spec.Resources.Requests,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "handle-" + name}},
	}
	volume.Status.Phase = corev1.VolumeAvailable
	if !g.once(3) {
		claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		claim.Spec.VolumeName, claim.Status.Phase, volume.Status.Phase = volume.Name, corev1.ClaimBound, corev1.VolumeBound
		volume.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "a", Name: name, UID: claim.UID}
	} else if g.once(2) {
		claim.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "n1"}
	}
	o.VolumeClaims, o.Volumes = append(o.VolumeClaims, claim), append(o.Volumes, volume)
	if g.once(2) {
		o.VolumeAttachments = append(o.VolumeAttachments, &storagev1.VolumeAttachment{
			ObjectMeta: metav1.ObjectMeta{Name: "at-" + name},
			Spec: storagev1.VolumeAttachmentSpec{
				Attacher: driver, NodeName: fmt.Sprint("n", g.rand.IntN(nodeCount)), Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume.Name},
			},
		})
	}
}

// ClaimsOf makes, or does not make, the claims for the volumes of a pod that are to be made for it.
func (g Maker) ClaimsOf(pod *corev1.Pod) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Ephemeral != nil && g.once(2) {
			out = append(out, &corev1.PersistentVolumeClaim{
				ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name + "-" + v.Name, OwnerReferences: []metav1.OwnerReference{
					*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod")),
				}},
				Spec: corev1.PersistentVolumeClaimSpec{StorageClassName: ptr.To("sc"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}},
			})
		}
	}
	return out
}
