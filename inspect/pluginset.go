package inspect

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Nothing in the API says which pods are those of a DRA driver: a ResourceSlice has the name of the driver,
// and belongs to the node. But a driver that prepares devices has a pod on each node for which it publishes
// them, most often of a DaemonSet, and registers with the kubelet through a directory of the host. So a
// DaemonSet may be the driver's if its pods mount that directory and run on the nodes with devices of the
// driver.

// PluginSet is a DaemonSet whose pods may register a DRA driver with the kubelets of their nodes.
type PluginSet struct {
	Namespace, Name string
	// Pods are those that have not ended, by node, in the order of the pods of the Snapshot.
	Pods map[string][]*corev1.Pod
}

// String returns "namespace/name".
func (p *PluginSet) String() string { return p.Namespace + "/" + p.Name }

// On returns on how many of the nodes there is a pod.
func (p *PluginSet) On(nodes []string) int {
	n := 0
	for _, node := range nodes {
		if len(p.Pods[node]) > 0 {
			n++
		}
	}
	return n
}

// PluginSets returns the DaemonSets whose pods register something else than a CSI driver with the kubelet,
// sorted by namespace and name.
func PluginSets(s *Snapshot) []*PluginSet {
	found := map[string]*PluginSet{}
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || Ended(pod) || !KubeletPlugin(pod) {
			continue
		}
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.Kind != "DaemonSet" {
			continue
		}
		key := pod.Namespace + "/" + owner.Name
		if found[key] == nil {
			found[key] = &PluginSet{pod.Namespace, owner.Name, map[string][]*corev1.Pod{}}
		}
		found[key].Pods[pod.Spec.NodeName] = append(found[key].Pods[pod.Spec.NodeName], pod)
	}
	out := make([]*PluginSet, 0, len(found))
	for _, key := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[key])
	}
	return out
}

// Publishing says for which nodes drivers publish devices.
type Publishing map[string]map[string]bool

// PublishingNodes returns the nodes that slices name and that exist, by driver.
func PublishingNodes(s *Snapshot) Publishing {
	out := Publishing{}
	for _, slice := range s.objects.Slices {
		name := slice.Spec.NodeName
		if name == nil || *name == "" {
			continue
		}
		if _, exists := s.Node(NodeName(*name)); !exists {
			continue
		}
		if out[slice.Spec.Driver] == nil {
			out[slice.Spec.Driver] = map[string]bool{}
		}
		out[slice.Spec.Driver][*name] = true
	}
	return out
}

// Drivers returns the drivers, sorted.
func (p Publishing) Drivers() []string { return slices.Sorted(maps.Keys(p)) }

// Nodes returns the nodes of a driver, sorted.
func (p Publishing) Nodes(driver string) []string { return slices.Sorted(maps.Keys(p[driver])) }
