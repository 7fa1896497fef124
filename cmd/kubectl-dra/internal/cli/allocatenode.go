package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// candidates are the nodes to try, by name: those that the pod can use and where the claims that are
// allocated already are available.
func (o *allocateOptions) candidates(ctx context.Context, cluster *allocator.Cluster, w *wish) ([]*corev1.Node, error) {
	s := cluster.Snapshot()
	refused := map[string]bool{}
	if w.pod != nil {
		e, err := explain.PodObject(ctx, cluster, w.pod, explain.Options{Node: o.node})
		if err != nil {
			return nil, err
		}
		w.answer = e.Message
		if e.Verdict == explain.Invalid {
			return nil, errors.New(e.Message)
		}
		for _, group := range e.Groups {
			for _, node := range group.Nodes {
				refused[string(node)] = true
			}
		}
	}
	var nodes []*corev1.Node
	for _, node := range s.Nodes() {
		if o.node != "" && node.Name != string(o.node) || refused[node.Name] {
			continue
		}
		ok, err := availableOn(node, w.claims)
		if err != nil {
			return nil, err
		}
		if ok {
			nodes = append(nodes, node)
		}
	}
	return nodes, nil
}

// availableOn reports whether all claims that are allocated are available on the node.
func availableOn(node *corev1.Node, claims []*resourcev1.ResourceClaim) (bool, error) {
	for _, claim := range claims {
		if claim.Status.Allocation == nil || claim.Status.Allocation.NodeSelector == nil {
			continue
		}
		selector, err := nodeaffinity.NewNodeSelector(claim.Status.Allocation.NodeSelector)
		if err != nil {
			return false, fmt.Errorf("reading the node selector of resourceclaim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
		if !selector.Match(node) {
			return false, nil
		}
	}
	return true, nil
}

// refuse says that there is no allocation. Why is the business of explain.
func (o *allocateOptions) refuse(ctx context.Context, cluster *allocator.Cluster, w *wish) error {
	if w.pod != nil {
		o.src.note("%s", w.answer)
		return o.pointToExplain("pod", w.pod.Name)
	}
	if len(w.claims) > 1 {
		where := "any node"
		if o.node != "" {
			where = "node " + string(o.node)
		}
		o.src.note("%s cannot be allocated together on %s", commaList(o.names), where)
	}
	culprit := ""
	for _, claim := range w.pending {
		e, err := explain.ClaimObject(ctx, cluster, claim, explain.Options{Node: o.node})
		if err != nil {
			return err
		}
		o.src.note("%s", e.Message)
		if culprit == "" && e.Verdict != explain.Allocatable {
			culprit = claim.Name
		}
	}
	if culprit == "" {
		return answered(exitNo) // each alone could be allocated
	}
	return o.pointToExplain("claim", culprit)
}

func (o *allocateOptions) pointToExplain(kind, name string) error {
	o.src.note("\"kubectl dra explain %s %s -n %s\" says why", kind, name, o.namespace)
	return answered(exitNo)
}

// addShareIDs gives every share of a device that allows several its identity. As in the scheduler it is
// a random UUID.
func (o *allocateOptions) addShareIDs(s *inspect.Snapshot, allocation *resourcev1.AllocationResult) error {
	if !s.Features().Enabled(inspect.GateConsumableCapacity) {
		return nil
	}
	shareable := map[inspect.DeviceID]bool{}
	for _, slice := range s.Slices() {
		for i := range slice.Spec.Devices {
			if allow := slice.Spec.Devices[i].AllowMultipleAllocations; allow != nil && *allow {
				shareable[inspect.DeviceIDOf(slice, i)] = true
			}
		}
	}
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		if !shareable[inspect.DeviceID{Driver: r.Driver, Pool: r.Pool, Device: r.Device}] {
			continue
		}
		id, err := randomUUID()
		if err != nil {
			return err
		}
		r.ShareID = &id
	}
	return nil
}

func randomUUID() (types.UID, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("drawing a share ID: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, variant of RFC 9562
	return types.UID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])), nil
}

// now is the time at which something is done to a snapshot, to the second as the API keeps it.
func (s *source) now(snapshot *inspect.Snapshot) metav1.Time {
	if s.demo {
		return metav1.NewTime(snapshot.Time()).Rfc3339Copy()
	}
	return metav1.NewTime(s.clock()).Rfc3339Copy()
}

// print prints the claims as they are, or would be, written.
func (o *allocateOptions) print(claims []*resourcev1.ResourceClaim) error {
	switch o.format.Name {
	case "":
		return output.PrintAllocations(o.src.streams.Out, claims)
	case "name":
		return output.PrintClaimNames(o.src.streams.Out, claims)
	}
	return o.format.PrintValue(o.src.streams.Out, output.ClaimObjects(claims))
}
