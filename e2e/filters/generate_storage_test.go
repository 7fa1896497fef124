package filters

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
)

const (
	csiDriver       = "csi.example.com"
	claimsInCluster = 7
)

var (
	// inTree are plugins of Kubernetes itself, and migrated the drivers that serve their volumes.
	inTree   = []string{"kubernetes.io/aws-ebs", "kubernetes.io/gce-pd", "kubernetes.io/azure-disk", "kubernetes.io/cinder", "kubernetes.io/portworx-volume"}
	migrated = []string{"ebs.csi.aws.com", "pd.csi.storage.gke.io", "disk.csi.azure.com", "cinder.csi.openstack.org", "pxd.portworx.com"}
	csiNames = append([]string{csiDriver}, migrated...)
)

// storageClasses are names of classes, of which the cluster has most; the last one it never has.
var storageClasses = []string{"waits", "immediate", "local", "in-tree", "zonal", "missing"}

// zoneKeys are the labels for zones, of nodes and volumes.
var zoneKeys = []string{
	corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelTopologyRegion, corev1.LabelFailureDomainBetaZone, corev1.LabelFailureDomainBetaRegion,
	"topology.ebs.csi.aws.com/zone", "topology.gke.io/zone",
}

var zones = []string{"zone-a", "zone-b", "zone-c"}

// storageNode gives nodes zones.
func (g *generator) storageNode(node *corev1.Node) {
	if g.chance(0.85) {
		for _, key := range zoneKeys {
			if g.chance(0.4) {
				node.Labels[key] = pick(g, zones...)
			}
		}
	}
	if g.chance(0.1) {
		delete(node.Labels, corev1.LabelHostname)
	}
}

// storage makes what volumes need. Several aspects need it.
func (g *generator) storage() {
	if len(g.objects.CSINodes)+len(g.objects.StorageClasses) > 0 {
		return
	}
	g.storageClasses()
	for _, name := range csiNames {
		if g.chance(0.7) {
			g.objects.CSIDrivers = append(g.objects.CSIDrivers, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSIDriverSpec{
				StorageCapacity: new(g.chance(0.7)), PreventPodSchedulingIfMissing: pick(g, nil, new(true), new(false)),
			}})
		}
	}
	for _, node := range g.objects.Nodes {
		if g.chance(0.85) {
			g.objects.CSINodes = append(g.objects.CSINodes, valid(func() *storagev1.CSINode { return g.csiNode(node.Name) }))
		}
	}
	for i := range g.IntN(8) {
		capacity := valid(func() *storagev1.CSIStorageCapacity { return g.storageCapacity(fmt.Sprint("capacity-", i)) })
		g.objects.StorageCapacities = append(g.objects.StorageCapacities, capacity)
	}
	for i := range g.IntN(10) {
		g.objects.Volumes = append(g.objects.Volumes, g.validVolume(fmt.Sprint("volume-", i)))
	}
	for i := range claimsInCluster {
		if g.chance(0.9) {
			claim := valid(func() *corev1.PersistentVolumeClaim { return g.volumeClaim(fmt.Sprint("claim-", i)) })
			g.bind(claim)
			g.objects.VolumeClaims = append(g.objects.VolumeClaims, claim)
		}
	}
	for i := range g.IntN(5) {
		g.objects.VolumeAttachments = append(g.objects.VolumeAttachments, g.volumeAttachment(fmt.Sprint("attachment-", i)))
	}
}

func (g *generator) storageClasses() {
	for _, name := range storageClasses[:len(storageClasses)-1] {
		if g.chance(0.9) {
			class := valid(func() *storagev1.StorageClass { return g.storageClass(name) })
			g.objects.StorageClasses = append(g.objects.StorageClasses, class)
		}
	}
}

func (g *generator) storageClass(name string) *storagev1.StorageClass {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: csiDriver}
	class.VolumeBindingMode = new(storagev1.VolumeBindingWaitForFirstConsumer)
	switch name {
	case "immediate":
		class.VolumeBindingMode = pick(g, nil, new(storagev1.VolumeBindingImmediate))
	case "local":
		class.Provisioner = volume.NotSupportedProvisioner
	case "in-tree":
		class.Provisioner = pick(g, inTree...)
	case "zonal":
		class.AllowedTopologies = times(g, 2, g.topologyTerm)
	}
	return class
}

func (g *generator) topologyTerm() corev1.TopologySelectorTerm {
	var term corev1.TopologySelectorTerm
	for _, key := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if g.chance(0.5) {
			term.MatchLabelExpressions = append(term.MatchLabelExpressions, corev1.TopologySelectorLabelRequirement{Key: key, Values: g.someZones()})
		}
	}
	return term
}

// someZones are one or two zones.
func (g *generator) someZones() []string {
	from := g.IntN(len(zones))
	return zones[from:min(from+1+g.IntN(2), len(zones))]
}

func (g *generator) csiNode(name string) *storagev1.CSINode {
	node := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if g.chance(0.7) {
		on := slices.DeleteFunc(slices.Clone(inTree), func(string) bool { return g.chance(0.3) })
		node.Annotations = map[string]string{corev1.MigratedPluginsAnnotationKey: strings.Join(on, ",")}
	}
	for _, driver := range csiNames {
		if g.chance(0.8) {
			d := storagev1.CSINodeDriver{Name: driver, NodeID: name}
			switch {
			case g.chance(0.8):
				d.Allocatable = &storagev1.VolumeNodeResources{Count: new(pick[int32](g, 0, 1, 1, 2, 3, 30))}
			case g.chance(0.5):
				d.Allocatable = &storagev1.VolumeNodeResources{}
			}
			node.Spec.Drivers = append(node.Spec.Drivers, d)
		}
	}
	return node
}

func (g *generator) storageCapacity(name string) *storagev1.CSIStorageCapacity {
	c := &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "kube-system"}}
	c.StorageClassName = pick(g, "waits", "waits", "zonal", "immediate", "in-tree")
	if g.chance(0.9) {
		c.Capacity = new(g.size())
	}
	if g.chance(0.2) {
		c.MaximumVolumeSize = new(g.size())
	}
	switch {
	case g.chance(0.5):
		c.NodeTopology = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelTopologyZone: pick(g, zones...)}}
	case g.chance(0.5):
		c.NodeTopology = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: corev1.LabelHostname, Operator: pick(g, metav1.LabelSelectorOpIn, metav1.LabelSelectorOpNotIn), Values: []string{g.anyNode().Name},
		}}}
	case g.chance(0.6):
		c.NodeTopology = &metav1.LabelSelector{}
	}
	return c
}

func (g *generator) size() resource.Quantity {
	return resource.MustParse(pick(g, "1Gi", "5Gi", "10Gi", "10G", "50Gi"))
}

func (g *generator) accessModes() []corev1.PersistentVolumeAccessMode {
	return pick(g,
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadOnlyMany}, []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
		[]corev1.PersistentVolumeAccessMode{corev1.ReadWriteOncePod},
	)
}

// volumeLabels are labels by which claims select volumes.
var volumeLabels = []map[string]string{nil, nil, {"tier": "gold"}, {"tier": "bronze"}}

func (g *generator) validVolume(name string) *corev1.PersistentVolume {
	return valid(func() *corev1.PersistentVolume { return g.persistentVolume(name) })
}

func (g *generator) persistentVolume(name string) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{}}}
	for key, value := range pick(g, volumeLabels...) {
		pv.Labels[key] = value
	}
	pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: g.size()}
	pv.Spec.AccessModes = g.accessModes()
	pv.Spec.StorageClassName = pick(g, "waits", "local", "local", "in-tree", "zonal", "immediate", "missing", "")
	if g.chance(0.4) {
		pv.Labels[pick(g, zoneKeys...)] = pick(g, "zone-a", "zone-b", "zone-a__zone-c", "zone-b__zone-b", "")
	}
	if g.chance(0.5) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: g.volumeAffinity()}
	}
	if g.chance(0.1) {
		pv.Spec.VolumeMode = new(corev1.PersistentVolumeBlock)
	}
	if g.chance(0.1) {
		pv.Spec.VolumeAttributesClassName = new(pick(g, "gold", "silver"))
	}
	if g.chance(0.05) {
		pv.DeletionTimestamp, pv.Finalizers = &metav1.Time{Time: someTime}, []string{"kubernetes.io/pv-protection"}
	}
	pv.Status.Phase = pick(g, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumeAvailable, corev1.VolumePending, corev1.VolumeReleased)
	g.volumeSource(pv)
	return pv
}

func (g *generator) volumeAffinity() *corev1.NodeSelector {
	selector := &corev1.NodeSelector{}
	for range 1 + g.IntN(2) {
		term := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{g.anyNode().Name, "elsewhere"},
		}}}
		if g.chance(0.4) {
			term.MatchExpressions = []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelTopologyZone, Operator: pick(g, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: g.someZones(),
			}}
		}
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms, term)
	}
	return selector
}

func (g *generator) volumeSource(pv *corev1.PersistentVolume) {
	source := &pv.Spec.PersistentVolumeSource
	switch pick(g, "csi", "csi", "csi", "csi", "local", "ebs", "gce", "azure", "cinder", "portworx", "nfs") {
	case "csi":
		source.CSI = &corev1.CSIPersistentVolumeSource{Driver: pick(g, csiDriver, csiDriver, csiDriver, pick(g, migrated...)), VolumeHandle: pick(g, pv.Name, pv.Name, "shared")}
	case "local":
		source.Local = &corev1.LocalVolumeSource{Path: "/mnt/disk"}
		if pv.Spec.NodeAffinity == nil {
			pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: g.volumeAffinity()}
		}
	case "ebs":
		source.AWSElasticBlockStore = &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: pick(g, "aws://zone-a/vol-"+pv.Name, "vol-"+pv.Name, "aws://zone-a/"+pv.Name)}
	case "gce":
		source.GCEPersistentDisk = &corev1.GCEPersistentDiskVolumeSource{PDName: pv.Name}
	case "azure":
		source.AzureDisk = &corev1.AzureDiskVolumeSource{DiskName: pv.Name, DataDiskURI: "/subscriptions/" + pv.Name, Kind: new(corev1.AzureManagedDisk)}
	case "cinder":
		source.Cinder = &corev1.CinderPersistentVolumeSource{VolumeID: pv.Name}
	case "portworx":
		source.PortworxVolume = &corev1.PortworxVolumeSource{VolumeID: pv.Name}
	default:
		source.NFS = &corev1.NFSVolumeSource{Server: "nfs.example.com", Path: "/"}
	}
}

func (g *generator) volumeClaim(name string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{}}}
	claim.UID = types.UID("uid-of-" + name)
	claim.Spec = g.claimSpec()
	if g.chance(0.03) {
		claim.Annotations[corev1.BetaStorageClassAnnotation] = pick(g, storageClasses...)
	}
	if g.chance(0.1) {
		claim.Annotations[volume.AnnSelectedNode] = pick(g, g.anyNode().Name, "gone")
	}
	claim.Status.Phase = corev1.ClaimPending
	if g.chance(0.03) {
		claim.Status.Phase = corev1.ClaimLost
	}
	if g.chance(0.03) {
		claim.DeletionTimestamp, claim.Finalizers = &metav1.Time{Time: someTime}, []string{"kubernetes.io/pvc-protection"}
	}
	return claim
}

func (g *generator) claimSpec() corev1.PersistentVolumeClaimSpec {
	spec := corev1.PersistentVolumeClaimSpec{
		AccessModes: g.accessModes(),
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: g.size()}},
	}
	switch {
	case g.chance(0.05):
		spec.StorageClassName = new("")
	case g.chance(0.95):
		spec.StorageClassName = new(pick(g, append(storageClasses, "waits", "waits", "local", "zonal")...))
	}
	if selected := pick(g, volumeLabels...); selected != nil && g.chance(0.4) {
		spec.Selector = &metav1.LabelSelector{MatchLabels: selected}
	}
	if g.chance(0.05) {
		spec.VolumeMode = new(corev1.PersistentVolumeBlock)
	}
	if g.chance(0.05) {
		spec.VolumeAttributesClassName = new("gold")
	}
	return spec
}

// bind binds a claim to a volume of its own, mostly as the controller would.
func (g *generator) bind(claim *corev1.PersistentVolumeClaim) {
	if !g.chance(0.45) {
		return
	}
	pv := g.validVolume("of-" + claim.Name)
	if g.chance(0.95) {
		claim.Annotations[volume.AnnBindCompleted] = "yes"
	}
	claim.Spec.VolumeName = pv.Name
	claim.Status.Phase = corev1.ClaimBound
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID}
	pv.Status.Phase = corev1.VolumeBound
	switch {
	case g.chance(0.05):
		claim.Spec.VolumeName = "" // the volume waits for the claim
		delete(claim.Annotations, volume.AnnBindCompleted)
		pv.Spec.ClaimRef.UID = pick(g, "", "uid-of-another", claim.UID)
	case g.chance(0.05):
		return // the volume is missing
	}
	g.objects.Volumes = append(g.objects.Volumes, pv)
}

func (g *generator) volumeAttachment(name string) *storagev1.VolumeAttachment {
	a := &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}}
	a.Spec.Attacher, a.Spec.NodeName = pick(g, csiDriver, csiDriver, csiDriver, pick(g, migrated...)), g.anyNode().Name
	volume := "gone"
	if len(g.objects.Volumes) > 0 && g.chance(0.9) {
		volume = pick(g, g.objects.Volumes...).Name
	}
	if a.Spec.Source.PersistentVolumeName = &volume; g.chance(0.1) {
		a.Spec.Source = storagev1.VolumeAttachmentSource{InlineVolumeSpec: &corev1.PersistentVolumeSpec{}}
	}
	a.Status.Attached = g.chance(0.8)
	return a
}

// staticVolumes makes volumes that are there already, and claims that wait for them, some with a volume that
// is reserved for them. No two volumes are of one size: which of them the scheduler takes is a matter of
// chance.
func (g *generator) staticVolumes() {
	if !has(g.objects.StorageClasses, "local") {
		g.objects.StorageClasses = append(g.objects.StorageClasses, g.storageClass("local"))
	}
	for i := range 6 {
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("static-", i), Namespace: "default"}}
		claim.UID, claim.Spec, claim.Status.Phase = types.UID("uid-of-"+claim.Name), g.claimSpec(), corev1.ClaimPending
		claim.Spec.AccessModes, claim.Spec.StorageClassName = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, new("local")
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(pick(g, "1Gi", "5Gi", "10Gi"))
		g.objects.VolumeClaims = append(g.objects.VolumeClaims, claim)
	}
	for i := range 1 + g.IntN(8) {
		pv := valid(func() *corev1.PersistentVolume {
			pv := g.persistentVolume(fmt.Sprint("static-", i))
			pv.Spec.StorageClassName, pv.Spec.Capacity[corev1.ResourceStorage] = "local", resource.MustParse(fmt.Sprint(2+2*i, "Gi"))
			if g.chance(0.8) {
				pv.Spec.AccessModes, pv.Status.Phase = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}, corev1.VolumeAvailable
			}
			return pv
		})
		if g.chance(0.2) {
			to := pick(g, g.objects.VolumeClaims...)
			pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: pick(g, "default", "default", "default", "other"), Name: to.Name, UID: pick(g, "", to.UID, to.UID, "uid-of-another")}
		}
		g.objects.Volumes = append(g.objects.Volumes, pv)
	}
}

// staticClaims mounts claims that wait for volumes that are there already.
func (g *generator) staticClaims(pod *corev1.Pod) {
	for range 1 + g.IntN(3) {
		mount(pod, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("static-", g.IntN(6))}})
	}
}

// mount adds a volume to a pod.
func mount(pod *corev1.Pod, source corev1.VolumeSource) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: fmt.Sprint("v", len(pod.Spec.Volumes)), VolumeSource: source})
}

// claims mounts claims, some of which do not exist.
func (g *generator) claims(pod *corev1.Pod) {
	for range 1 + g.IntN(2) {
		name := fmt.Sprint("claim-", g.IntN(claimsInCluster))
		mount(pod, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name, ReadOnly: g.chance(0.1)}})
	}
}

// ephemeral mounts volumes with claims that are made for the pod.
func (g *generator) ephemeral(pod *corev1.Pod) {
	for range 1 + g.IntN(2) {
		spec := g.claimSpec()
		mount(pod, corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: spec}}})
	}
}

// claimsOf makes the claims for the ephemeral volumes of a pod, as the controller would, or not yet.
func (g *generator) claimsOf(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Ephemeral == nil || g.chance(0.1) {
			continue
		}
		claim := g.volumeClaim(pod.Name + "-" + v.Name)
		claim.Spec = *v.Ephemeral.VolumeClaimTemplate.Spec.DeepCopy()
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID, Controller: new(true)}}
		if pod.Spec.NodeName == "" && g.chance(0.05) || g.chance(0.002) {
			claim.OwnerReferences = nil
		}
		g.bind(claim)
		g.objects.VolumeClaims = append(g.objects.VolumeClaims, claim)
	}
}

// disks mounts volumes that only one pod, or only pods that read, can use on a node.
func (g *generator) disks(pod *corev1.Pod) {
	disk := func() string { return fmt.Sprint("disk-", g.IntN(3)) }
	for range 1 + g.IntN(2) {
		readOnly := g.chance(0.4)
		switch g.IntN(6) {
		case 0:
			mount(pod, corev1.VolumeSource{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: disk(), ReadOnly: readOnly}})
		case 1:
			mount(pod, corev1.VolumeSource{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: disk(), ReadOnly: readOnly}})
		case 2:
			mount(pod, corev1.VolumeSource{ISCSI: &corev1.ISCSIVolumeSource{
				TargetPortal: "10.0.0." + fmt.Sprint(g.IntN(2)), IQN: "iqn.2001-04.com.example:" + disk(), Lun: g.Int32N(2), ReadOnly: readOnly,
			}})
		case 3:
			monitors := []string{pick(g, "a:6789", "b:6789"), pick(g, "b:6789", "c:6789")}
			mount(pod, corev1.VolumeSource{RBD: &corev1.RBDVolumeSource{CephMonitors: monitors, RBDPool: pick(g, "rbd", "rbd", "fast"), RBDImage: disk(), ReadOnly: readOnly}})
		case 4:
			mount(pod, pick(g,
				corev1.VolumeSource{AzureDisk: &corev1.AzureDiskVolumeSource{DiskName: disk(), DataDiskURI: "/subscriptions/" + disk(), Kind: new(corev1.AzureManagedDisk)}},
				corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: disk()}},
				corev1.VolumeSource{PortworxVolume: &corev1.PortworxVolumeSource{VolumeID: disk()}},
			))
		default:
			mount(pod, pick(g, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: csiDriver}}))
		}
	}
}

// The aspects of VolumeRestrictions, NodeVolumeLimits, VolumeBinding and VolumeZone.
var (
	claimVolumes     = aspect{cluster: (*generator).storage, node: (*generator).storageNode, pod: (*generator).claims}
	ephemeralVolumes = aspect{cluster: (*generator).storage, node: (*generator).storageNode, pod: (*generator).ephemeral, made: (*generator).claimsOf}
	localVolumes     = aspect{cluster: (*generator).staticVolumes, node: (*generator).storageNode, pod: (*generator).staticClaims}
	diskVolumes      = aspect{pod: (*generator).disks}
)
