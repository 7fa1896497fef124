package inspect

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// reduceContainerStatuses keeps of the statuses of containers what is out of the ordinary: resources other
// than those of the spec, the health of resources, why a container waits, and how it ended if it failed. A
// container without anything of that has no status any more. While a resize waits, what containers have is
// kept even if it is that of the spec: the spec may not count then.
func reduceContainerStatuses(in []corev1.ContainerStatus, containers []corev1.Container, resizing bool) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in {
		reduced := reduceContainerStatus(&in[i])
		at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == in[i].Name })
		if at >= 0 && !resizing {
			dropSpecified(&reduced, containers[at].Resources.Requests)
		}
		if !ordinary(&reduced) {
			out = append(out, reduced)
		}
	}
	return out
}

func reduceContainerStatus(c *corev1.ContainerStatus) corev1.ContainerStatus {
	out := corev1.ContainerStatus{
		Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount,
		AllocatedResources: c.AllocatedResources, Resources: requestsOnly(c.Resources),
		AllocatedResourcesStatus: c.AllocatedResourcesStatus,
		State:                    corev1.ContainerState{Waiting: c.State.Waiting, Terminated: reduceTermination(c.State.Terminated)},
		LastTerminationState:     corev1.ContainerState{Terminated: reduceTermination(c.LastTerminationState.Terminated)},
	}
	if c.RestartCount > 0 { // since when it runs again
		out.State.Running = c.State.Running
	}
	return out
}

// dropSpecified drops resources that are those of the spec: then the spec alone says as much.
func dropSpecified(c *corev1.ContainerStatus, requests corev1.ResourceList) {
	allocated := c.AllocatedResources == nil || sameList(c.AllocatedResources, requests)
	actuated := c.Resources == nil || sameList(c.Resources.Requests, requests)
	if allocated && actuated {
		c.AllocatedResources, c.Resources = nil, nil
	}
}

// ordinary reports whether a status says no more than that its container runs, has run or will do so.
func ordinary(c *corev1.ContainerStatus) bool {
	return c.RestartCount == 0 && c.AllocatedResources == nil && c.Resources == nil && len(c.AllocatedResourcesStatus) == 0 &&
		c.State == (corev1.ContainerState{}) && c.LastTerminationState == (corev1.ContainerState{})
}

// reduceTermination keeps how a container failed. Its message is of the program that ran, and may say
// anything.
func reduceTermination(t *corev1.ContainerStateTerminated) *corev1.ContainerStateTerminated {
	if t == nil || t.ExitCode == 0 && t.Signal == 0 {
		return nil
	}
	return &corev1.ContainerStateTerminated{ExitCode: t.ExitCode, Signal: t.Signal, Reason: t.Reason, FinishedAt: t.FinishedAt}
}

// requestsOnly drops limits, which no node is chosen by.
func requestsOnly(r *corev1.ResourceRequirements) *corev1.ResourceRequirements {
	if r == nil || r.Requests == nil {
		return nil
	}
	return &corev1.ResourceRequirements{Requests: r.Requests}
}

// sameList reports whether two lists have the same amounts of the same resources.
func sameList(a, b corev1.ResourceList) bool {
	if len(a) != len(b) {
		return false
	}
	for name, amount := range a {
		if other, ok := b[name]; !ok || amount.Cmp(other) != 0 {
			return false
		}
	}
	return true
}
