package node

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Of returns the node whose kubelet a view is of: that on which the pods are which it lists, as it says
// itself or by the snapshot. ok is false if no pod that it lists is known, or if they are on several nodes.
func Of(v *View, s *inspect.Snapshot) (name inspect.NodeName, ok bool) {
	for _, pod := range v.KubeletPods {
		on := inspect.NodeName(pod.Spec.NodeName)
		if on == "" {
			continue
		}
		if name != "" && on != name {
			return "", false
		}
		name = on
	}
	if name != "" {
		return name, true
	}
	for i := range v.Pods {
		pod, known := s.Pod(v.Pods[i].Ref)
		if !known || pod.Spec.NodeName == "" {
			continue
		}
		on := inspect.NodeName(pod.Spec.NodeName)
		if name != "" && on != name {
			return "", false
		}
		name = on
	}
	return name, name != ""
}
