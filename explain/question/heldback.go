package question

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/fix"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// explainHeldBack makes the explanation of a pod that the scheduler refuses before it asks any node. It
// reports whether that is so.
func explainHeldBack(ctx context.Context, c *scheduler.Cluster, q *whatif.Question, e *explain.Explanation, opts Options) (bool, error) {
	p := q.Filtered()
	if p == nil || len(p.Everywhere.Refusals) == 0 {
		return false, nil
	}
	e.Verdict, e.Nodes.Total, e.Partial = explain.Unsatisfiable, len(q.Nodes), cycle.LimitsOf(c.Snapshot()).Remarks
	g := explain.Group{Nodes: namesOf(q.Nodes)}
	for i := range p.Everywhere.Refusals {
		reason := explain.ReasonOf(p.Everywhere.Refusals[i : i+1])
		reason.Told = i == 0 || reason.Message == g.Reasons[0].Message // which several plugins may say
		g.Reasons = append(g.Reasons, reason)
	}
	if len(g.Nodes) > 0 {
		e.Groups = []explain.Group{g}
	}
	e.Say("cannot be scheduled: %s", g.Reasons[0].Message)
	e.Brief = g.Reasons[0].Message
	if opts.verdictOnly {
		return true, nil
	}
	e.Preemption = preemption.Of(q)
	other := func(r filters.Refusal) bool { return r.Code != filters.SchedulingGated }
	if !slices.ContainsFunc(p.Everywhere.Refusals, other) {
		return true, explainGated(ctx, c, q.Pod, e, opts)
	}
	return true, fix.FindForHeldBack(ctx, q, e)
}

// waitForGates is the key of the fix that waits until a pod is no longer held back.
const waitForGates = "scheduling gates"

// explainGated adds what would be true of a pod without its scheduling gates.
func explainGated(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, e *explain.Explanation, opts Options) error {
	free := pod.DeepCopy()
	free.Spec.SchedulingGates = nil
	then, err := PodObject(ctx, c, free, opts)
	if err != nil {
		return err
	}
	subject, once := "without its scheduling gates it", "once the scheduling gates are gone"
	if inspect.HeldBy(pod) != "" {
		subject, once = "a pod of it", "once the controller makes pods"
	}
	if then.Verdict == explain.Allocatable || then.Verdict == explain.Allocated {
		wait := explain.Fix{Kind: explain.WaitFor, Key: waitForGates, Nodes: then.Nodes.Allocatable, Message: afterGates(pod)}
		if then.Allocation != nil {
			wait.Node = then.Allocation.Node
		}
		e.Fixes = append(e.Fixes, wait)
		return nil
	}
	e.Say("%s; %s %s", e.Predicate, subject, then.Predicate)
	e.Conflict, e.Failure, e.Fixes, e.NoHelp = then.Conflict, then.Failure, then.Fixes, then.NoHelp
	if len(e.Fixes) > 0 {
		e.Basis.Remarks = append(e.Basis.Remarks, "what is said to help does so "+once)
	}
	e.Partial = append(e.Partial, then.Partial...)
	return nil
}

// afterGates says who has to do what before a pod that is held back is scheduled.
func afterGates(pod *corev1.Pod) string {
	if inspect.HeldBy(pod) != "" {
		return "wait until the controller makes pods"
	}
	names := make([]string, len(pod.Spec.SchedulingGates))
	for i := range pod.Spec.SchedulingGates {
		names[i] = pod.Spec.SchedulingGates[i].Name
	}
	return fmt.Sprintf("have whoever set the scheduling %s %s remove %s", words.Plural(len(names), "gate", "gates"), words.And(names), words.Plural(len(names), "it", "them"))
}

// namesOf returns the names of nodes.
func namesOf(nodes []*corev1.Node) []inspect.NodeName {
	out := make([]inspect.NodeName, len(nodes))
	for i, node := range nodes {
		out[i] = inspect.NodeName(node.Name)
	}
	return out
}
