package shapes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/nodeshape"
)

// OfCluster returns the kinds of nodes that a cluster has, as far as pods can tell them apart.
func OfCluster(s *inspect.Snapshot, pods []*corev1.Pod) ([]nodeshape.Shape, error) {
	var asked []any
	for _, pod := range pods {
		asked = append(asked, pod.Spec.NodeSelector, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints)
		for _, claim := range question.PendingClaims(s, pod) {
			asked = append(asked, claim.Spec)
		}
	}
	for _, class := range s.Objects().Classes {
		asked = append(asked, class.Spec)
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return nil, fmt.Errorf("telling nodes apart: %w", err)
	}
	return nodeshape.OfCluster(s, func(name string) bool { return bytes.Contains(text, []byte(name)) }, newLike), nil
}

// newLike is a node like another as it would be added, with what comes with it, under the name of the other.
func newLike(o *inspect.Objects, like string) *inspect.Objects {
	more := *o
	more.Nodes, more.Slices = slices.Clip(o.Nodes), slices.Clip(o.Slices)
	more.CSINodes, more.Pods = slices.Clip(o.CSINodes), slices.Clip(o.Pods)
	whatif.AddNode(&more, like, false, func(name string) string { return name })
	return &inspect.Objects{
		Nodes: more.Nodes[len(o.Nodes):], Slices: more.Slices[len(o.Slices):],
		CSINodes: more.CSINodes[len(o.CSINodes):], Pods: slices.DeleteFunc(more.Pods[len(o.Pods):], inspect.Ended),
	}
}

// withDaemons gives nodes that files describe the pods of the daemon sets of the cluster that would run on them: they take of it too.
// Of a daemon set without a pod nothing is known.
func withDaemons(s *inspect.Snapshot, shapes []nodeshape.Shape) []nodeshape.Shape {
	out := slices.Clone(shapes)
	var daemons []*corev1.Pod
	seen := map[types.UID]bool{}
	for _, pod := range s.Objects().Pods {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != "DaemonSet" || seen[owner.UID] || inspect.Ended(pod) {
			continue
		}
		seen[owner.UID] = true
		daemons = append(daemons, pod)
	}
	for i := range out {
		if out[i].Source == nodeshape.Cluster {
			continue
		}
		company := out[i].Company
		company.Pods = nil
		for _, pod := range daemons {
			if runsOn(pod, out[i].Node) {
				company.Pods = append(company.Pods, pod)
			}
		}
		out[i].Company = company
	}
	return out
}

// runsOn reports whether the daemon set of a pod puts one on a node too.
func runsOn(pod *corev1.Pod, node *corev1.Node) bool {
	own := pod.DeepCopy()
	if a := own.Spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		terms := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
		for i := range terms {
			terms[i].MatchFields = nil // which pin it to the node where it is
		}
		// A term without anything matches nothing, but this one meant a node by its name alone.
		if slices.ContainsFunc(terms, func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions) == 0 }) {
			a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = nil
		}
	}
	if matches, err := nodeaffinity.GetRequiredNodeAffinity(own).Match(node); err != nil || !matches {
		return false
	}
	_, refused := corev1helpers.FindMatchingUntoleratedTaint(klog.Logger{}, node.Spec.Taints, own.Spec.Tolerations, func(t *corev1.Taint) bool {
		return t.Effect != corev1.TaintEffectPreferNoSchedule
	}, true)
	return !refused
}
