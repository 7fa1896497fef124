package cli

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// maxChosen is the number of nodes up to which their images are read, which are by far the largest part of a node.
const maxChosen = 1000

// hasChoice reports whether kube-scheduler may choose among several nodes for a pod.
func hasChoice(p *explain.Plan) bool {
	return slices.ContainsFunc(p.Replay.Placed, func(p explain.PlacedPod) bool { return p.AnyOf > 1 })
}

// choosing reads what kube-scheduler chooses nodes by, of a server. What is not read leaves several nodes to choose from.
func (o *planOptions) choosing(ctx context.Context, s *inspect.Snapshot, pods []*corev1.Pod) (cycle.Choosing, error) {
	if o.reader.offline() || len(s.Nodes()) > maxChosen {
		return cycle.Choosing{}, nil
	}
	finder := &owners{reader: o.reader}
	if err := finder.connect(); err != nil {
		return cycle.Choosing{}, err
	}
	var namespaces []string
	for _, pod := range pods {
		namespaces = append(namespaces, pod.Namespace)
	}
	read, err := finder.finder.Choosing(ctx, namespaces)
	if err != nil {
		return cycle.Choosing{}, fmt.Errorf("reading what nodes are chosen by: %w", err)
	}
	for _, text := range read.Unread {
		o.streams.note("warning: %s: kube-scheduler may choose among more nodes than it seems", text)
	}
	return choosingOf(read, pods), nil
}

// choosingOf is what was read, with the images of the pods.
func choosingOf(read *live.Choosing, pods []*corev1.Pod) cycle.Choosing {
	out := cycle.Choosing{Pods: map[inspect.PodRef]*corev1.Pod{}}
	if read.Nodes != nil {
		out.Images = scores.ImagesOf(read.Nodes)
	}
	if read.Selectors {
		out.Workloads = &scores.Workloads{
			Services: read.Services, ReplicationControllers: read.ReplicationControllers,
			ReplicaSets: read.ReplicaSets, StatefulSets: read.StatefulSets,
		}
	}
	for _, pod := range pods { // of files, with their images
		out.Pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	for _, pod := range read.Pods {
		out.Pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	return out
}
