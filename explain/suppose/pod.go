package suppose

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
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

// ResourceLists are the lists in which a pod asks for a resource.
func ResourceLists(pod *corev1.Pod) []corev1.ResourceList {
	var out []corev1.ResourceList
	for _, c := range ContainersOf(pod) {
		out = append(out, c.Resources.Limits, c.Resources.Requests)
	}
	if r := pod.Spec.Resources; r != nil {
		out = append(out, r.Limits, r.Requests)
	}
	return append(out, pod.Spec.Overhead)
}

// ContainerFor returns the container that a request of the claim for extended resources is for, and the
// resource. The request is called "container-<i>-request-<j>", where i counts init containers and containers,
// and j the sorted names of the resources of the container. What the others ask for also decides how much an
// init container that ends asks for in addition, so ok is false where one asks for the resource: the number
// alone does not tell what would become of it.
func ContainerFor(pod *corev1.Pod, request string) (c Container, name corev1.ResourceName, ok bool) {
	var i, j int
	all := ContainersOf(pod)
	if _, err := fmt.Sscanf(request, "container-%d-request-%d", &i, &j); err != nil || i >= len(all) {
		return c, "", false
	}
	names := slices.Sorted(maps.Keys(asked(all[i])))
	if j >= len(names) {
		return c, "", false
	}
	for k, other := range all[:len(pod.Spec.InitContainers)] {
		sidecar := other.RestartPolicy != nil && *other.RestartPolicy == corev1.ContainerRestartPolicyAlways
		if amount := asked(other)[names[j]]; !sidecar && k != i && !amount.IsZero() || k == i && !sidecar {
			return c, "", false
		}
	}
	return all[i], names[j], true
}

// asked is what a container asks for. A limit without a request is a request.
func asked(c Container) corev1.ResourceList {
	out := corev1.ResourceList{}
	maps.Copy(out, c.Resources.Limits)
	maps.Copy(out, c.Resources.Requests)
	return out
}

// ClaimNames are the claims that a pod uses.
func ClaimNames(pod *corev1.Pod) []string {
	var out []string
	for i := range pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok && name != "" {
			out = append(out, name)
		}
	}
	if ext := pod.Status.ExtendedResourceClaimStatus; ext != nil {
		out = append(out, ext.ResourceClaimName)
	}
	return out
}

// TemplateFor names the template of which a claim of a pod is made, or "".
func TemplateFor(pod *corev1.Pod, claim string) string {
	if pod == nil {
		return ""
	}
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		if name, ok := inspect.ClaimNameFor(pod, entry); ok && name == claim && entry.ResourceClaimTemplateName != nil {
			return *entry.ResourceClaimTemplateName
		}
	}
	return ""
}

// VolumesOf names the volumes of a pod that are about a volume claim, or the one of that name, or all that
// need a claim or a disk if the object is another one.
func VolumesOf(pod *corev1.Pod, kind, name string) []string {
	if kind == "Volume" {
		return []string{name}
	}
	var out []string
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		claim := ""
		switch {
		case v.PersistentVolumeClaim != nil:
			claim = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			claim = pod.Name + "-" + v.Name
		case v.ConfigMap != nil, v.Secret != nil, v.EmptyDir != nil, v.Projected != nil, v.DownwardAPI != nil, v.HostPath != nil:
			continue
		}
		if kind != "PersistentVolumeClaim" || claim == name {
			out = append(out, v.Name)
		}
	}
	return out
}
