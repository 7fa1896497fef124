package suppose

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Container addresses a container of a pod.
type Container struct {
	// Path is its JSON pointer, as "/spec/containers/0".
	Path string
	*corev1.Container
}

// ContainersOf returns the init containers and the containers of a pod.
func ContainersOf(pod *corev1.Pod) []Container {
	var out []Container
	for i := range pod.Spec.InitContainers {
		out = append(out, Container{fmt.Sprintf("/spec/initContainers/%d", i), &pod.Spec.InitContainers[i]})
	}
	for i := range pod.Spec.Containers {
		out = append(out, Container{fmt.Sprintf("/spec/containers/%d", i), &pod.Spec.Containers[i]})
	}
	return out
}
