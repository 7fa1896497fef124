package node

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Of returns the node whose kubelet a view is of: that on which the pods are which it lists, as it says
// itself or by the snapshot. ok is false if no pod that it lists is known, or if they are on several nodes.
func Of(v *View, s *inspect.Snapshot) (name inspect.NodeName, ok bool) {
	if name, ok = nodeOf(v.KubeletPods); name != "" || !ok {
		return name, ok
	}
	var pods []*corev1.Pod
	for i := range v.Pods {
		if pod, known := s.Pod(v.Pods[i].Ref); known {
			pods = append(pods, pod)
		}
	}
	name, ok = nodeOf(pods)
	return name, ok && name != ""
}

// nodeOf is the node of pods, "" if none of them is on one. ok is false if they are on several.
func nodeOf(pods []*corev1.Pod) (name inspect.NodeName, ok bool) {
	for _, pod := range pods {
		on := inspect.NodeName(pod.Spec.NodeName)
		if on != "" && name != "" && on != name {
			return "", false
		}
		name = cmp.Or(on, name)
	}
	return name, true
}
