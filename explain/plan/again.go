package plan

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ComesBack reports whether the controller of a pod makes another one. Nobody does for those that the kubelet
// runs from files.
func ComesBack(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind != "Node"
}

// Follow says of pods that have gone what becomes of those that are made in their place, unless that is
// known.
func Follow(r *explain.Replay, gone []explain.GonePod) {
	placed, pending := map[explain.Subject]*explain.PlacedPod{}, map[explain.Subject]*explain.PendingPod{}
	for i := range r.Placed {
		placed[r.Placed[i].Subject] = &r.Placed[i]
	}
	for i := range r.Pending {
		pending[r.Pending[i].Subject] = &r.Pending[i]
	}
	for i := range gone {
		g := &gone[i]
		if g.Controller == "" || g.Again != nil {
			continue
		}
		if g.Again = placed[g.Subject]; g.Again != nil {
			g.Then = explain.ComesBack
		} else {
			g.Then, g.Pending = explain.LeftWaiting, pending[g.Subject]
		}
	}
}

// EndPods takes pods away, and what goes with them: claims that were made for one of them alone, and the
// devices of those that were reserved for nobody else.
func EndPods(o *inspect.Objects, ended map[inspect.PodRef]bool) {
	o.Pods = slices.DeleteFunc(slices.Clone(o.Pods), func(p *corev1.Pod) bool { return ended[refOf(p)] })
	claims := make([]*resourcev1.ResourceClaim, 0, len(o.Claims))
	for _, claim := range o.Claims {
		owner := metav1.GetControllerOfNoCopy(claim)
		if owner != nil && owner.Kind == "Pod" && ended[inspect.PodRef{Namespace: claim.Namespace, Name: owner.Name}] {
			continue
		}
		gone := func(r resourcev1.ResourceClaimConsumerReference) bool {
			return r.Resource == "pods" && r.APIGroup == "" && ended[inspect.PodRef{Namespace: claim.Namespace, Name: r.Name}]
		}
		if slices.ContainsFunc(claim.Status.ReservedFor, gone) {
			claim = claim.DeepCopy()
			claim.Status.ReservedFor = slices.DeleteFunc(claim.Status.ReservedFor, gone)
			if len(claim.Status.ReservedFor) == 0 {
				claim.Status = resourcev1.ResourceClaimStatus{}
			}
		}
		claims = append(claims, claim)
	}
	o.Claims = claims
}

// Replacement is the pod that the controller of another one makes in its place. It is called the same, so
// that one can tell whose place it takes. All are made at one time: which of them comes first is not known.
func Replacement(pod *corev1.Pod, now time.Time) *corev1.Pod {
	out := pod.DeepCopy()
	out.UID, out.CreationTimestamp, out.DeletionTimestamp = types.UID("again-"+string(pod.UID)), metav1.NewTime(now), nil
	out.Spec.NodeName, out.Status = "", corev1.PodStatus{}
	return out
}

func refOf(pod *corev1.Pod) inspect.PodRef {
	return inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
}
