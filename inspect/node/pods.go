package node

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// podsSocket is where a kubelet serves its Pods API, below its directory.
var podsSocket = filepath.Join("pods-api", "pods-api.sock")

// readKubeletPods asks the kubelet which pods it knows. Kubelets before 1.36, and those without the gate
// PodsAPI, do not serve it.
func (r *reading) readKubeletPods(ctx context.Context, socket string) {
	var list *pods.ListPodsResponse
	err := atSocket(ctx, socket, kubeletTimeout, func(ctx context.Context, c *grpc.ClientConn) (err error) {
		list, err = pods.NewPodsClient(c).ListPods(ctx, &pods.ListPodsRequest{})
		return err
	})
	if status.Code(err) == codes.Unimplemented {
		r.note(PodsAPI, inspect.Health{State: inspect.NotServed, Message: "the kubelet does not serve it"})
		return
	}
	if err = plainError(err); err == nil {
		r.KubeletPods, err = ParsePods(list.GetPods())
	}
	r.health(PodsAPI, err)
}

// ParsePods reads the pods of an answer of the Pods API, which are objects in their binary form. They are
// returned sorted by namespace and name.
func ParsePods(in [][]byte) ([]*corev1.Pod, error) {
	var out []*corev1.Pod
	for i, data := range in {
		pod := &corev1.Pod{}
		if err := pod.Unmarshal(data); err != nil {
			return nil, fmt.Errorf("reading pod %d of %d: %w", i+1, len(in), err)
		}
		out = append(out, pod)
	}
	slices.SortStableFunc(out, func(a, b *corev1.Pod) int { return refOf(a).Compare(refOf(b)) })
	return out, nil
}
