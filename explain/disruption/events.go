package disruption

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Drain is what kubectl drain does to nodes: they are cordoned, and their pods evicted but for those of
// daemon sets, and for those that the kubelet runs from files.
func Drain(s *inspect.Snapshot, nodes ...inspect.NodeName) *Event {
	e := &Event{What: "draining " + namesOf("node", nodes), Asks: true, IfHeld: "kubectl drain asks for evictions that are denied again and again, without an end unless it has a --timeout"}
	if len(nodes) > 1 {
		e.IfHeld += ", and drains no other node before"
	}
	var orphans []string
	for _, pod := range podsOn(s, nodes) {
		if suppose.BoundToNode(pod) {
			e.Besides = append(e.Besides, note(pod, "stays: it belongs to the node"))
			continue
		}
		if e.goesAlready(pod) {
			continue
		}
		if metav1.GetControllerOf(pod) == nil {
			orphans = append(orphans, pod.Namespace+"/"+pod.Name)
		}
		e.Evicted = append(e.Evicted, Eviction{Pod: pod, Cause: "its node is drained"})
	}
	if len(orphans) > 0 {
		e.Remarks = append(e.Remarks, fmt.Sprintf("kubectl drain refuses without --force: nobody would restart %s", words.Shorten(orphans, maxNamed)))
	}
	e.Change = func(o *inspect.Objects) {
		for i, node := range o.Nodes {
			if !slices.Contains(nodes, inspect.NodeName(node.Name)) {
				continue
			}
			o.Nodes[i] = node.DeepCopy()
			o.Nodes[i].Spec.Unschedulable = true
			taint := corev1.Taint{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}
			if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&taint) }) {
				o.Nodes[i].Spec.Taints = append(o.Nodes[i].Spec.Taints, taint)
			}
		}
	}
	return e
}

// goesAlready notes of a pod that it is being deleted already, if that is so. Most controllers have made
// another one in its place by then, or make none; that of a StatefulSet waits until it is gone.
func (e *Event) goesAlready(pod *corev1.Pod) bool {
	if owner := metav1.GetControllerOf(pod); pod.DeletionTimestamp == nil || owner != nil && owner.Kind == "StatefulSet" {
		return false
	}
	e.Besides = append(e.Besides, note(pod, "is being deleted already"))
	e.Evicted = append(e.Evicted, Eviction{Pod: pod, Along: true})
	return true
}

// ends reports whether pods have to go that would stay otherwise.
func (e *Event) ends() bool {
	return slices.ContainsFunc(e.Evicted, func(v Eviction) bool { return !v.Along })
}

// LoseNodes is the sudden end of nodes, with all their devices.
func LoseNodes(s *inspect.Snapshot, nodes ...inspect.NodeName) *Event {
	e := &Event{What: "losing " + namesOf("node", nodes)}
	var held []string
	for _, pod := range podsOn(s, nodes) {
		after, evicted := toleratedUnreachable(pod)
		if owner := metav1.GetControllerOf(pod); evicted && owner != nil && owner.Kind == "StatefulSet" {
			held = append(held, pod.Namespace+"/"+pod.Name)
		}
		if suppose.BoundToNode(pod) {
			e.Besides = append(e.Besides, note(pod, "goes with its node"))
			e.Evicted = append(e.Evicted, Eviction{Pod: pod, Along: true})
			continue
		}
		if e.goesAlready(pod) {
			continue
		}
		if !evicted {
			e.Besides = append(e.Besides, note(pod, "tolerates that its node is unreachable: it goes once the Node object is deleted"))
			continue
		}
		e.Evicted = append(e.Evicted, Eviction{Pod: pod, After: after, Cause: "its node is lost"})
	}
	if len(held) > 0 {
		e.Remarks = append(e.Remarks, fmt.Sprintf(
			"a StatefulSet waits until the Node object is deleted, or has the taint %s, before it makes another pod for %s",
			corev1.TaintNodeOutOfService, words.Shorten(held, maxNamed)))
	}
	gone := func(name string) bool { return slices.Contains(nodes, inspect.NodeName(name)) }
	devices := map[inspect.DeviceID]bool{}
	for _, slice := range s.Slices() {
		for d := range slice.Spec.Devices {
			if slice.Spec.NodeName != nil && gone(*slice.Spec.NodeName) {
				devices[inspect.DeviceIDOf(slice, d)] = true
			}
		}
	}
	e.Lost = func(id inspect.DeviceID) bool { return devices[id] }
	e.Change = func(o *inspect.Objects) {
		o.Nodes = slices.DeleteFunc(slices.Clone(o.Nodes), func(n *corev1.Node) bool { return gone(n.Name) })
		o.Slices = slices.DeleteFunc(slices.Clone(o.Slices), func(slice *resourcev1.ResourceSlice) bool {
			return slice.Spec.NodeName != nil && gone(*slice.Spec.NodeName)
		})
	}
	return e
}

// toleratedUnreachable says for how long a pod tolerates that its node cannot be reached, and whether it is
// evicted at all. Of several tolerations the first counts, as for the controller
// (pkg/controller/tainteviction, GetMatchingTolerations).
func toleratedUnreachable(pod *corev1.Pod) (after time.Duration, evicted bool) {
	taint := &corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	at := slices.IndexFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(logr.Discard(), taint, false) })
	if at < 0 {
		return 0, true
	}
	seconds := pod.Spec.Tolerations[at].TolerationSeconds
	if seconds == nil {
		return 0, false
	}
	return time.Duration(min(max(*seconds, 0), maxTolerated)) * time.Second, true
}

// maxTolerated keeps a duration from overflowing. It is a hundred years of seconds.
const maxTolerated = 100 * 365 * 24 * 3600

// LoseDevices is the sudden end of devices: they are no longer published. Kubernetes evicts nobody for that;
// the pods that use them are assumed to be restarted.
func LoseDevices(s *inspect.Snapshot, what string, lost func(inspect.DeviceID) bool) *Event {
	e := &Event{What: "losing " + what, Lost: lost}
	users := map[inspect.PodRef][]string{}
	var order []inspect.PodRef
	for _, claim := range s.Objects().Claims {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, id := range devicesOf(claim) {
			if !lost(id) {
				continue
			}
			for _, ref := range s.PodsOf(inspect.RefOf(claim)) {
				if users[ref] == nil {
					order = append(order, ref)
				}
				users[ref] = append(users[ref], id.Device)
			}
		}
	}
	for _, ref := range order {
		if !runs(s, ref) {
			continue
		}
		pod, _ := s.Pod(ref)
		if e.goesAlready(pod) {
			continue
		}
		e.Evicted = append(e.Evicted, Eviction{Pod: pod, Cause: fmt.Sprintf("%s %s lost", words.Shorten(users[ref], maxNamed), words.Plural(len(users[ref]), "is", "are"))})
	}
	if e.ends() {
		e.Remarks = append(e.Remarks, "Kubernetes ends no pod because a device is gone; those that use it are assumed to be restarted")
	}
	e.Change = func(o *inspect.Objects) {
		o.Slices = slices.Clone(o.Slices)
		for i, slice := range o.Slices {
			own := slice
			for d := len(slice.Spec.Devices) - 1; d >= 0; d-- {
				if !lost(inspect.DeviceIDOf(slice, d)) {
					continue
				}
				if own == slice {
					own = slice.DeepCopy()
				}
				own.Spec.Devices = slices.Delete(own.Spec.Devices, d, d+1)
			}
			o.Slices[i] = own
		}
	}
	return e
}

// DeleteNamespace is the end of all that is in a namespace. Nobody restarts it.
func DeleteNamespace(s *inspect.Snapshot, namespace string) *Event {
	e := &Event{What: "deleting namespace " + namespace, Within: namespace, Final: true}
	for _, pod := range s.Objects().Pods {
		if pod.Namespace == namespace && pod.Spec.NodeName != "" && !inspect.Ended(pod) {
			e.Evicted = append(e.Evicted, Eviction{Pod: pod, Cause: "its namespace is deleted"})
		}
	}
	e.Change = func(o *inspect.Objects) {
		o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return p.Namespace == namespace })
		o.Claims = slices.DeleteFunc(slices.Clone(o.Claims), func(c *resourcev1.ResourceClaim) bool { return c.Namespace == namespace })
		o.Templates = slices.DeleteFunc(slices.Clone(o.Templates), func(t *resourcev1.ResourceClaimTemplate) bool { return t.Namespace == namespace })
	}
	return e
}

// podsOn are the pods on some nodes that have not ended, sorted.
func podsOn(s *inspect.Snapshot, nodes []inspect.NodeName) []*corev1.Pod {
	on := make(map[string]bool, len(nodes))
	for _, node := range nodes {
		on[string(node)] = true
	}
	var out []*corev1.Pod
	for _, pod := range s.Objects().Pods {
		if on[pod.Spec.NodeName] && !inspect.Ended(pod) {
			out = append(out, pod)
		}
	}
	return out
}

func note(pod *corev1.Pod, message string) explain.Note {
	return explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: message}
}

// namesOf names objects of a kind.
func namesOf[T ~string](kind string, names []T) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	slices.SortFunc(texts, cmp.Compare[string])
	return words.Plural(len(names), kind, kind+"s") + " " + words.Shorten(texts, maxNamed)
}

// maxNamed is the number of objects that a remark names.
const maxNamed = 4
