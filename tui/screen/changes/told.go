package changes

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// reasons are the Events that tell of something that matters to who uses devices, whoever they are about: of
// kube-scheduler, the controllers of claims, taints and nodes, and the kubelet.
var reasons = map[string]screen.EventKind{
	"FailedScheduling":              screen.PodRefused,
	"BindingConditionsPending":      screen.PodTrouble,
	"FailedPrepareDynamicResources": screen.PodTrouble,
	"FailedResourceClaimCreation":   screen.PodTrouble,
	"DeviceTaintManagerEviction":    screen.PodEvicted,
	"Preempted":                     screen.PodEvicted,
	"NodeNotReady":                  screen.NodeNotReady,
	"NodeReady":                     screen.NodeReady,
}

// ownKinds are the kinds of objects of which every Event is told.
var ownKinds = []string{"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "DeviceTaintRule", "ResourceSlice"}

// fromEvents are the Events of a cluster that matter.
func fromEvents(s *inspect.Snapshot, list []inspect.Event) []screen.Event {
	var out []screen.Event
	for i := range list {
		if e, ok := fromEvent(s, &list[i]); ok {
			out = append(out, e)
		}
	}
	return out
}

func fromEvent(s *inspect.Snapshot, e *inspect.Event) (screen.Event, bool) {
	out := screen.Event{
		Time: e.First, Text: words.OneLine(e.Message), By: e.Source, Told: true, Count: e.Count,
		Ref: screen.Ref{Kind: screen.Kind(e.Kind), Namespace: e.Namespace, Name: e.Name},
	}
	if out.Time.IsZero() {
		return out, false
	}
	kind, matters := reasons[e.Reason]
	if !matters && slices.Contains(ownKinds, e.Kind) {
		kind, matters = screen.OtherEvent, true
		out.Text = strings.TrimSuffix(e.Reason+": "+out.Text, ": ")
	}
	out.Kind = kind
	switch e.Kind {
	case "Pod":
		pod, ok := s.Pod(inspect.PodRef{Namespace: e.Namespace, Name: e.Name})
		ofClaims := kind == screen.PodTrouble || e.Reason == "DeviceTaintManagerEviction" // which only happens to pods with claims
		if !ofClaims && (!ok || !usesClaims(pod)) {
			return out, false
		}
		if ok {
			out.Node = inspect.NodeName(pod.Spec.NodeName)
		}
	case "Node":
		out.Ref.Namespace, out.Node = "", inspect.NodeName(e.Name)
	}
	return out, matters
}

func usesClaims(pod *corev1.Pod) bool {
	return len(pod.Spec.ResourceClaims) > 0 || pod.Status.ExtendedResourceClaimStatus != nil
}

// mostTold is how many changes are taken from objects at most, the latest.
const mostTold = 1000

// latest are events that objects tell.
type latest []screen.Event

// offer adds an event, if it is known when it was.
func (l *latest) offer(at time.Time, e screen.Event) {
	if !at.IsZero() {
		e.Time, e.Told = at, true
		*l = append(*l, e)
	}
}

// fromObjects are the latest changes that objects tell by their timestamps.
func fromObjects(s *inspect.Snapshot) []screen.Event {
	l := &latest{}
	for _, claim := range s.Objects().Claims {
		l.claim(claim)
	}
	for _, pod := range s.Objects().Pods {
		if usesClaims(pod) {
			l.pod(pod)
		}
	}
	for _, rule := range s.Objects().TaintRules {
		l.rule(rule)
	}
	for _, slice := range s.Objects().Slices {
		l.taints(slice)
	}
	for _, node := range s.Objects().Nodes {
		l.node(node)
	}
	if len(*l) > mostTold {
		slices.SortStableFunc(*l, func(a, b screen.Event) int { return b.Time.Compare(a.Time) })
		*l = (*l)[:mostTold]
	}
	return *l
}

func (l *latest) claim(claim *resourcev1.ResourceClaim) {
	ref := screen.Ref{Kind: screen.Claim, Namespace: claim.Namespace, Name: claim.Name}
	l.offer(claim.CreationTimestamp.Time, screen.Event{Kind: screen.ClaimCreated, Ref: ref})
	if a := claim.Status.Allocation; a != nil && a.AllocationTimestamp != nil {
		l.offer(a.AllocationTimestamp.Time, screen.Event{Kind: screen.ClaimAllocated, Ref: ref, Node: inspect.AllocationNode(a)})
	}
	if claim.DeletionTimestamp != nil {
		l.offer(claim.DeletionTimestamp.Time, screen.Event{Kind: screen.ClaimDeleting, Ref: ref, Node: inspect.AllocationNode(claim.Status.Allocation)})
	}
}

func (l *latest) pod(pod *corev1.Pod) {
	event := func(kind screen.EventKind, text, by string) screen.Event {
		return screen.Event{
			Kind: kind, Ref: screen.Ref{Kind: screen.Pod, Namespace: pod.Namespace, Name: pod.Name}, Text: text, By: by, Node: inspect.NodeName(pod.Spec.NodeName),
		}
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		switch {
		case c.Type == corev1.PodScheduled:
			if since, refused := screen.Refused(pod); refused {
				l.offer(since, event(screen.PodRefused, words.OneLine(c.Message), "scheduler"))
			}
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			l.offer(c.LastTransitionTime.Time, event(screen.PodEvicted, words.OneLine(c.Message), c.Reason))
		}
	}
	if inspect.Ended(pod) {
		l.offer(usage.EndOf(pod), event(screen.PodEnded, strings.ToLower(string(pod.Status.Phase)), ""))
	}
}

func (l *latest) rule(rule *resourcev1.DeviceTaintRule) {
	at := rule.CreationTimestamp.Time
	if t := rule.Spec.Taint.TimeAdded; t != nil {
		at = t.Time
	}
	l.offer(at, screen.Event{
		Kind: screen.DeviceTainted, Ref: screen.Ref{Kind: screen.TaintRule, Name: rule.Name},
		Text: "taints devices: " + words.FormatTaint(&rule.Spec.Taint), By: inspect.TaintSetBy(rule),
	})
}

// taints are those that a driver has set itself: a rule tells of its own.
func (l *latest) taints(slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		taints := slice.Spec.Devices[i].Taints
		for j := range taints {
			if taints[j].TimeAdded == nil {
				continue
			}
			id := inspect.DeviceIDOf(slice, i)
			l.offer(taints[j].TimeAdded.Time, screen.Event{
				Kind: screen.DeviceTainted, Ref: screen.DeviceRef(id), Text: "tainted " + words.FormatTaint(&taints[j]), By: "driver " + id.Driver,
				Driver: id.Driver, Node: inspect.NodeName(ptr.Deref(slice.Spec.NodeName, "")),
			})
		}
	}
}

func (l *latest) node(node *corev1.Node) {
	for i := range node.Status.Conditions {
		c := &node.Status.Conditions[i]
		if c.Type == corev1.NodeReady && c.Status != corev1.ConditionTrue {
			l.offer(c.LastTransitionTime.Time, screen.Event{
				Kind: screen.NodeNotReady, Ref: screen.Ref{Kind: screen.Node, Name: node.Name}, Node: inspect.NodeName(node.Name),
				Text: words.OneLine(c.Message), By: c.Reason,
			})
		}
	}
}
