package moves

import (
	"slices"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// systemPriority is the priority from which on pods belong to Kubernetes itself.
const systemPriority = 2_000_000_000

// rule says of pods on nodes that they may not be moved.
type rule struct {
	key, reason string
	holds       func(s *inspect.Snapshot, pod *corev1.Pod) bool
}

// rules are in the order in which they are checked; the first that holds for a pod counts.
var rules = []rule{
	{"Ending", "are being ended", func(_ *inspect.Snapshot, pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil }},
	{"NoOwner", "have no controller that recreates them", func(_ *inspect.Snapshot, pod *corev1.Pod) bool {
		owner := metav1.GetControllerOf(pod)
		return owner == nil || owner.Kind == "Node"
	}},
	{"DaemonSet", "belong to their node", func(_ *inspect.Snapshot, pod *corev1.Pod) bool { return suppose.BoundToNode(pod) }},
	{"System", "are of Kubernetes itself", func(_ *inspect.Snapshot, pod *corev1.Pod) bool {
		return corev1helpers.PodPriority(pod) >= systemPriority
	}},
	{"OtherScheduler", "are placed by another scheduler", func(s *inspect.Snapshot, pod *corev1.Pod) bool { return !s.Schedules(pod) }},
	{"PodGroup", "are placed with their pod group", func(_ *inspect.Snapshot, pod *corev1.Pod) bool { return inspect.PodGroupOf(pod) != "" }},
	{"ToleratesGuard", "tolerate the taint of a cordoned node, so that they cannot be kept from coming back", func(_ *inspect.Snapshot, pod *corev1.Pod) bool {
		return slices.ContainsFunc(guards, func(taint corev1.Taint) bool {
			return corev1helpers.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &taint, false)
		})
	}},
	{"OwnVolume", "have a volume of their own, which is deleted with them", func(_ *inspect.Snapshot, pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil })
	}},
	{"SharedClaim", "share a claim, which stays allocated when one of them goes", sharesClaim},
}

// fixedBy returns the rule by which a pod on a node may not be moved, or nil.
func fixedBy(s *inspect.Snapshot, pod *corev1.Pod) *rule {
	for i := range rules {
		if rules[i].holds(s, pod) {
			return &rules[i]
		}
	}
	return nil
}

// guards are the taints that keep pods from nodes while others are moved.
var guards = []corev1.Taint{
	{Key: explain.RoomTaint, Effect: corev1.TaintEffectNoSchedule},
	{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
}

// sharesClaim reports whether a claim that a pod names is of others, too: of pods, or of something else that
// it is reserved for.
func sharesClaim(s *inspect.Snapshot, pod *corev1.Pod) bool {
	self := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	for i := range pod.Spec.ResourceClaims {
		name := pod.Spec.ResourceClaims[i].ResourceClaimName
		if name == nil {
			continue
		}
		ref := inspect.ClaimRef{Namespace: pod.Namespace, Name: *name}
		claim, ok := s.Claim(ref)
		if !ok || claim.DeletionTimestamp != nil || slices.ContainsFunc(s.PodsOf(ref), func(other inspect.PodRef) bool { return other != self }) {
			return true
		}
		if !slices.ContainsFunc(claim.Status.ReservedFor, func(c resourcev1.ResourceClaimConsumerReference) bool {
			return c.Resource == "pods" && c.Name == pod.Name
		}) ||
			len(claim.Status.ReservedFor) != 1 {
			return true // which nothing clears when the pod ends
		}
	}
	return false
}

// replacementOf is the pod that a controller makes in place of another, before it is placed.
func replacementOf(pod *corev1.Pod) *corev1.Pod {
	out := *pod
	out.UID, out.CreationTimestamp = "moved-"+pod.UID, metav1.Time{}
	out.Spec.NodeName, out.Status = "", corev1.PodStatus{}
	return &out
}

// without is a cluster in which some pods have ended.
func without(c *scheduler.Cluster, pods ...*corev1.Pod) *scheduler.Cluster {
	if len(pods) == 0 {
		return c
	}
	ended := make(map[inspect.PodRef]bool, len(pods))
	for _, pod := range pods {
		ended[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = true
	}
	return scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { plan.EndPods(o, ended) }), scheduler.Options{Like: c})
}
