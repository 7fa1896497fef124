package record

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// pod tells of a pod that uses claims whether the scheduler has refused it, or is evicted, and which of its
// devices are sick.
func (c *comparison) pod(a, b *corev1.Pod) {
	if b == nil || len(b.Spec.ResourceClaims) == 0 && b.Status.ExtendedResourceClaimStatus == nil {
		return
	}
	e := screen.Event{Ref: screen.Ref{Kind: screen.Pod, Namespace: b.Namespace, Name: b.Name}, Node: inspect.NodeName(b.Spec.NodeName)}
	was := false
	if a != nil && a.UID == b.UID {
		_, was = screen.Refused(a)
	}
	switch since, is := screen.Refused(b); {
	case is && !was:
		e.Kind, e.Time, e.By = screen.PodRefused, since, "scheduler"
		e.Text = words.OneLine(conditionOf(b, corev1.PodScheduled).Message)
		c.add(e)
	case was && !is && b.Spec.NodeName != "":
		e.Kind, e.By, e.Text = screen.PodPlaced, "scheduler", "got a node, after it was refused"
		c.add(e)
	}
	if evicted := conditionOf(b, corev1.DisruptionTarget); evicted != nil && evicted.Status == corev1.ConditionTrue && (a == nil || conditionOf(a, corev1.DisruptionTarget) == nil) {
		e.Kind, e.Time, e.By, e.Text = screen.PodEvicted, evicted.LastTransitionTime.Time, evicted.Reason, cmp.Or(words.OneLine(evicted.Message), "is evicted")
		c.add(e)
	}
	c.health(a, b)
}

func conditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &pod.Status.Conditions[i]
}

// health tells which devices of a pod have become sick or well.
func (c *comparison) health(a, b *corev1.Pod) {
	before, after := sick(a), sick(b)
	for id, said := range after {
		if _, known := before[id]; !known {
			c.healthOf(b, id, screen.DeviceSick, "unhealthy"+said)
		}
	}
	for id := range before {
		if _, still := after[id]; !still {
			c.healthOf(b, id, screen.DeviceWell, "no longer unhealthy")
		}
	}
}

// healthOf tells of a device, or of the pod where it is not known which device it is.
func (c *comparison) healthOf(pod *corev1.Pod, id string, kind screen.EventKind, text string) {
	e := screen.Event{Kind: kind, Text: text, Node: inspect.NodeName(pod.Spec.NodeName), By: "pod " + pod.Name}
	e.Ref = screen.Ref{Kind: screen.Device, Name: id}
	if _, ok := screen.FindDevice(c.after, e.Ref); !ok {
		e.Ref = screen.Ref{Kind: screen.Pod, Namespace: pod.Namespace, Name: pod.Name}
		e.Text, e.By = id+" is "+text, "kubelet"
	}
	c.add(e)
}

// sick are the units of resources of a pod that its kubelet says are unhealthy, with what it says.
func sick(pod *corev1.Pod) map[string]string {
	if pod == nil {
		return nil
	}
	var out map[string]string
	for i := range pod.Status.ContainerStatuses {
		for _, status := range pod.Status.ContainerStatuses[i].AllocatedResourcesStatus {
			for _, r := range status.Resources {
				if r.Health != corev1.ResourceHealthStatusUnhealthy {
					continue
				}
				if out == nil {
					out = map[string]string{}
				}
				out[string(r.ResourceID)] = ""
				if r.Message != nil && *r.Message != "" {
					out[string(r.ResourceID)] = ": " + words.OneLine(*r.Message)
				}
			}
		}
	}
	return out
}

// node tells of a node whether it came or went, and whether it is ready.
func (c *comparison) node(a, b *corev1.Node) {
	one := cmp.Or(b, a)
	e := screen.Event{Ref: screen.Ref{Kind: screen.Node, Name: one.Name}, Node: inspect.NodeName(one.Name)}
	switch {
	case a == nil:
		e.Kind, e.Text = screen.NodeCame, "joined the cluster"
	case b == nil:
		e.Kind, e.Text = screen.NodeGone, "gone"
	case ready(a) && !ready(b):
		e.Kind, e.Text = screen.NodeNotReady, "not ready"
		r := readiness(b)
		e.Time, e.By, e.Text = r.LastTransitionTime.Time, r.Reason, cmp.Or(words.OneLine(r.Message), e.Text)
	case !ready(a) && ready(b):
		e.Kind, e.Text = screen.NodeReady, "ready again"
	default:
		return
	}
	c.add(e)
}

func readiness(node *corev1.Node) *corev1.NodeCondition {
	i := slices.IndexFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool { return c.Type == corev1.NodeReady })
	if i < 0 {
		return nil
	}
	return &node.Status.Conditions[i]
}

// ready reports whether nothing says that a node is not ready.
func ready(node *corev1.Node) bool {
	r := readiness(node)
	return r == nil || r.Status == corev1.ConditionTrue
}
