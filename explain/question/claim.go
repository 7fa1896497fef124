package question

import (
	"context"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Claim explains a claim of the snapshot. The error wraps [ErrNotFound] if there is no such claim or node, and is that of
// the context if that ends. That a claim cannot be allocated is an answer and no error.
func Claim(ctx context.Context, c *allocator.Cluster, ref inspect.ClaimRef, opts Options) (*explain.Explanation, error) {
	claim, ok := c.Snapshot().Claim(ref)
	if !ok {
		return nil, notFound("resourceclaim", ref.String())
	}
	return ClaimObject(ctx, c, claim, opts)
}

// ClaimObject explains a claim that need not be in the snapshot. Errors are those of [Claim].
func ClaimObject(ctx context.Context, c *allocator.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name}, Basis: basisOf(c)}
	s := c.Snapshot()
	nodes, err := nodesFor(s, opts)
	if err != nil {
		return nil, err
	}
	if claim.Status.Allocation != nil {
		explainAllocated(e, s, claim, nodes)
		return e, nil
	}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{claim}, Nodes: nodes, Subject: e.Subject}
	if err := decide(ctx, q, e); err != nil {
		return nil, err
	}
	e.Waits = append(e.Waits, waitsOf(s, claim)...)
	e.Scheduler = schedulerSays(s, s.PodsOf(inspect.RefOf(claim)))
	return e, nil
}

// Template explains whether a claim made from a template of the snapshot could be allocated. Errors are those of [Claim].
func Template(ctx context.Context, c *allocator.Cluster, namespace, name string, opts Options) (*explain.Explanation, error) {
	template, ok := c.Snapshot().Template(namespace, name)
	if !ok {
		return nil, notFound("resourceclaimtemplate", namespace+"/"+name)
	}
	return TemplateObject(ctx, c, template, opts)
}

// TemplateObject explains whether a claim made from a template, which need not be in the snapshot, could be allocated.
// Errors are those of [Claim].
func TemplateObject(ctx context.Context, c *allocator.Cluster, template *resourcev1.ResourceClaimTemplate, opts Options) (*explain.Explanation, error) {
	e := &explain.Explanation{Subject: explain.Subject{Kind: "ResourceClaimTemplate", Namespace: template.Namespace, Name: template.Name}, Basis: basisOf(c)}
	nodes, err := nodesFor(c.Snapshot(), opts)
	if err != nil {
		return nil, err
	}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{inspect.ClaimFromTemplate(template, template.Name)}, Nodes: nodes, Subject: e.Subject}
	if err := decide(ctx, q, e); err != nil {
		return nil, err
	}
	return e, nil
}
