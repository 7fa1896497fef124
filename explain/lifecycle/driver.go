package lifecycle

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Which pod is that of a driver is told by signs (inspect.PluginSet). Here, a DaemonSet may be the driver's
// if it runs on all nodes with devices of the driver, the node in question aside. Where only one may be, it
// is taken for that, and it is said by which signs. Where two may be, nothing is said; and where there is but
// one other node to tell it by, that alone is no failure.

// candidates are the DaemonSets that may be a driver's: they run on all nodes with devices of the driver, one
// node aside. The number is that of the other nodes, and if it is 0 nothing can be told.
func (b *builder) candidates(driver, node string) ([]*inspect.PluginSet, int) {
	nodes := inspect.PublishingNodes(b.s).Nodes(driver)
	here := slices.Index(nodes, node)
	if here < 0 || b.s.Health(inspect.Pods).Partial() {
		return nil, 0
	}
	others := slices.Delete(nodes, here, here+1)
	if len(others) == 0 {
		return nil, 0
	}
	if b.sets == nil {
		b.sets = inspect.PluginSets(b.s)
	}
	return slices.DeleteFunc(slices.Clone(b.sets), func(d *inspect.PluginSet) bool {
		return slices.ContainsFunc(others, func(n string) bool { return len(d.Pods[n]) == 0 })
	}), len(others)
}

// driversMissing are the drivers that a kubelet needs for a pod and whose pod is not there, or not ready.
func (b *builder) driversMissing(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) []explain.Problem {
	var out []explain.Problem
	for _, driver := range b.preparing(pod, claims) {
		may, others := b.candidates(driver, pod.Spec.NodeName)
		if len(may) != 1 {
			continue
		}
		if p, missing := b.driverMissing(driver, pod.Spec.NodeName, may[0], others); missing {
			out = append(out, p)
		}
	}
	return out
}

// driverMissing is false if a pod of the DaemonSet is ready on the node.
func (b *builder) driverMissing(driver, node string, set *inspect.PluginSet, others int) (explain.Problem, bool) {
	p := explain.Problem{
		Code: explain.DriverMissing, Fails: others > 1, Object: subjectOf("DaemonSet", set.Namespace, set.Name), Driver: driver, Actor: explain.DriverAdmin,
		Commands: commands(describe("daemonset", set.Namespace, set.Name)),
	}
	sign := fmt.Sprintf("; it seems to be that of the driver, for its pods mount the kubelet's directory of plugins and run on the %s with devices of %s",
		words.Plural(others, "other node", fmt.Sprintf("%d other nodes", others)), driver)
	here := set.Pods[node]
	if len(here) == 0 {
		p.Brief = fmt.Sprintf("no pod of DaemonSet %s, which seems to be the driver's, runs on %s", set, node)
		p.Message = fmt.Sprintf("no pod of DaemonSet %s runs on %s", set, node) + sign
		return p, true
	}
	for _, pod := range here {
		if c := condition(pod, corev1.PodReady); c == nil || c.Status == corev1.ConditionTrue {
			return p, false
		}
	}
	pod := here[0]
	p.Object = podSubject(pod)
	p.Brief = fmt.Sprintf("pod %s/%s of DaemonSet %s on %s is not ready", pod.Namespace, pod.Name, set.Name, node)
	if why := waitingReason(pod); why != "" {
		p.Reason, p.Brief = why, p.Brief+" ("+why+")"
	}
	p.Message = p.Brief + sign
	p.Logs = []explain.Subject{p.Object}
	p.Commands = commands(logsOf(pod), describe("pod", pod.Namespace, pod.Name))
	return p, true
}

// waitingReason is why the first container of a pod does not run.
func waitingReason(pod *corev1.Pod) string {
	for _, c := range containersOf(pod) {
		if c.Stage != explain.ContainerRunning && c.Reason != "" {
			return c.Reason
		}
	}
	return ""
}

// preparing are the drivers that prepare devices of a pod on its node, sorted.
func (b *builder) preparing(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) []string {
	drivers := map[string]bool{}
	for _, claim := range claims {
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			if Uses(pod, claim) && !slices.Contains(r.SkipNodeOperations, resourcev1.SkipNodeOperationNodePrepareResources) {
				drivers[r.Driver] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(drivers))
}

// addDriverLogs adds to a problem the pods of drivers on the node of a pod, and before its commands those
// that show what they say. Where it is not known which pods these are, the command lists the pods of the
// node.
func (b *builder) addDriverLogs(to *explain.Problem, pod *corev1.Pod, drivers ...string) {
	var logs [][]string
	for _, driver := range drivers {
		if may, _ := b.candidates(driver, pod.Spec.NodeName); len(may) == 1 {
			for _, p := range may[0].Pods[pod.Spec.NodeName] {
				logs, to.Logs = append(logs, logsOf(p)), append(to.Logs, podSubject(p))
			}
		}
	}
	if len(logs) == 0 {
		logs = append(logs, []string{"kubectl", "get", "pods", "-A", "-o", "wide", "--field-selector", "spec.nodeName=" + pod.Spec.NodeName})
	}
	to.Commands = append(commands(logs...), to.Commands...)
}

func logsOf(pod *corev1.Pod) []string {
	return []string{"kubectl", "logs", "--all-containers", "--since=1h", "-n", pod.Namespace, pod.Name}
}
