package plan

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/scores"
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

// The runs that differ by the order of equal turns, by when pods are tried again, or by which of several nodes kube-scheduler chooses are
// all played if they are few.
const maxRuns, maxRunPods = 256, 4096

// allRuns plays every choice that kube-scheduler has, and counts in how many of the runs each pod is placed. It is not known if there are too
// many runs.
func (r *replay) allRuns(ctx context.Context, pods []*corev1.Pod) (placed map[explain.Subject]int, runs int, known bool, err error) {
	path := []int{}
	placed = map[explain.Subject]int{}
	for runs = 1; ; runs++ {
		if runs > maxRuns || runs*len(pods) > maxRunPods {
			return nil, 0, false, nil
		}
		at := 0
		var widths []int
		trial := newFreeReplay(newSimulation(r.base))
		if r.choosing != nil {
			trial = newReplay(newSimulation(r.base), r.choosing.Choosing)
		}
		choose := func(n int) int {
			if n == 1 {
				return 0
			}
			if at == len(path) {
				path = append(path, 0)
			}
			widths = append(widths, n)
			at++
			return path[at-1]
		}
		trial.choose = func(nodes []*corev1.Node) int { return choose(len(nodes)) }
		if err := trial.runAnyOrder(ctx, pods, choose); err != nil || trial.doubtful {
			return nil, 0, false, err
		}
		for i := range trial.out.Placed {
			placed[trial.out.Placed[i].Subject]++
		}
		last := len(path) - 1
		for last >= 0 && path[last]+1 >= widths[last] {
			last--
		}
		if last < 0 {
			return placed, runs, true, nil
		}
		path = append(path[:last:last], path[last]+1)
	}
}

// runAnyOrder is run, in which choose says which of several pods is next: of those whose turn is the same, or of those that were left waiting and
// may fit now. Of pods that differ in nothing but their names, the first goes first.
func (r *replay) runAnyOrder(ctx context.Context, pods []*corev1.Pod, choose func(n int) int) error {
	queue := make([]*corev1.Pod, 0, len(pods))
	for _, i := range cycle.QueueOrder(r.cluster.Snapshot(), objects(pods)) {
		queue = append(queue, pods[i])
		r.asked = append(r.asked, pods[i])
	}
	had := map[inspect.PodRef]bool{}
	for {
		queue = slices.DeleteFunc(queue, func(pod *corev1.Pod) bool { return had[refOf(pod)] }) // they had their turn with their group
		next, again := r.firstInQueue(queue), r.retries()
		if len(next)+len(again) == 0 {
			return nil
		}
		at, pod := choose(len(next)+len(again)), (*corev1.Pod)(nil)
		if at < len(next) {
			pod = queue[next[at]]
			queue = slices.Delete(slices.Clone(queue), next[at], next[at]+1)
		} else {
			w := r.waiting[again[at-len(next)]]
			pod = w.pod
			r.waiting = slices.DeleteFunc(slices.Clone(r.waiting), func(other waiting) bool {
				if w.gang != "" && other.gang == w.gang && other.pod.Namespace == pod.Namespace {
					delete(had, refOf(other.pod))
					return true
				}
				return other.pod == pod
			})
		}
		if err := r.take(ctx, pod, had); err != nil {
			return err
		}
	}
}

// firstInQueue returns the indices of the pods that may be the next of a queue, one of each shape.
func (r *replay) firstInQueue(queue []*corev1.Pod) []int {
	var out []int
	shapes := map[string]bool{}
	for i, pod := range queue {
		if i > 0 && !sameTurn(queue[0], pod) {
			break
		}
		if i+1 == len(queue) && i == 0 {
			return []int{0}
		}
		shape := cycle.PodMember(r.cluster, pod, cycle.Options{}).Shape
		if shape == "" || !shapes[shape] {
			shapes[shape] = true
			out = append(out, i)
		}
	}
	return out
}

// retries returns the indices of the pods that were left waiting and may fit now, those of a group once.
func (r *replay) retries() []int {
	var out []int
	gangs := map[string]bool{}
	for i, w := range r.waiting {
		gang := w.pod.Namespace + "/" + w.gang
		if !r.mayFitNow(&w) || w.gang != "" && gangs[gang] {
			continue
		}
		gangs[gang] = true
		out = append(out, i)
	}
	return out
}
