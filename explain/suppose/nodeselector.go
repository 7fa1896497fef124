package suppose

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// PinnedNode returns the node that a node selector of an allocation pins it to, or "".
func PinnedNode(ns *corev1.NodeSelector) inspect.NodeName {
	if ns == nil || len(ns.NodeSelectorTerms) != 1 || len(ns.NodeSelectorTerms[0].MatchFields) != 1 {
		return ""
	}
	f := ns.NodeSelectorTerms[0].MatchFields[0]
	if f.Key != "metadata.name" || f.Operator != corev1.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return inspect.NodeName(f.Values[0])
}

// NodeMatches reports whether the node fits the selector of an allocation. Every node fits nil.
func NodeMatches(selector *corev1.NodeSelector, node *corev1.Node) bool {
	if selector == nil {
		return true
	}
	if name := PinnedNode(selector); name != "" {
		return string(name) == node.Name
	}
	parsed, err := nodeaffinity.NewNodeSelector(selector)
	return err == nil && parsed.Match(node)
}

// MatchesRequiredAffinity reports whether a node matches the required node affinity of a pod, whatever its
// node selector.
func MatchesRequiredAffinity(pod *corev1.Pod, node *corev1.Node) bool {
	without := &corev1.Pod{Spec: corev1.PodSpec{Affinity: pod.Spec.Affinity}}
	match, err := nodeaffinity.GetRequiredNodeAffinity(without).Match(node)
	return err == nil && match
}
