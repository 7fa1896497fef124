package question_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The namespace of the questions about busyCluster, and the labels of their pod: those of one of its
// workloads.
const busyNamespace = "team-00"

var busyLabels = map[string]string{"app": "app-0000", "tier": "tier-0"}

// busyCluster is explaintest.BigCluster with three zones, taints, and all that the scheduler's filters look
// at in its pods, four on a node: requests, and by workload (of 40 pods) a port of the host, spread over
// zones, anti-affinity to its own pods, or a volume. A tenth of the nodes have little CPU left. Beside them
// is the claim of each of BigQuestions and similarQuestion, called by its name, and what the pods of busyPods
// use.
func busyCluster(nodes int) inspect.Objects {
	o := explaintest.BigCluster(nodes)
	for i, node := range o.Nodes {
		node.Labels[corev1.LabelTopologyZone] = fmt.Sprint("zone-", i%3)
		if i%4 == 0 {
			node.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		}
		o.CSINodes = append(o.CSINodes, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node.Name}, Spec: storagev1.CSINodeSpec{
			Drivers: []storagev1.CSINodeDriver{{Name: "csi", NodeID: node.Name, Allocatable: &storagev1.VolumeNodeResources{Count: ptr.To(int32(8))}}}}})
		o.Volumes = append(o.Volumes, localVolume(node.Name))
	}
	for i, pod := range o.Pods {
		busyPod(&o, i, pod)
	}
	for _, name := range []string{"selector", "occupancy", "constraint"} {
		for suffix, claim := range map[string]*resourcev1.ResourceClaim{"": explaintest.BigQuestions()[name], "-similar": similarQuestion(name)} {
			claim.Namespace, claim.Name = busyNamespace, name+suffix
			o.Claims = append(o.Claims, claim)
		}
	}
	late := storagev1.VolumeBindingWaitForFirstConsumer
	o.StorageClasses = []*storagev1.StorageClass{
		{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Provisioner: "csi", VolumeBindingMode: &late},
		{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Provisioner: "kubernetes.io/no-provisioner", VolumeBindingMode: &late},
	}
	o.CSIDrivers = []*storagev1.CSIDriver{{ObjectMeta: metav1.ObjectMeta{Name: "csi"}}}
	o.VolumeClaims = append(o.VolumeClaims, volumeClaim("data", "fast", "100Gi", ""), volumeClaim("large", "local", "50Gi", ""))
	return o
}

// busyPod makes of a pod of BigCluster, and of the claim that it uses, one of a workload.
func busyPod(o *inspect.Objects, i int, pod *corev1.Pod) {
	workload := i % max(1, len(o.Pods)/40)
	pod.Namespace = fmt.Sprintf("team-%02d", workload%40)
	o.Claims[i].Namespace = pod.Namespace
	pod.Labels = map[string]string{"app": fmt.Sprintf("app-%04d", workload), "tier": fmt.Sprint("tier-", i%4)}
	main := corev1.Container{Name: "main", Resources: requests(map[bool]string{false: "4", true: "15"}[i/4%10 == 9], "16Gi")}
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": pod.Labels["app"]}}
	switch n := workload % 10; {
	case n == 0:
		main.Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 8080 + int32(workload%100)}} //nolint:gosec // a small number
	case n < 4:
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(corev1.LabelTopologyZone, 5, own)}
	case n < 7:
		pod.Spec.Affinity = apartFrom(corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own})
	default:
		useVolume(o, pod)
	}
	pod.Spec.Containers = []corev1.Container{main}
}

// busyPods are pods that fit on no node of busyCluster. That of a name of BigQuestions uses the claim of that
// name, or of the similar question, and also asks for CPU, memory, a volume, spread and anti-affinity, which
// most nodes can give. The others use no claims, and are refused by one filter: "cpu", "spread",
// "anti-affinity" or "volume".
func busyPods(similar bool) map[string]*corev1.Pod {
	own := &metav1.LabelSelector{MatchLabels: map[string]string{"app": busyLabels["app"]}}
	suffix, more := "", 0
	if similar {
		suffix, more = "-similar", 1
	}
	pod := func(change func(*corev1.PodSpec)) *corev1.Pod {
		p := explaintest.NewPod(func(s *corev1.PodSpec) {
			s.Containers[0].Resources = requests(fmt.Sprint(8+more), "32Gi")
			s.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
			change(s)
		})
		p.Namespace, p.Name, p.Labels = busyNamespace, "question"+suffix, busyLabels
		return p
	}
	out := map[string]*corev1.Pod{
		"cpu": pod(func(s *corev1.PodSpec) { s.Containers[0].Resources = requests(fmt.Sprint(60+more), "32Gi") }),
		"spread": pod(func(s *corev1.PodSpec) {
			c := spreadOver(corev1.LabelTopologyZone, int32(1+more), own) //nolint:gosec // 1 or 2
			c.MinDomains = ptr.To(int32(5))
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{c}
		}),
		"anti-affinity": pod(func(s *corev1.PodSpec) {
			s.Affinity = apartFrom(corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, NamespaceSelector: &metav1.LabelSelector{},
				LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpIn, Values: []string{"tier-0", fmt.Sprint("tier-", 1+more)}}}}})
		}),
		"volume": pod(func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{claimVolume("large")} }),
	}
	for _, name := range []string{"selector", "occupancy", "constraint"} {
		out[name] = pod(func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To(name + suffix)}}
			s.Volumes = []corev1.Volume{claimVolume("data")}
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{spreadOver(corev1.LabelTopologyZone, 5, own)}
			s.Affinity = apartFrom(corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: own})
		})
	}
	return out
}

// busyClaim names the claim of a question to busyCluster.
func busyClaim(name string, similar bool) inspect.ClaimRef {
	if similar {
		name += "-similar"
	}
	return inspect.ClaimRef{Namespace: busyNamespace, Name: name}
}

func requests(cpu, memory string) corev1.ResourceRequirements {
	return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}}
}

func spreadOver(key string, skew int32, selector *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}
}

func apartFrom(term corev1.PodAffinityTerm) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term}}}
}

func claimVolume(claim string) corev1.Volume {
	return corev1.Volume{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}
}

// useVolume gives a pod a volume of the class "fast" that is attached to its node.
func useVolume(o *inspect.Objects, pod *corev1.Pod) {
	name := "vol-" + pod.Name
	pod.Spec.Volumes = []corev1.Volume{claimVolume(name)}
	claim := volumeClaim(name, "fast", "10Gi", name)
	claim.Namespace = pod.Namespace
	o.VolumeClaims = append(o.VolumeClaims, claim)
	o.Volumes = append(o.Volumes, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "fast", Capacity: claim.Spec.Resources.Requests, AccessModes: claim.Spec.AccessModes,
			ClaimRef:               &corev1.ObjectReference{Namespace: claim.Namespace, Name: name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi", VolumeHandle: name}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeBound},
	})
	o.VolumeAttachments = append(o.VolumeAttachments, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: "csi", NodeName: pod.Spec.NodeName, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}})
}

// volumeClaim is a claim of the namespace of the questions, bound to a volume unless that is "".
func volumeClaim(name, class, size, volume string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: busyNamespace, Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, VolumeName: volume, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}}
	if volume != "" {
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		c.Status.Phase = corev1.ClaimBound
	}
	return c
}

// localVolume is a volume of the class "local" on a node, which nothing uses.
func localVolume(node string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "local-" + node},
		Spec: corev1.PersistentVolumeSpec{
			StorageClassName: "local", Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{Local: &corev1.LocalVolumeSource{Path: "/disk"}},
			NodeAffinity: &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node}}}}}}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
}

// similarQuestion is a claim that asks for something else than the one of BigQuestions with the same name,
// but reads the same fields of devices. A cluster that was asked about one can use for the other what it
// knows of the devices.
func similarQuestion(name string) *resourcev1.ResourceClaim {
	c := explaintest.BigQuestions()[name]
	c.Name = "another"
	request := c.Spec.Devices.Requests[0].Exactly
	switch name {
	case "selector":
		request.Selectors = explaintest.CELSelectors(`device.attributes["gpu.example.com"].model == "L40S" && device.capacity["gpu.example.com"].memory.compareTo(quantity("64Gi")) >= 0`)
	case "occupancy":
		request.Count = 6
	case "constraint":
		request.Count = 4
	}
	return c
}
