package question

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A claim of a pod may have devices already on nodes where the rest of the pod does not fit. If no node fits,
// kube-scheduler clears the allocation of such a claim itself, unless another pod has reserved it, and tries
// again (PostFilter of its dynamicresources plugin). Of several it takes any, one after each attempt.

// maxReleased is the number of allocated claims of a pod whose release is tried.
const maxReleased = 8

// releaseAllocated proposes to release allocated claims of a pod: each by itself or, if that does not help,
// all that the scheduler may clear.
func releaseAllocated(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, claims []*resourcev1.ResourceClaim, opts Options) ([]explain.Fix, error) {
	sets := [][]*resourcev1.ResourceClaim{}
	// What the pod's group holds is for all pods of the group. A pod may name a claim twice.
	seen := map[inspect.ClaimRef]bool{}
	claims = slices.DeleteFunc(slices.Clone(claims), func(claim *resourcev1.ResourceClaim) bool {
		ref := inspect.RefOf(claim)
		again := seen[ref]
		seen[ref] = true
		return again || inspect.ReservedForGroupOf(pod, claim) || endsOwner(c.Snapshot(), pod, claim, claims)
	})
	filtered := c.Filters().Prepare(pod)
	var cleared []*resourcev1.ResourceClaim // of which the scheduler takes one after each attempt
	for _, claim := range claims[:min(len(claims), maxReleased)] {
		sets = append(sets, []*resourcev1.ResourceClaim{claim})
		if cycle.Clears(filtered, claim) {
			cleared = append(cleared, claim)
		}
	}
	if len(cleared) > 1 {
		sets = append(sets, cleared)
	}
	var out []explain.Fix
	for _, set := range sets {
		if len(set) > 1 && len(out) > 0 {
			break
		}
		without := scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) {
			for _, claim := range set {
				suppose.ReleaseFromUse(o, c.Snapshot(), inspect.RefOf(claim))
			}
		}), scheduler.Options{Like: c})
		e, _, err := podAsIs(ctx, without, pod, opts)
		if err != nil {
			return nil, err
		}
		if e.Verdict == explain.Allocatable && e.Allocation != nil {
			out = append(out, releaseFix(c.Snapshot(), pod, set, cleared, e))
		}
	}
	return out, nil
}

// endsOwner reports whether to release a claim of a pod is to end another pod for which one of the claims was
// made, which is then deleted.
func endsOwner(s *inspect.Snapshot, pod *corev1.Pod, claim *resourcev1.ResourceClaim, claims []*resourcev1.ResourceClaim) bool {
	if len(claim.Status.ReservedFor) == 0 {
		return false // it is released without ending anything
	}
	users := slices.DeleteFunc(slices.Clone(s.PodsOf(inspect.RefOf(claim))), func(user inspect.PodRef) bool {
		return user == inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
	})
	return slices.ContainsFunc(claims, func(c *resourcev1.ResourceClaim) bool { return suppose.GoesWith(c, users) })
}

// releaseFix describes the release of claims with which the pod fits as e says. cleared are the claims that
// the scheduler may clear.
func releaseFix(s *inspect.Snapshot, pod *corev1.Pod, claims, cleared []*resourcev1.ResourceClaim, e *explain.Explanation) explain.Fix {
	f := explain.Fix{Kind: explain.ReleaseClaim, Node: e.Allocation.Node, Nodes: e.Nodes.Allocatable}
	var names, pods []string
	itself := true
	for _, claim := range claims {
		ref := inspect.RefOf(claim)
		h := explain.NewHolder(s, ref)
		for i := range claim.Status.Allocation.Devices.Results {
			r := &claim.Status.Allocation.Devices.Results[i]
			h.Devices = append(h.Devices, inspect.DeviceOf(r))
		}
		f.Claims, names = append(f.Claims, h), append(names, ref.String())
		itself = itself && slices.Contains(cleared, claim)
		for _, user := range h.Pods {
			if user != (inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}) {
				pods = append(pods, "pod "+user.Name)
			}
		}
	}
	f.Message = "release " + words.Shorten(names, 3)
	switch {
	case itself && len(claims) < len(cleared):
		f.Message += ", as kube-scheduler does itself with one of the claims when no node fits, before it tries again"
	case itself:
		f.Message += ", as kube-scheduler does itself when no node fits, before it tries again"
	case len(pods) > 0:
		f.Message += " (used by " + words.Shorten(pods, 3) + ")"
	}
	f.Message = words.OneLine(f.Message)
	return f
}
