package question

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Pod explains the claims of a pod of the snapshot together, since they must all fit on one node. Errors are
// those of [Claim].
func Pod(ctx context.Context, c *scheduler.Cluster, ref inspect.PodRef, opts Options) (*explain.Explanation, error) {
	pod, ok := c.Snapshot().Pod(ref)
	if !ok {
		return nil, cycle.NotFound("pod", ref.String())
	}
	return PodObject(ctx, c, pod, opts)
}

// PodObject explains the claims of a pod that need not be in the snapshot. Errors are those of [Claim].
func PodObject(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, error) {
	e, _, err := askPod(ctx, c, pod, opts)
	return e, err
}

// askPod is PodObject. It also returns the question that was put to the nodes, which is nil if none was.
func askPod(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, *whatif.Question, error) {
	e, q, err := podAsIs(ctx, c, pod, opts)
	if err == nil && pod.Spec.NodeName == "" && e.Verdict == explain.Unsatisfiable && !opts.verdictOnly && !opts.ReasonOnly {
		err = lastFixes(ctx, c, pod, e, q, opts)
	}
	if err == nil {
		sinceBinding(e, c.Snapshot(), pod, opts)
	}
	return e, q, err
}

// lastFixes adds the fixes that release claims of the pod itself, and where there is no fix what it could do
// without.
func lastFixes(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, e *explain.Explanation, q *whatif.Question, opts Options) error {
	allocated := slices.DeleteFunc(cycle.ClaimsFor(c.Snapshot(), pod).Allocated, func(claim *resourcev1.ResourceClaim) bool {
		return opts.supposed[inspect.RefOf(claim)]
	})
	fixes, err := releaseAllocated(ctx, c, pod, allocated, opts)
	if len(fixes) > 0 {
		e.Fixes, e.NoHelp = append(fixes, e.Fixes...), nil // which is about other claims
	}
	if err == nil && len(e.Fixes) == 0 && len(e.Advice) == 0 && q != nil && !q.Exhausted() {
		e.Fixes, err = lastResorts(ctx, c, pod, opts)
	}
	return err
}

// podAsIs is PodObject without the fixes that release claims of the pod itself.
func podAsIs(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, opts Options) (*explain.Explanation, *whatif.Question, error) {
	c, attempt := cycle.StartOfAttempt(c, pod)
	s := c.Snapshot()
	e := &explain.Explanation{Subject: explain.Subject{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}, Basis: cycle.BasisOf(c, pod)}
	claims := cycle.ClaimsFor(s, pod)
	e.Waits = append(e.Waits, claims.Notes...)
	if attempt != nil {
		e.Waits = append(e.Waits, *attempt)
	}
	if len(claims.Pending) > 0 || pod.Spec.NodeName == "" && !s.Schedules(pod) {
		e.Waits = append(e.Waits, podState(s, pod, opts)...)
	}
	e.Waits = append(e.Waits, claimsToCome(c, pod)...)
	e.Scheduler = SchedulerSays(s, []inspect.PodRef{{Namespace: pod.Namespace, Name: pod.Name}}, opts)
	nodes, err := cycle.NodesFor(s, opts.Cycle())
	if err != nil {
		return nil, nil, err
	}
	if claims.Blocked != "" {
		e.Nodes.Total = len(nodes)
		return e, nil, explainBlocked(e, s, pod, claims, changed(ctx, c, opts))
	}
	if pod.Spec.NodeName != "" && len(claims.Pending) == 0 {
		e.Nodes.Total, e.Nodes.Allocatable = len(nodes), words.Btoi(slices.ContainsFunc(nodes, func(n *corev1.Node) bool { return n.Name == pod.Spec.NodeName }))
		explainPodAllocated(e, s, pod, claims)
		return e, nil, nil
	}
	q := cycle.Question(c, pod, claims, nodes, opts.Cycle())
	if refused, err := explainHeldBack(ctx, c, q, e, opts); refused || err != nil {
		return e, nil, err
	}
	group := groupOf(q)
	if err := decide(ctx, q, e, opts); err != nil {
		return nil, nil, err
	}
	if e.Verdict == explain.Allocatable && len(claims.Pending) == 0 && q.PerNode == nil && len(claims.Allocated) > 0 {
		explainPodAllocated(e, s, pod, claims)
		e.Say("%s, and can be scheduled on %s", e.Predicate, someNodes(q, e))
		e.Groups = nil // of course it is not where its devices cannot be used
	}
	if group != nil {
		if err := explainGroup(ctx, q, group, e, opts); err != nil {
			return nil, nil, err
		}
	}
	return e, q, nil
}

// changed asks about a pod that was changed. It is nil where only the verdict is wanted.
func changed(ctx context.Context, c *scheduler.Cluster, opts Options) func(*corev1.Pod) (*explain.Explanation, error) {
	if opts.verdictOnly || opts.ReasonOnly {
		return nil
	}
	opts.Events.List = nil // which tell of the pod as it is, that its claim could not be made
	return func(pod *corev1.Pod) (*explain.Explanation, error) { return PodObject(ctx, c, pod, opts) }
}

// claimsToCome tells of volume claims that are decided as they will be.
func claimsToCome(c *scheduler.Cluster, pod *corev1.Pod) []explain.Note {
	var out []explain.Note
	if pod.UID != "" || !slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Ephemeral != nil }) {
		return nil
	}
	for _, name := range c.Filters().ClaimsToCome(pod) {
		out = append(out, explain.Note{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, Message: fmt.Sprintf(
			"its volume claim %s is made once the pod has been created; decided with one made from the template in the pod", name)})
	}
	return out
}

// explainBlocked makes the explanation of a pod that the scheduler does not even try. ask explains the pod
// with an entry changed; if it is nil, no fixes are looked for.
func explainBlocked(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod, claims cycle.Claims, ask func(*corev1.Pod) (*explain.Explanation, error)) (err error) {
	e.Partial = cycle.LimitsOf(s).Remarks
	if claims.Missing != nil && claims.Missing.MayExist(s, pod.Namespace) {
		e.Verdict = explain.Unknown
		e.Remark("not everything could be read, so it is not known whether %s exists", claims.Missing)
		if claims.Missing.Template { // nothing else depends on templates
			e.Partial = append(e.Partial, cycle.DescribeHealth(inspect.Templates, s.Health(inspect.Templates))+": templates may exist that are not seen here")
		}
		return nil
	}
	if text := s.Newer().Of("Pod", pod); text != "" && claims.Missing == nil {
		e.Verdict, e.Partial = explain.Unknown, append(e.Partial, text)
		e.Remark("%s", text)
		return nil
	}
	e.Verdict = explain.Unsatisfiable
	e.Say("cannot be scheduled: %s", claims.Blocked)
	if claims.Missing != nil && !claims.Unnamed && ask != nil {
		e.Fixes, err = claims.Missing.Fixes(pod, s, ask)
	}
	return err
}

// explainPodAllocated makes the explanation of a pod that has all its devices, or needs none.
func explainPodAllocated(e *explain.Explanation, s *inspect.Snapshot, pod *corev1.Pod, claims cycle.Claims) {
	e.Verdict = explain.Allocated
	e.Partial = cycle.LimitsOf(s).Remarks
	e.Allocation = &explain.Allocation{Node: inspect.NodeName(pod.Spec.NodeName)}
	for _, claim := range claims.Allocated {
		e.Allocation.Devices = append(e.Allocation.Devices, replay.DevicesOf(claim)...)
	}
	switch {
	case len(claims.Allocated) == 0:
		e.Say("uses no resource claims")
	default:
		e.Say("has all its devices: %s in %s", words.Count(len(e.Allocation.Devices), "device"), words.Count(len(claims.Allocated), "claim"))
	}
}
