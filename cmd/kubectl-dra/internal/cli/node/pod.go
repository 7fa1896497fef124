package node

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// podOf is the pod that NAME or NAMESPACE/NAME means. Without a namespace it is that of the other commands.
func podOf(text string, reader *sources.Reader) (inspect.PodRef, error) {
	if text == "" {
		return inspect.PodRef{}, nil
	}
	namespace, name, given := strings.Cut(text, "/")
	if !given {
		namespace, name = "", text
	}
	if name == "" || given && namespace == "" || strings.Contains(name, "/") {
		return inspect.PodRef{}, console.Usagef("--pod takes NAME or NAMESPACE/NAME, not %q", text)
	}
	if given {
		return inspect.PodRef{Namespace: namespace, Name: name}, nil
	}
	namespace, err := reader.Namespace()
	return inspect.PodRef{Namespace: namespace, Name: name}, err
}

// findPod says on which node the pod is that was asked for, and refuses if nobody knows it or the kubelet is
// that of another node.
func (o *nodeOptions) findPod(view *node.View, s *inspect.Snapshot) error {
	ref := o.kubelet.Pod
	pod, known := s.Pod(ref)
	on := inspect.NodeName("")
	if known {
		on = inspect.NodeName(pod.Spec.NodeName)
	}
	if len(view.Pods) == 0 {
		if err := o.unknownPod(view, s, known, on); err != nil {
			return err
		}
	}
	if o.name != "" && on != "" && on != o.name {
		return fmt.Errorf("pod %s is on node %s, not on %s", ref, on, o.name)
	}
	o.name = cmp.Or(o.name, on)
	return nil
}

// unknownPod is what there is to say of a pod that the kubelet does not know, or that it was not asked for.
func (o *nodeOptions) unknownPod(view *node.View, s *inspect.Snapshot, known bool, on inspect.NodeName) error {
	ref, asked := o.kubelet.Pod, view.Read(node.PodResources)
	switch {
	case !known && asked && s.Health(inspect.Pods).State != inspect.Synced:
		return fmt.Errorf("the kubelet that answers here does not know pod %s", ref)
	case !known:
		return inquiry.NotFound(s, inquiry.Pod, ref.Namespace, ref.Name)
	case on == "":
		return fmt.Errorf("pod %s is on no node yet", ref)
	case asked && on != o.name:
		return fmt.Errorf("the kubelet that answers here does not know pod %s, which is on node %s", ref, on)
	}
	return nil
}

// readAgain asks for pods one by one if the kubelet could not list them.
func (o *nodeOptions) readAgain(ctx context.Context, view *node.View, s *inspect.Snapshot) {
	var refs []inspect.PodRef
	for _, pod := range view.KubeletPods {
		if !inspect.Ended(pod) {
			refs = words.AppendNew(refs, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	for _, pod := range s.Objects().Pods {
		if inspect.NodeName(pod.Spec.NodeName) == o.name && !inspect.Ended(pod) {
			refs = words.AppendNew(refs, inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	if !o.late {
		ctx, cancel := context.WithTimeout(ctx, o.patience())
		defer cancel()
		view.ReadPods(ctx, o.kubelet, refs)
	}
}
