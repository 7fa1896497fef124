package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ReducePod drops from the spec and status of a pod what neither a question about devices nor one of the
// scheduler's filters reads, so that the pods of a large cluster fit into memory and nothing secret
// (environment, commands) is kept. What stays:
//
//   - spec: node, scheduler, priority, preemption, gates, group, claims, node selector, affinity,
//     tolerations, spread constraints, overhead, operating system, whether the host's network and users are
//     used, the volumes that the scheduler looks at, whether it is a KubeletPlugin and then as which service
//     account it asks the API server, and of the containers name, restart policy and its rules, resources
//     (with their claims), ports of the host, and mounts with mount options; besides, as a node must have
//     features for them: that a container has a seccomp profile from a registry, and ML-DSA keys
//   - status: phase, reason, message, conditions but those that follow from the phase, start, nominated node,
//     resources, everything about claims, and what is out of the ordinary about containers
//
// Lists keep their order, but not their indexes.
func ReducePod(p *corev1.Pod) {
	spec, status, registry := p.Spec, p.Status, reducePluginRegistry(p)
	p.Spec = corev1.PodSpec{
		NodeName: spec.NodeName, SchedulerName: spec.SchedulerName, RestartPolicy: spec.RestartPolicy, OS: spec.OS,
		HostNetwork: spec.HostNetwork, HostUsers: spec.HostUsers,
		Priority: spec.Priority, PriorityClassName: spec.PriorityClassName, PreemptionPolicy: reducePreemption(spec.PreemptionPolicy),
		SchedulingGates: spec.SchedulingGates, SchedulingGroup: spec.SchedulingGroup,
		ResourceClaims: spec.ResourceClaims, Resources: spec.Resources, Overhead: spec.Overhead,
		NodeSelector: spec.NodeSelector, Affinity: reduceAffinity(spec.Affinity), Tolerations: spec.Tolerations,
		TopologySpreadConstraints: spec.TopologySpreadConstraints, Volumes: append(reduceVolumes(spec.Volumes), registry...),
		InitContainers: reduceContainers(spec.InitContainers, spec.HostNetwork), Containers: reduceContainers(spec.Containers, spec.HostNetwork),
		EphemeralContainers: reduceEphemeral(spec.EphemeralContainers),
	}
	if UsesOCIProfile(&spec) {
		p.Spec.SecurityContext = &corev1.PodSecurityContext{SeccompProfile: &corev1.SeccompProfile{Type: seccompOCI}}
	}
	if registry != nil {
		p.Spec.ServiceAccountName = spec.ServiceAccountName
	}
	p.Status = corev1.PodStatus{
		Phase: status.Phase, Reason: status.Reason, Message: status.Message, Conditions: reduceConditions(status),
		StartTime: status.StartTime, NominatedNodeName: status.NominatedNodeName, Resize: status.Resize,
		AllocatedResources: status.AllocatedResources, Resources: requestsOnly(status.Resources),
		ResourceClaimStatuses:                status.ResourceClaimStatuses,
		ExtendedResourceClaimStatus:          status.ExtendedResourceClaimStatus,
		NodeAllocatableResourceClaimStatuses: status.NodeAllocatableResourceClaimStatuses,
	}
	resizing := slices.ContainsFunc(status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodResizePending })
	p.Status.InitContainerStatuses = reduceContainerStatuses(status.InitContainerStatuses, p.Spec.InitContainers, resizing)
	p.Status.ContainerStatuses = reduceContainerStatuses(status.ContainerStatuses, p.Spec.Containers, resizing)
}

// reduceConditions drops what holds of every pod that runs or has run.
func reduceConditions(status corev1.PodStatus) []corev1.PodCondition {
	if status.Phase != corev1.PodRunning && status.Phase != corev1.PodSucceeded && status.Phase != corev1.PodFailed {
		return status.Conditions
	}
	var out []corev1.PodCondition
	for _, c := range status.Conditions {
		switch c.Type {
		case corev1.PodScheduled, corev1.PodInitialized, corev1.PodReadyToStartContainers, corev1.ContainersReady:
			if c.Status == corev1.ConditionTrue {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// reducePreemption drops the policy that every pod has unless it says otherwise.
func reducePreemption(policy *corev1.PreemptionPolicy) *corev1.PreemptionPolicy {
	if policy != nil && *policy == corev1.PreemptLowerPriority {
		return nil
	}
	return policy
}

// reduceAffinity drops an affinity that says nothing.
func reduceAffinity(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		return nil
	}
	out := *a
	if node := out.NodeAffinity; node != nil && node.RequiredDuringSchedulingIgnoredDuringExecution == nil && len(node.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		out.NodeAffinity = nil
	}
	if pod := out.PodAffinity; pod != nil && len(pod.RequiredDuringSchedulingIgnoredDuringExecution)+len(pod.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		out.PodAffinity = nil
	}
	if pod := out.PodAntiAffinity; pod != nil && len(pod.RequiredDuringSchedulingIgnoredDuringExecution)+len(pod.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		out.PodAntiAffinity = nil
	}
	if out == (corev1.Affinity{}) {
		return nil
	}
	return &out
}

func reduceContainers(in []corev1.Container, hostNetwork bool) []corev1.Container {
	if len(in) == 0 {
		return nil
	}
	out := make([]corev1.Container, len(in))
	for i := range in {
		c := &in[i]
		out[i] = corev1.Container{
			Name: c.Name, Resources: c.Resources, RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules,
			Ports: reducePorts(c.Ports, hostNetwork), VolumeMounts: reduceMounts(c.VolumeMounts),
		}
	}
	return out
}

// reduceEphemeral keeps of the containers that were added to a running pod those that a node must have a
// feature for.
func reduceEphemeral(in []corev1.EphemeralContainer) []corev1.EphemeralContainer {
	var out []corev1.EphemeralContainer
	for i := range in {
		if mounts := reduceMounts(in[i].VolumeMounts); mounts != nil {
			out = append(out, corev1.EphemeralContainer{
				EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: in[i].Name, VolumeMounts: mounts},
			})
		}
	}
	return out
}

// reducePorts keeps the ports that are taken on the node: in the network of the host these are all.
func reducePorts(in []corev1.ContainerPort, hostNetwork bool) []corev1.ContainerPort {
	var out []corev1.ContainerPort
	for _, port := range in {
		if port.HostPort > 0 || hostNetwork {
			out = append(out, port)
		}
	}
	return out
}

// reduceMounts keeps the mounts for which a node must have a feature.
func reduceMounts(in []corev1.VolumeMount) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for i := range in {
		if len(in[i].BindMountOptions) > 0 {
			out = append(out, corev1.VolumeMount{Name: in[i].Name, MountPath: in[i].MountPath, BindMountOptions: in[i].BindMountOptions})
		}
	}
	return out
}
