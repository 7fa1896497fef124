package plan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/scores"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Choosing is what kube-scheduler chooses by among the nodes that fit a pod, and what is in no snapshot. What is nil is not known;
// then more nodes may be chosen.
type Choosing struct {
	Images    *scores.Images
	Workloads *scores.Workloads
	// Pods are those that are placed, with their images, which those of a snapshot have not.
	Pods map[inspect.PodRef]*corev1.Pod
}

// chooser says which of the nodes that fit kube-scheduler may choose.
type chooser struct {
	Choosing
	// known are the scorers of shapes, of which the next one takes over what is still true.
	known map[string]*scores.Scorer
	// candidates is memory that is used again.
	candidates []scores.Candidate
}

// among narrows the nodes of a turn to those that kube-scheduler may choose. failure is why it chooses none, or "".
func (c *chooser) among(ctx context.Context, s *simulation, t *turn, pod *corev1.Pod) (failure string, err error) {
	if len(t.nodes) < 2 {
		return "", nil
	}
	claims := claimsOf(s.cluster.Snapshot(), pod)
	candidates := slices.Grow(c.candidates[:0], len(t.nodes))
	for _, node := range t.nodes {
		candidates = append(candidates, scores.Candidate{Node: inspect.NodeName(node.Name)})
	}
	c.candidates = candidates
	if slices.ContainsFunc(claims, hasAlternatives) {
		if err := s.allocations(ctx, t, candidates); err != nil {
			return "", err
		}
	}
	scorer := scores.Prepare(s.cluster.Filters(), pod, scores.Options{
		Claims: claims, Images: c.Images, Workloads: c.Workloads, Whole: c.Pods[refOf(pod)],
	}, c.known[t.member.Shape])
	if t.member.Shape != "" {
		c.known[t.member.Shape] = scorer
	}
	choice := scorer.Choose(candidates)
	if choice.Failure != "" {
		return choice.Failure, nil
	}
	chosen := make([]*corev1.Node, 0, len(choice.Nodes))
	for _, node := range t.nodes { // both are in the order of the cluster
		if n := len(chosen); n < len(choice.Nodes) && choice.Nodes[n] == inspect.NodeName(node.Name) {
			chosen = append(chosen, node)
		}
	}
	t.nodes = chosen
	return "", nil
}

// claimsOf are the claims of a pod that exist, in the order of its spec.
func claimsOf(s *inspect.Snapshot, pod *corev1.Pod) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for i := range pod.Spec.ResourceClaims {
		entry := &pod.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(pod, entry)
		if !ok {
			if shared, found := s.GroupClaimFor(pod, entry); found {
				name = shared.Name
			}
		}
		if claim, found := s.Claim(inspect.ClaimRef{Namespace: pod.Namespace, Name: name}); found {
			out = append(out, claim)
		}
	}
	return out
}

// hasAlternatives reports whether a claim leaves a choice, by which nodes are compared.
func hasAlternatives(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool { return len(r.FirstAvailable) > 0 })
}

// allocations finds out what each candidate would give the claims of a turn.
func (s *simulation) allocations(ctx context.Context, t *turn, candidates []scores.Candidate) error {
	answer, err := t.member.Ask(ctx, s.cluster, t.nodes)
	if err != nil {
		return err
	}
	at := make(map[inspect.NodeName]int, len(candidates))
	for i := range candidates {
		at[candidates[i].Node] = i
	}
	for i := range answer.Options {
		o := &answer.Options[i]
		taking, err := o.Take(ctx)
		if err != nil {
			return fmt.Errorf("comparing node %s: %w", o.Node, err)
		}
		for _, claim := range taking.Claims {
			candidates[at[o.Node]].Allocations = append(candidates[at[o.Node]].Allocations, *claim.Status.Allocation)
		}
	}
	return nil
}

// The runs that differ by which of several nodes kube-scheduler chooses are all played if they are few.
const maxRuns, maxRunPods = 256, 4096

// allRuns plays every choice of nodes, and reports whether all place the same pods. It is not known if there are too many runs.
func (r *replay) allRuns(ctx context.Context, pods []*corev1.Pod) (same, known bool, err error) {
	path := []int{}
	want := placedNames(r)
	for runs := 1; ; runs++ {
		if runs > maxRuns || runs*len(pods) > maxRunPods {
			return false, false, nil
		}
		at := 0
		var widths []int
		trial := newFreeReplay(newSimulation(r.base))
		if r.choosing != nil {
			trial = newReplay(newSimulation(r.base), r.choosing.Choosing)
		}
		trial.choose = func(nodes []*corev1.Node) int {
			if len(nodes) == 1 {
				return 0
			}
			if at == len(path) {
				path = append(path, 0)
			}
			widths = append(widths, len(nodes))
			at++
			return path[at-1]
		}
		if err := trial.run(ctx, pods); err != nil {
			return false, false, err
		}
		if trial.doubtful {
			return false, false, nil
		}
		trial.about = r.about
		trial.leaveOut()
		if !slices.Equal(placedNames(trial), want) {
			return false, true, nil
		}
		last := len(path) - 1
		for last >= 0 && path[last]+1 >= widths[last] {
			last--
		}
		if last < 0 {
			return true, true, nil
		}
		path = append(path[:last:last], path[last]+1)
	}
}

// placedNames are the pods that a replay places, sorted.
func placedNames(r *replay) []string {
	var out []string
	for i := range r.out.Placed {
		out = append(out, r.out.Placed[i].Subject.FullName())
	}
	slices.Sort(out)
	return out
}
