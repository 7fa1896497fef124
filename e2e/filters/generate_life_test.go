package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	// life is where pods are between their creation and their end, and who comes first.
	life = aspect{often: true, pod: (*generator).life}
	// declared is the aspect of NodeDeclaredFeatures, gated that of SchedulingGates, groups that of
	// GangScheduling.
	declared = aspect{node: (*generator).declares, pod: (*generator).needsFeature}
	gated    = aspect{pod: (*generator).gate}
	groups   = aspect{cluster: (*generator).podGroups, pod: (*generator).joinGroup}
)

func (g *generator) life(pod *corev1.Pod) {
	if g.chance(0.5) {
		pod.Spec.Priority = new(pick[int32](g, -10, 0, 100))
	}
	if g.chance(0.1) {
		pod.Spec.PreemptionPolicy = new(corev1.PreemptNever)
	}
	if g.chance(0.1) {
		pod.DeletionTimestamp, pod.DeletionGracePeriodSeconds = &metav1.Time{Time: someTime}, new(int64(30))
	}
	switch {
	case pod.Spec.NodeName != "" && g.chance(0.2):
		pod.Status.Phase = pick(g, corev1.PodSucceeded, corev1.PodFailed)
	case pod.Spec.NodeName == "" && g.chance(0.3):
		pod.Status.NominatedNodeName = pick(g, g.anyNode().Name, g.anyNode().Name, "gone")
	}
}

var nodeFeatures = []string{"RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "VolumeBindMountOptions"}

func (g *generator) declares(node *corev1.Node) {
	for _, feature := range nodeFeatures {
		if g.chance(0.5) {
			node.Status.DeclaredFeatures = append(node.Status.DeclaredFeatures, feature)
		}
	}
}

func (g *generator) needsFeature(pod *corev1.Pod) {
	c := pick(g, containers(pod)...)
	switch g.IntN(3) {
	case 0:
		action := pick(g, corev1.ContainerRestartRuleActionRestartAllContainers, corev1.ContainerRestartRuleActionRestartAllContainers, corev1.ContainerRestartRuleActionRestart)
		c.RestartPolicy = new(corev1.ContainerRestartPolicyNever)
		c.RestartPolicyRules = []corev1.ContainerRestartRule{{
			Action: action, ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{42}},
		}}
	case 1:
		pod.Spec.HostNetwork, pod.Spec.HostUsers = g.chance(0.8), new(g.chance(0.2))
	default:
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "bound", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		m := corev1.VolumeMount{Name: "bound", MountPath: "/bound"}
		if g.chance(0.8) {
			m.BindMountOptions = []string{"noexec"}
		}
		c.VolumeMounts = append(c.VolumeMounts, m)
	}
}

func (g *generator) gate(pod *corev1.Pod) {
	if pod.Spec.NodeName == "" && g.chance(0.6) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	}
}

func (g *generator) podGroups() {
	for i := range 3 {
		if g.chance(0.2) {
			continue
		}
		group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("group-", i), Namespace: "default"}}
		policy := &group.Spec.SchedulingPolicy
		if g.chance(0.2) {
			policy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
		} else {
			policy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1 + g.Int32N(8)}
		}
		if g.chance(0.3) {
			group.Spec.Priority = new(pick[int32](g, 0, 100))
		}
		if g.chance(0.1) {
			group.Spec.PreemptionPolicy = new(schedulingv1beta1.PreemptNever)
		}
		g.objects.PodGroups = append(g.objects.PodGroups, group)
	}
}

func (g *generator) joinGroup(pod *corev1.Pod) {
	pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: new(fmt.Sprint("group-", g.IntN(3)))}
}
