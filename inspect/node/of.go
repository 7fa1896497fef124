package node

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Of returns the node whose kubelet a view is of: that on which the pods are which it lists, by the snapshot. ok is false
// if no pod that it lists is known, or if they are on several nodes.
func Of(v *View, s *inspect.Snapshot) (name inspect.NodeName, ok bool) {
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
