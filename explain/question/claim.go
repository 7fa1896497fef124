package question

import (
	"context"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Claim explains a claim of the snapshot. The error wraps [ErrNotFound] if there is no such claim or node,
// and is that of the context if that ends. That a claim cannot be allocated is an answer and no error.
func Claim(ctx context.Context, c *scheduler.Cluster, ref inspect.ClaimRef, opts Options) (*explain.Explanation, error) {
	claim, ok := c.Snapshot().Claim(ref)
	if !ok {
		return nil, cycle.NotFound("resourceclaim", ref.String())
	}
	return ClaimObject(ctx, c, claim, opts)
}

// ClaimObject explains a claim that need not be in the snapshot. Errors are those of [Claim].
func ClaimObject(ctx context.Context, c *scheduler.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*explain.Explanation, error) {
	e, _, err := askClaim(ctx, c, claim, opts)
	return e, err
}

// askClaim is ClaimObject. It also returns the question that was put to the nodes, which is nil if none was.
func askClaim(ctx context.Context, c *scheduler.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*explain.Explanation, *whatif.Question, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name}, Basis: cycle.BasisOf(c)}
	s := c.Snapshot()
	nodes, err := cycle.NodesFor(s, opts.Cycle())
	if err != nil {
		return nil, nil, err
	}
	if claim.Status.Allocation != nil {
		explainAllocated(e, s, claim, nodes, opts)
		return e, nil, nil
	}
	if claim.DeletionTimestamp != nil {
		e.Verdict, e.Nodes.Total, e.Partial = explain.Unsatisfiable, len(nodes), cycle.LimitsOf(s).Remarks
		e.Say("cannot be allocated: it is being deleted")
		e.Scheduler = SchedulerSays(s, s.PodsOf(inspect.RefOf(claim)), opts)
		return e, nil, nil
	}
	q := &whatif.Question{
		Cluster: c, Claims: []*resourcev1.ResourceClaim{claim}, Templates: []string{generatedFrom(s, claim)},
		Nodes: nodes, Subject: e.Subject, Supposed: opts.supposed,
	}
	if err := decide(ctx, q, e, opts); err != nil {
		return nil, nil, err
	}
	e.Waits = append(e.Waits, waitsOf(s, claim, opts)...)
	e.Scheduler = SchedulerSays(s, s.PodsOf(inspect.RefOf(claim)), opts)
	return e, q, nil
}

// Claims explains several claims that need not be in the snapshot together, as those of one pod in this
// order: all that have no devices yet must fit on one node, from which the others can be used. At least one
// of them has none. Errors are those of [Claim].
func Claims(ctx context.Context, c *scheduler.Cluster, claims []*resourcev1.ResourceClaim, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Basis: cycle.BasisOf(c)}
	nodes, err := cycle.NodesFor(c.Snapshot(), opts.Cycle())
	if err != nil {
		return nil, err
	}
	q := &whatif.Question{Cluster: c, Nodes: nodes, Unsuitable: map[inspect.NodeName]explain.Reason{}, Own: map[inspect.ClaimRef]bool{}}
	var names []string
	for _, claim := range claims {
		names = append(names, inspect.RefOf(claim).String())
		if claim.Status.Allocation == nil {
			q.Claims = append(q.Claims, claim)
			continue
		}
		q.Own[inspect.RefOf(claim)] = true
		for _, node := range nodes {
			if !suppose.NodeMatches(claim.Status.Allocation.NodeSelector, node) {
				q.Unsuitable[inspect.NodeName(node.Name)] = cycle.OutOfReach(claim)
			}
		}
	}
	e.Subject = explain.Subject{Kind: "ResourceClaim", Name: strings.Join(names, ", ")}
	q.Subject = e.Subject
	return e, decide(ctx, q, e, opts)
}

// Template explains whether a claim made from a template of the snapshot could be allocated. Errors are those
// of [Claim].
func Template(ctx context.Context, c *scheduler.Cluster, namespace, name string, opts Options) (*explain.Explanation, error) {
	template, ok := c.Snapshot().Template(namespace, name)
	if !ok {
		return nil, cycle.NotFound("resourceclaimtemplate", namespace+"/"+name)
	}
	return TemplateObject(ctx, c, template, opts)
}

// TemplateObject explains whether a claim made from a template, which need not be in the snapshot, could be
// allocated. Errors are those of [Claim].
func TemplateObject(ctx context.Context, c *scheduler.Cluster, template *resourcev1.ResourceClaimTemplate, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaimTemplate", Namespace: template.Namespace, Name: template.Name}, Basis: cycle.BasisOf(c)}
	nodes, err := cycle.NodesFor(c.Snapshot(), opts.Cycle())
	if err != nil {
		return nil, err
	}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{inspect.ClaimFromTemplate(template, template.Name)}, Nodes: nodes, Subject: e.Subject, Supposed: opts.supposed}
	if err := decide(ctx, q, e, opts); err != nil {
		return nil, err
	}
	return e, nil
}
