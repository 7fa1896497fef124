package question

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Decision is what the scheduler would do with a pod, or with a claim by itself, without why. It costs a fraction of an
// explanation.
type Decision struct {
	Verdict explain.Verdict
	// Node is where a pod is put of several nodes that fit, by supposition: the first of them. It is "" if the verdict is no
	// yes, or a claim that was asked about is not tied to a node.
	Node inspect.NodeName
	// Local says that all that the subject takes is of that node, so that nothing changes for others.
	Local bool
	// Question is as it was put to the nodes. It is nil if no node was asked.
	Question *whatif.Question

	took *taking
}

// Decide decides about a pod or a claim that need not be in the snapshot. Errors are those of [Claim].
func Decide(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts Options) (*Decision, error) {
	opts.verdictOnly = true
	e, q, err := ask(ctx, c, subject, opts)
	if err != nil {
		return nil, err
	}
	d := &Decision{Verdict: e.Verdict, Question: q}
	if d.took, err = takingOf(ctx, c.Snapshot(), subject, e, q); err != nil || d.took == nil {
		return d, err
	}
	if e.Allocation != nil {
		d.Node = e.Allocation.Node
	}
	if d.took.Pod != nil {
		d.Node = inspect.NodeName(d.took.Pod.Spec.NodeName)
	}
	d.Local = d.Node != ""
	for _, claim := range d.took.Claims {
		d.Local = d.Local && whatif.PinnedNode(claim.Status.Allocation.NodeSelector) == d.Node
	}
	return d, nil
}

// Among returns the options for a question to some of the nodes of the snapshot.
func (o Options) Among(nodes []*corev1.Node) Options {
	o.nodes = nodes
	return o
}

// Places reports whether the subject takes anything of the cluster by the decision.
func (d *Decision) Places() bool { return d.took != nil }

// Put writes into objects what the subject takes by the decision: its claims with their devices, and the pod on its node.
func (d *Decision) Put(o *inspect.Objects) {
	if d.took == nil {
		return
	}
	cycle.Put(o, d.took.Taking)
}

// Supposing returns the options for a question in a cluster in which decisions have put what they take: neither to release
// such claims nor to end such pods is a fix.
func (o Options) Supposing(decisions []*Decision) Options {
	o.supposed, o.supposedPods = map[inspect.ClaimRef]bool{}, map[inspect.PodRef]bool{}
	for _, d := range decisions {
		if d.took == nil {
			continue
		}
		for _, claim := range d.took.Claims {
			o.supposed[inspect.RefOf(claim)] = true
		}
		if pod := d.took.Pod; pod != nil {
			o.supposedPods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}] = true
		}
	}
	return o
}

// PendingClaims returns the claims of a pod that have no devices yet, in the order of [Decision.Question]: those that exist,
// and copies of those that are still to be made from templates.
func PendingClaims(s *inspect.Snapshot, pod *corev1.Pod) []*resourcev1.ResourceClaim {
	return cycle.ClaimsFor(s, pod).Pending
}
