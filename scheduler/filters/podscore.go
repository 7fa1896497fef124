package filters

import corev1 "k8s.io/api/core/v1"

// What follows is what package scores asks about a pod besides.

// Tolerates reports whether a pod tolerates a taint, also if it gets the toleration only when it is created.
func (x *Index) Tolerates(pod *corev1.Pod, taint *corev1.Taint) bool {
	return (&Prepared{Index: x, Pod: pod}).tolerates(taint) || toleratedOnceCreated(pod, taint)
}

// DevicesTakeResources reports whether devices that a pod could get may take CPU, memory or other resources
// of their node.
func (x *Index) DevicesTakeResources(pod *corev1.Pod) bool {
	return (&Prepared{Index: x, Pod: pod}).devicesTakeResources()
}

// Unseen is a doubt of a plugin if there may be pods on nodes that are not known, in any of the namespaces,
// or, if none is named, anywhere. What is a clause: what that means.
func (x *Index) Unseen(plugin Plugin, what string, namespaces ...string) []Doubt {
	return x.unseen(plugin, what, namespaces...).Doubts
}
