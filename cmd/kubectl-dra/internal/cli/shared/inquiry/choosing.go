package inquiry

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// MaxChosen is the number of nodes up to which their images are read, which are by far the largest part of a
// node.
const MaxChosen = 1000

// Choosing reads what kube-scheduler chooses nodes by, of a server, and says what could not be read, which
// leaves several nodes to choose from.
func (o *Options) Choosing(ctx context.Context, s *inspect.Snapshot, pods []*corev1.Pod) (by replay.Choosing, unread []string, err error) {
	if o.Reader.Offline() || len(s.Nodes()) > MaxChosen {
		return replay.Choosing{}, nil, nil
	}
	finder := &Owners{Reader: o.Reader}
	if err := finder.Connect(); err != nil {
		return replay.Choosing{}, nil, err
	}
	namespaces := words.Each(pods, func(pod *corev1.Pod) string { return pod.Namespace })
	read, err := finder.Finder.Choosing(ctx, namespaces)
	if err != nil {
		return replay.Choosing{}, nil, fmt.Errorf("reading what nodes are chosen by: %w", err)
	}
	return choosingOf(read, pods), read.Unread, nil
}

// choosingOf is what was read, and the pods of files.
func choosingOf(read *live.Choosing, pods []*corev1.Pod) replay.Choosing {
	out := replay.Choosing{Workloads: read.Selecting, Pods: map[inspect.PodRef]*corev1.Pod{}}
	if read.Nodes != nil {
		out.Images = scores.ImagesOf(read.Nodes)
	}
	for _, pod := range pods { // of files, with their images, which those of a snapshot have not
		if slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image == "" }) {
			continue
		}
		out.Pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	for _, pod := range read.Pods {
		out.Pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = pod
	}
	return out
}
