package checkup

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Nothing in the API says which pods are those of a driver; inspect.PluginSet tells by which signs a
// DaemonSet may be. Here it is taken for the driver's if no other could be, and it runs on more than half of
// the nodes that the driver publishes for.

func findDriversMissing(v *visit) {
	publishing := inspect.PublishingNodes(v.s)
	sets := inspect.PluginSets(v.s)
	for _, driver := range publishing.Drivers() {
		nodes := publishing.Nodes(driver)
		var may []*inspect.PluginSet
		for _, set := range sets {
			if 2*set.On(nodes) > len(nodes) {
				may = append(may, set)
			}
		}
		if len(may) == 1 {
			v.driverMissing(driver, nodes, may[0])
		}
	}
}

// driverMissing reports the nodes on which no pod of the DaemonSet is ready.
func (v *visit) driverMissing(driver string, nodes []string, set *inspect.PluginSet) {
	sign := fmt.Sprintf("its pods mount the kubelet's directory of plugins, and run on %d of the %d nodes with slices of %s", set.On(nodes), len(nodes), driver)
	for _, node := range nodes {
		pods := set.Pods[node]
		var detail string
		switch {
		case len(pods) == 0:
			detail = fmt.Sprintf("no pod of DaemonSet %s, which seems to be the driver's, is there", set)
		case !slices.ContainsFunc(pods, ready):
			detail = fmt.Sprintf("pod %s of DaemonSet %s, which seems to be the driver's, is not ready", pods[0].Name, set)
		default:
			continue
		}
		v.report(Finding{
			Subject: "driver " + driver + " on node " + node, Group: driver, Detail: detail, Evidence: []string{sign},
			Objects: []inspect.ObjectRef{object("DaemonSet", set.Namespace, set.Name), object("Node", "", node)},
			Remedy:  "kubectl describe daemonset " + set.Name + " -n " + set.Namespace + words.Plural(len(pods), "; kubectl logs of its pod on the node", ""),
		})
	}
}

func ready(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
