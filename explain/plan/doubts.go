package plan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// UnseenRoom says what is not known of the room in a cluster, a sentence each, for a pod or for a claim, of
// which pod is nil. If there is any, it is not certain that it fits. The error is that of [Place].
func UnseenRoom(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod) ([]string, error) {
	var out []string
	if text := unseenDevices(c.Snapshot()); text != "" {
		out = append(out, text)
	}
	if pod == nil {
		return out, nil
	}
	pods := []*corev1.Pod{pod}
	out = append(out, shortOfQuota(c.Snapshot(), pods)...)
	foreigners, err := otherSchedulers(ctx, c, pods)
	return append(out, foreigners...), err
}

// UnseenPods says what is not known of pods that are to be placed, beside what opts says, a sentence each. If
// there is any, no answer about them is a certain yes: opts.Others may take their room. withNew is the
// cluster with the nodes that could be added. The error is that of [Place].
func UnseenPods(ctx context.Context, c, withNew *scheduler.Cluster, pods []*corev1.Pod, opts Options) ([]string, error) {
	out := unseen(c.Snapshot(), opts.Within, opts.Unseen)
	others, err := rivals(ctx, withNew, pods, opts.Others)
	if err != nil {
		return nil, err
	}
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, pod := range others {
			names[i] = cycle.SubjectOf(pod).FullName()
		}
		out = append(out, fmt.Sprintf("%s too and may take the room first (%s); ask about pending to count all",
			words.Plural(len(names), "1 other pod waits", fmt.Sprintf("%d other pods wait", len(names))), words.Shorten(names, maxNamed)))
	}
	foreigners, err := otherSchedulers(ctx, withNew, pods)
	if err != nil {
		return nil, err
	}
	return slices.Concat(out, foreigners, unknownTurns(c.Snapshot(), pods), shortOfQuota(c.Snapshot(), pods)), nil
}

// ClaimRefsOf returns the claims that a pod uses, as far as their names are known.
func ClaimRefsOf(pod *corev1.Pod) []inspect.ClaimRef {
	var out []inspect.ClaimRef
	for i := range pod.Spec.ResourceClaims {
		if name, ok := inspect.ClaimNameFor(pod, &pod.Spec.ResourceClaims[i]); ok && name != "" {
			out = append(out, inspect.ClaimRef{Namespace: pod.Namespace, Name: name})
		}
	}
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		out = append(out, inspect.ClaimRef{Namespace: pod.Namespace, Name: status.ResourceClaimName})
	}
	return out
}

// maxNamed is the number of objects that a remark names.
const maxNamed = 4
