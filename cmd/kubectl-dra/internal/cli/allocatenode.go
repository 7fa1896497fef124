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
// allocated already are available. It ends with an answer or an error when explain knows better.
func (o *allocateOptions) candidates(ctx context.Context, cluster *allocator.Cluster, w *wish) ([]*corev1.Node, error) {
	opts := explain.Options{Node: o.node}
	refused := map[string]bool{}
	if w.pod != nil {
		e, err := explain.PodObject(ctx, cluster, w.pod, opts)
		if err == nil {
			err = o.accept(e, "pod")
		}
		if err != nil {
			return nil, err
		}
		for _, group := range e.Groups {
			for _, node := range group.Nodes {
				refused[string(node)] = true
			}
		}
	} else if err := o.acceptClaims(ctx, cluster, w, opts); err != nil {
		return nil, err
	}
	var nodes []*corev1.Node
	for _, node := range cluster.Snapshot().Nodes() {
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

// acceptClaims asks about each claim by itself: what cannot be allocated alone cannot be with others.
func (o *allocateOptions) acceptClaims(ctx context.Context, cluster *allocator.Cluster, w *wish, opts explain.Options) error {
	for _, claim := range w.pending {
		e, err := explain.ClaimObject(ctx, cluster, claim, opts)
		if err == nil {
			err = o.accept(e, "claim")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// accept ends the command when the verdict is a no, or that the scheduler gives up.
func (o *allocateOptions) accept(e *explain.Explanation, kind string) error {
	switch e.Verdict {
	case explain.Unsatisfiable:
		o.src.note("%s", e.Message)
		o.src.note("\"kubectl dra explain %s %s -n %s\" says why", kind, e.Subject.Name, e.Subject.Namespace)
		return answered(exitNo)
	case explain.Invalid:
		return errors.New(e.Message)
	}
	return nil
}

// where names the nodes that are asked about.
func (o *allocateOptions) where() string {
	if o.node != "" {
		return "node " + string(o.node)
	}
	return "any node"
}

func claimNames(claims []*resourcev1.ResourceClaim) []string {
	names := make([]string, len(claims))
	for i, claim := range claims {
		names[i] = claim.Namespace + "/" + claim.Name
	}
	return names
}

// firstFit returns the allocation on the first of the nodes on which there is one, or nil. All nodes are
// asked, because an error on any of them makes the scheduler give up.
func firstFit(ctx context.Context, cluster *allocator.Cluster, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) (*allocator.Result, error) {
	var found *allocator.Result
	undecided := ""
	for _, node := range nodes {
		result, err := cluster.Allocate(ctx, node, claims, nil)
		if abort := (*allocator.AbortError)(nil); errors.As(err, &abort) {
			return nil, fmt.Errorf("the scheduler gives up with an error: %w", abort)
		}
		if err != nil {
			return nil, err
		}
		switch {
		case result.Outcome == allocator.Allocated && found == nil:
			found = result
		case result.Outcome == allocator.Undecided:
			undecided = node.Name
		}
	}
	if found == nil && undecided != "" {
		return nil, fmt.Errorf("on node %s the search was given up before it had an answer, and there is none on the other nodes", undecided)
	}
	return found, nil
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

// addShareIDs gives every share of a device that allows several its identity. As in the scheduler it is
// a random UUID; the allocator only marks the shares.
func addShareIDs(allocation *resourcev1.AllocationResult) error {
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		if r.ShareID == nil {
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
