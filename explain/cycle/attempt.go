package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The scheduler writes the claim for the extended resources of a pod just before it binds the pod. If there
// is one and the pod is not bound, the scheduler is about to bind it, or failed to: then the next attempt
// deletes the claim, whatever else it finds, and the one after that decides without it (PostFilter of its
// DynamicResources plugin).

// StartOfAttempt is the cluster as the scheduler finds it when it decides about a pod anew: without a claim
// that an attempt to schedule the pod has written. The note tells of that claim; it is nil if there is none.
func StartOfAttempt(c *scheduler.Cluster, pod *corev1.Pod) (*scheduler.Cluster, *explain.Note) {
	if pod.Spec.NodeName != "" || pod.UID == "" || extendedOf(c.Snapshot(), pod) == nil {
		return c, nil
	}
	claim := claimOfAttempt(c.Snapshot().Objects().Claims, pod)
	if claim == nil {
		return c, nil
	}
	note := &explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(
		"kube-scheduler has made the claim %s for its extended resources: it binds the pod now, or deletes the claim and tries again; decided without it", claim.Name)}
	without := c.Snapshot().With(func(o *inspect.Objects) {
		o.Claims = slices.DeleteFunc(o.Claims, func(other *resourcev1.ResourceClaim) bool { return other == claim })
	})
	return scheduler.NewCluster(without, scheduler.Options{Like: c}), note
}

// claimOfAttempt finds the claim for extended resources that the scheduler wrote for a pod. The claims are
// sorted by name.
func claimOfAttempt(claims []*resourcev1.ResourceClaim, pod *corev1.Pod) *resourcev1.ResourceClaim {
	prefix := pod.Name + "-extended-resources-"
	prefix = prefix[:min(len(prefix), generatedLength)]
	first, _ := slices.BinarySearchFunc(claims, inspect.ClaimRef{Namespace: pod.Namespace, Name: prefix}, func(c *resourcev1.ResourceClaim, at inspect.ClaimRef) int {
		return cmp.Or(strings.Compare(c.Namespace, at.Namespace), strings.Compare(c.Name, at.Name))
	})
	for _, claim := range claims[first:] {
		if claim.Namespace != pod.Namespace || !strings.HasPrefix(claim.Name, prefix) {
			return nil
		}
		owner := metav1.GetControllerOfNoCopy(claim)
		if claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" && owner != nil && owner.UID == pod.UID && owner.Name == pod.Name {
			return claim
		}
	}
	return nil
}

// generatedLength is how long the API server leaves the beginning of a name that it generates.
const generatedLength = 58
