package replay

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
)

// Choosing is what kube-scheduler chooses by among the nodes that fit a pod, and what is in no snapshot. What
// is nil is not known; then more nodes may be chosen.
type Choosing struct {
	Images    *scores.Images
	Workloads *inspect.Selecting
	// Pods are those that are placed, with their images, which those of a snapshot have not.
	Pods map[inspect.PodRef]*corev1.Pod
}

// complete reports whether all is known.
func (c *Choosing) complete() bool { return c.Images != nil && c.Workloads != nil }

// chooser says which of the nodes that fit kube-scheduler may choose.
type chooser struct {
	Choosing
	// known are the scorers of shapes, of which the next one takes over what is still true.
	known map[string]*scores.Scorer
	// candidates is memory that is used again.
	candidates []scores.Candidate
}

func newChooser(by Choosing) *chooser {
	return &chooser{Choosing: by, known: map[string]*scores.Scorer{}}
}

// among narrows the feasible nodes of a pod to those that kube-scheduler may choose. failure is why it
// chooses none, or "".
func (c *chooser) among(ctx context.Context, in *scheduler.Cluster, found *Feasible, pod *corev1.Pod) (failure string, err error) {
	if len(found.Nodes) < 2 {
		return "", nil
	}
	claims := in.Snapshot().ClaimsOf(pod)
	candidates := slices.Grow(c.candidates[:0], len(found.Nodes))
	for _, node := range found.Nodes {
		candidates = append(candidates, scores.Candidate{Node: inspect.NodeName(node.Name)})
	}
	c.candidates = candidates
	if slices.ContainsFunc(claims, hasAlternatives) {
		if err := allocations(ctx, in, found, candidates); err != nil {
			return "", err
		}
	}
	shape := found.Member.Shape
	scorer := scores.Prepare(in.Filters(), pod, scores.Options{
		Claims: claims, Images: c.Images, Workloads: c.Workloads, Whole: c.Pods[refOf(pod)], Devices: in.ClassDevices,
	}, c.known[shape])
	if shape != "" {
		c.known[shape] = scorer
	}
	choice := scorer.Choose(candidates)
	if choice.Failure != "" {
		return choice.Failure, nil
	}
	chosen := make([]*corev1.Node, 0, len(choice.Nodes))
	for _, node := range found.Nodes { // both are in the order of the cluster
		if n := len(chosen); n < len(choice.Nodes) && choice.Nodes[n] == inspect.NodeName(node.Name) {
			chosen = append(chosen, node)
		}
	}
	found.Nodes = chosen
	return "", nil
}

// Choose is what the pod of a question has on the node that kube-scheduler chooses, or on the first of
// several that are as good. It is nil if kube-scheduler fails to choose one, or has nothing to choose.
func Choose(ctx context.Context, q *whatif.Question, by Choosing) (*Reservation, error) {
	if q.Pod == nil { // it is on its node
		return nil, nil
	}
	found := &Feasible{Member: PodMember(q.Cluster, q.Pod, cycle.Options{})}
	at := map[string]int{} // the answers of nodes
	for i := range q.Answers {
		if a := &q.Answers[i]; a.Allocatable() {
			for _, n := range a.Nodes {
				at[q.Nodes[n].Name] = i
			}
		}
	}
	for _, node := range q.Nodes {
		if _, fits := at[node.Name]; fits {
			found.Nodes = append(found.Nodes, node)
		}
	}
	if len(found.Nodes) == 0 {
		return nil, nil
	}
	if failure, err := newChooser(by).among(ctx, q.Cluster, found, q.Pod); err != nil || failure != "" {
		return nil, err
	}
	node := slices.Index(q.Nodes, found.Nodes[0])
	return Reserve(ctx, q, &q.Answers[at[found.Nodes[0].Name]], node, q.Pod)
}

// CanCompare reports whether kube-scheduler can compare nodes for a pod, which it fails to do if it cannot
// read what the pod prefers.
func CanCompare(c *scheduler.Cluster, pod *corev1.Pod) bool {
	nodes := c.Snapshot().Nodes()
	var two []scores.Candidate
	for _, node := range nodes[:min(2, len(nodes))] {
		two = append(two, scores.Candidate{Node: inspect.NodeName(node.Name)})
	}
	return scores.Prepare(c.Filters(), pod, scores.Options{Claims: c.Snapshot().ClaimsOf(pod)}, nil).Choose(two).Failure == ""
}

// hasAlternatives reports whether a claim leaves a choice, by which nodes are compared.
func hasAlternatives(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return len(r.FirstAvailable) > 0 })
}

// allocations finds out what each candidate would give the claims of a pod.
func allocations(ctx context.Context, in *scheduler.Cluster, found *Feasible, candidates []scores.Candidate) error {
	answer, err := found.Member.Ask(ctx, in, found.Nodes)
	if err != nil {
		return err
	}
	at := make(map[inspect.NodeName]int, len(candidates))
	for i := range candidates {
		at[candidates[i].Node] = i
	}
	for i := range answer.Options {
		o := &answer.Options[i]
		reservation, err := o.Reserve(ctx)
		if err != nil {
			return fmt.Errorf("comparing node %s: %w", o.Node, err)
		}
		for _, claim := range reservation.Claims {
			candidates[at[o.Node]].Allocations = append(candidates[at[o.Node]].Allocations, *claim.Status.Allocation)
		}
	}
	return nil
}
