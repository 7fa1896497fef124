package suppose

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AddNode adds a node like another, with the devices of its own pools and nothing taken of them. It is as a
// node is that was just added: ready, and not cordoned, with the volume drivers of the other and the pods
// that every such node gets. rename gives what is added its name. Where nodes are assumed because slices name
// them, only slices are added.
func AddNode(o *inspect.Objects, like string, assumed bool, rename func(string) string) {
	added := rename(like)
	at := slices.IndexFunc(o.Nodes, func(n *corev1.Node) bool { return n.Name == like })
	if at < 0 && !assumed {
		return
	}
	if at >= 0 {
		node := o.Nodes[at].DeepCopy()
		node.Name = added
		node.Spec.Unschedulable = false
		node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, ofCondition)
		for i := range node.Status.Conditions {
			c := &node.Status.Conditions[i]
			if c.Status = corev1.ConditionFalse; c.Type == corev1.NodeReady {
				c.Status = corev1.ConditionTrue
			}
		}
		if _, ok := node.Labels[corev1.LabelHostname]; ok {
			node.Labels[corev1.LabelHostname] = added
		}
		o.Nodes = append(o.Nodes, node)
		addCompany(o, like, rename)
	}
	for _, slice := range slices.Clone(o.Slices) {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != like {
			continue
		}
		slice = slice.DeepCopy()
		slice.Name, slice.Spec.Pool.Name = rename(slice.Name), rename(slice.Spec.Pool.Name)
		slice.Spec.NodeName = &added
		o.Slices = append(o.Slices, slice)
	}
}

// addCompany adds to a node what comes with it: how many volumes of each driver it attaches, and the pods
// that are bound to each node.
func addCompany(o *inspect.Objects, like string, rename func(string) string) {
	added := rename(like)
	for _, drivers := range slices.Clone(o.CSINodes) {
		if drivers.Name == like {
			drivers = drivers.DeepCopy()
			drivers.Name = added
			o.CSINodes = append(o.CSINodes, drivers)
		}
	}
	for _, pod := range slices.Clone(o.Pods) {
		if pod.Spec.NodeName == like && BoundToNode(pod) {
			pod = pod.DeepCopy()
			pod.Name, pod.UID, pod.Spec.NodeName, pod.Spec.ResourceClaims = rename(pod.Name), types.UID(rename(string(pod.UID))), added, nil
			o.Pods = append(o.Pods, pod)
		}
	}
}

// BoundToNode reports whether a pod comes back to the node when it ends: that of a daemon set, or of a file
// of the kubelet.
func BoundToNode(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// ofCondition reports whether a taint says in what state a node is. Kubernetes itself sets it and takes it
// back, or what adds and removes nodes.
func ofCondition(taint corev1.Taint) bool {
	return slices.ContainsFunc(conditionTaints, func(prefix string) bool { return strings.HasPrefix(taint.Key, prefix) })
}

// conditionTaints are what the keys of such taints begin with: of the node controller, of cloud providers,
// and of autoscalers.
var conditionTaints = []string{
	"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/",
	"ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupt", "karpenter.sh/unregistered",
}

// TaintsLikeOf are the taints that AddNode gives a node too which is like another: those of the node that do
// not say in what state it is, and how many of its devices its drivers have tainted. Whether the new one
// would have them is not known.
func TaintsLikeOf(s *inspect.Snapshot, like string) (ofNode []corev1.Taint, devices int) {
	if node, ok := s.Node(inspect.NodeName(like)); ok {
		ofNode = slices.DeleteFunc(slices.Clone(node.Spec.Taints), ofCondition)
	}
	for _, slice := range s.Objects().Slices {
		if slice.Spec.NodeName == nil || *slice.Spec.NodeName != like {
			continue
		}
		for i := range slice.Spec.Devices {
			if len(slice.Spec.Devices[i].Taints) > 0 {
				devices++
			}
		}
	}
	return ofNode, devices
}
