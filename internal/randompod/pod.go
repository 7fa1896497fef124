package randompod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// Pod makes a pod of a name that says much, of which a lot does not matter to anybody.
func (g Maker) Pod(name string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: oneOf(g, "a", "a", "b"), Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app": oneOf(g, "x", "y"), "team": "t"},
		Annotations: map[string]string{"example.com/note": "anything", "kubernetes.io/ingress-bandwidth": "1M"},
	}}
	if g.once(8) {
		pod.DeletionTimestamp = ptr.To(metav1.Unix(1, 0))
	}
	pod.Spec = corev1.PodSpec{
		SchedulerName: corev1.DefaultSchedulerName, RestartPolicy: corev1.RestartPolicyAlways, ServiceAccountName: "default",
		HostNetwork: g.once(3), Priority: ptr.To(int32(g.rand.IntN(3))), PreemptionPolicy: ptr.To(oneOf(g, corev1.PreemptLowerPriority, corev1.PreemptNever)),
		Volumes: g.volumes(), Affinity: g.affinity(),
	}
	if g.once(3) {
		pod.Spec.HostUsers = ptr.To(g.once(2))
	}
	if g.once(4) {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelTopologyZone: oneOf(g, "z0", "z1", "z2")}
	}
	if g.once(3) {
		pod.Spec.Tolerations = []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}
	}
	if g.once(3) {
		pod.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelTopologyZone),
			WhenUnsatisfiable: oneOf(g, corev1.DoNotSchedule, corev1.ScheduleAnyway), LabelSelector: g.selector(),
		}}
	}
	if g.once(4) {
		pod.Spec.Overhead = g.list(2)
	}
	if g.once(4) {
		pod.Spec.Resources = &corev1.ResourceRequirements{Requests: g.list(4)}
	}
	if g.once(5) {
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To(oneOf(g, "group", "none"))}
	}
	if g.once(10) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "g"}}
	}
	for i := range g.rand.IntN(3) {
		c := g.container(fmt.Sprint("init-", i))
		if g.once(2) {
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
	for i := range 1 + g.rand.IntN(2) {
		pod.Spec.Containers = append(pod.Spec.Containers, g.container(fmt.Sprint("c-", i)))
	}
	if g.once(8) {
		pod.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", VolumeMounts: g.mounts()}}}
	}
	Serve(pod)
	g.status(pod)
	return pod
}

// Serve fills in what no pod of a server is without.
func Serve(pod *corev1.Pod) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			resources, ports := &containers[i].Resources, containers[i].Ports
			if resources.Requests == nil {
				resources.Requests = corev1.ResourceList{}
			}
			for name, limit := range resources.Limits {
				if _, ok := resources.Requests[name]; !ok {
					resources.Requests[name] = limit
				}
			}
			for j := range ports {
				if pod.Spec.HostNetwork && ports[j].HostPort == 0 {
					ports[j].HostPort = ports[j].ContainerPort
				}
			}
		}
	}
}

func (g Maker) list(most int) corev1.ResourceList {
	out := corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(1+g.rand.IntN(most))*500, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(int64(1+g.rand.IntN(most))<<30, resource.BinarySI),
	}
	if g.once(3) {
		out["example.com/gpu"] = *resource.NewQuantity(int64(1+g.rand.IntN(most)), resource.DecimalSI)
	}
	return out
}

func (g Maker) container(name string) corev1.Container {
	c := corev1.Container{
		Name: name, Image: "image", Env: []corev1.EnvVar{{Name: "A", Value: "b"}}, VolumeMounts: g.mounts(),
		Resources: corev1.ResourceRequirements{Requests: g.list(3), Limits: g.list(9)},
		Ports:     []corev1.ContainerPort{{Name: "plain", ContainerPort: 8000, Protocol: corev1.ProtocolTCP}},
	}
	if g.once(3) {
		c.Ports = append(c.Ports, corev1.ContainerPort{
			Name: "host", ContainerPort: 80, HostPort: int32(80 + g.rand.IntN(2)), Protocol: oneOf(g, corev1.ProtocolTCP, corev1.ProtocolUDP), HostIP: oneOf(g, "", "10.0.0.1"),
		})
	}
	if g.once(6) {
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestartAllContainers}}
	}
	if g.once(6) {
		c.Resources = corev1.ResourceRequirements{}
	}
	return c
}

func (g Maker) mounts() []corev1.VolumeMount {
	out := []corev1.VolumeMount{{Name: "config", MountPath: "/etc/config"}}
	if g.once(8) {
		out = append(out, corev1.VolumeMount{Name: "data", MountPath: "/data", BindMountOptions: []string{"noexec"}})
	}
	return out
}

func (g Maker) volumes() []corev1.Volume {
	out := []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}},
		{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
	}
	readOnly := g.once(2)
	for _, source := range []corev1.VolumeSource{
		{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: fmt.Sprint("data-", g.rand.IntN(4))}},
		{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{}}},
		{GCEPersistentDisk: &corev1.GCEPersistentDiskVolumeSource{PDName: "disk", ReadOnly: readOnly}},
		{AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"}},
		{RBD: &corev1.RBDVolumeSource{CephMonitors: []string{"m"}, RBDImage: "i", RBDPool: "p", ReadOnly: readOnly, SecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		{ISCSI: &corev1.ISCSIVolumeSource{TargetPortal: "t", IQN: "iqn", ReadOnly: readOnly, SecretRef: &corev1.LocalObjectReference{Name: "s"}}},
		{CSI: &corev1.CSIVolumeSource{Driver: "csi.example.com", VolumeAttributes: map[string]string{"password": "x"}}},
	} {
		if g.once(5) {
			out = append(out, corev1.Volume{Name: fmt.Sprint("v", len(out)), VolumeSource: source})
		}
	}
	return out
}

func (g Maker) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{"app": oneOf(g, "x", "y")}}
}

func (g Maker) affinity() *corev1.Affinity {
	term := func() corev1.PodAffinityTerm {
		t := corev1.PodAffinityTerm{LabelSelector: g.selector(), TopologyKey: oneOf(g, corev1.LabelHostname, corev1.LabelTopologyZone)}
		if g.once(3) {
			t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": oneOf(g, "a", "b")}}
		}
		return t
	}
	out := &corev1.Affinity{
		NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1}}},
		PodAffinity:  &corev1.PodAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{Weight: 1, PodAffinityTerm: term()}}},
	}
	if g.once(4) {
		out.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{"n0", "n1"}}},
		}}}
	}
	if g.once(4) {
		out.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []corev1.PodAffinityTerm{term()}
	}
	if g.once(4) {
		out.PodAntiAffinity = &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{term()}}
	}
	return out
}
