package lifecycle

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// progress says how far a pod has come, by what it says of itself.
func (b *builder) progress(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) explain.PodProgress {
	p := explain.PodProgress{
		Pod:   inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name},
		Node:  inspect.NodeName(pod.Spec.NodeName),
		Heard: pod.Status.StartTime != nil || len(pod.Status.ContainerStatuses)+len(pod.Status.InitContainerStatuses) > 0,
		Stage: b.stage(pod, claims),
	}
	p.Prepared = p.Stage == explain.Running || p.Stage == explain.Starting && hasSandbox(pod)
	switch p.Stage {
	case explain.Ended:
		p.Reason = pod.Status.Reason
	case explain.Starting:
		if p.Since = transition(pod, corev1.PodScheduled); p.Since.IsZero() && pod.Status.StartTime != nil {
			p.Since = pod.Status.StartTime.Time
		}
	case explain.Running:
		p.Since = transition(pod, corev1.PodReady)
	case explain.Binding:
		p.Since = allocatedAt(claims)
	}
	return p
}

func (b *builder) stage(pod *corev1.Pod, claims []*resourcev1.ResourceClaim) explain.Stage {
	switch {
	case inspect.Ended(pod):
		return explain.Ended
	case pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && slices.ContainsFunc(claims, func(c *resourcev1.ResourceClaim) bool { return Uses(pod, c) && b.binds(c) }):
		return explain.Binding
	case len(provisioning(b.s, pod)) > 0:
		return explain.Binding
	case pod.Spec.NodeName == "":
		return explain.Unbound
	case pod.DeletionTimestamp != nil:
		return explain.Stopping
	case pod.Status.Phase == corev1.PodPending:
		return explain.Starting
	case pod.Status.Phase != corev1.PodRunning:
		return explain.Bound
	case slices.ContainsFunc(containersOf(pod), func(c explain.Container) bool { return c.Stage != explain.ContainerRunning }):
		return explain.Starting
	}
	return explain.Running
}

// transition is when a condition of a pod became true. It is zero if it is not true.
func transition(pod *corev1.Pod, kind corev1.PodConditionType) time.Time {
	if c := condition(pod, kind); c != nil && c.Status == corev1.ConditionTrue {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// allocatedAt is when the first of the claims was allocated.
func allocatedAt(claims []*resourcev1.ResourceClaim) time.Time {
	var first time.Time
	for _, claim := range claims {
		at := claim.Status.Allocation.AllocationTimestamp
		if at != nil && (first.IsZero() || at.Time.Before(first)) {
			first = at.Time
		}
	}
	return first
}

// failed adds that a pod has ended because something failed.
func (b *builder) failed(pod *corev1.Pod) {
	if pod.Status.Phase != corev1.PodFailed {
		return
	}
	why := cmp.Or(pod.Status.Reason, exitReason(pod))
	p := explain.Problem{
		Code: explain.PodFailed, Fails: true, Object: podSubject(pod), Reason: why, Said: pod.Status.Message, Actor: explain.User,
		Message: "the pod has failed", Brief: "has failed", Commands: commands(describe("pod", pod.Namespace, pod.Name)),
	}
	if why != "" {
		p.Message, p.Brief = p.Message+": "+why, p.Brief+": "+why
	}
	b.add(p)
}

// exitReason is why the first container of a pod ended that failed.
func exitReason(pod *corev1.Pod) string {
	for _, c := range containersOf(pod) {
		if c.Stage == explain.ContainerTerminated {
			return c.Exit.Reason
		}
	}
	return ""
}

// silent adds that the node of a pod does not report.
func (b *builder) silent(pod *corev1.Pod) {
	if b.s.NodesAssumed() {
		return
	}
	name := pod.Spec.NodeName
	p := explain.Problem{Code: explain.NodeSilent, Fails: true, Object: subjectOf("Node", "", name), Actor: explain.ClusterAdmin}
	node, ok := b.s.Node(inspect.NodeName(name))
	if !ok {
		if b.s.Health(inspect.Nodes).Partial() {
			return
		}
		p.Message, p.Brief = "the node "+name+" does not exist any more", "its node does not exist any more"
		b.add(p)
		return
	}
	for _, c := range node.Status.Conditions {
		if c.Type != corev1.NodeReady || c.Status == corev1.ConditionTrue {
			continue
		}
		p.Reason, p.Said, p.Since = c.Reason, c.Message, c.LastTransitionTime.Time
		p.Message = "the node " + name + " has not been ready" + b.ago(p.Since, " for ") + ", so what its pods say of themselves may be old"
		p.Brief = "its node has not been ready" + b.ago(p.Since, " for ")
		p.Commands = commands(describe("node", "", name))
		b.add(p)
	}
}
