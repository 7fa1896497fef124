package fit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

const (
	// maxCopies is the number of copies at which counting on one node ends.
	maxCopies = 1024
	// maxSharedCopies is the number of copies at which counting over nodes with common devices ends.
	maxSharedCopies = 64
)

// Claim counts how many more copies of a claim fit. The claim need not be in the snapshot. If it is
// allocated, its devices stay taken. The error is an *allocator.AbortError if the scheduler would give up on
// the claim, and otherwise one of those of [question.Claim].
func Claim(ctx context.Context, c *scheduler.Cluster, claim *resourcev1.ResourceClaim, opts question.Options) (*explain.Fit, error) {
	fresh := claim.DeepCopy()
	fresh.Status = resourcev1.ResourceClaimStatus{}
	nodes, err := cycle.NodesFor(c.Snapshot(), opts.Cycle())
	if err != nil {
		return nil, err
	}
	limits := cycle.LimitsOf(c.Snapshot())
	limits.AddDisagreements(c.Snapshot())
	f := &explain.Fit{Subject: explain.Subject{Kind: "ResourceClaim", Namespace: claim.Namespace, Name: claim.Name}, Basis: cycle.BasisOf(c), Partial: limits.Remarks}
	q := &whatif.Question{Cluster: c, Claims: []*resourcev1.ResourceClaim{fresh}, Nodes: nodes}
	if reason := cycle.Precheck(q); reason != nil {
		for _, node := range nodes {
			f.Nodes = append(f.Nodes, explain.NodeFit{Node: inspect.NodeName(node.Name), Limit: *reason})
		}
		newer := cycle.NewerOf(q)
		f.Undecided, f.Partial = len(newer) > 0, append(f.Partial, newer...)
		return f, nil
	}
	f.Undecided = limits.AddAdmission(q)
	answers, err := q.Ask(ctx)
	if err != nil {
		return nil, err
	}
	known := len(limits.Remarks)
	limits.AddNewer(ctx, q, answers, cycle.Tally{}) // any node counts, whatever the others say
	f.Undecided, f.Partial = f.Undecided || len(limits.Remarks) > known, limits.Remarks
	return f, count(ctx, q, answers, f)
}

// count fills in the copies on each node and on all nodes.
func count(ctx context.Context, q *whatif.Question, answers []whatif.Answer, f *explain.Fit) error {
	fits := make([]kindFit, len(answers))
	within, step := progress.Begin(ctx, "counting copies on kinds of nodes", len(answers))
	err := allocator.Parallel(len(answers), func(i int) error {
		defer step()
		var err error
		fits[i], err = fit(within, q, &answers[i])
		return err
	})
	if err != nil {
		return err
	}
	var used []nodePools
	for i := range answers {
		var taken []int // the positions of the devices that are taken, which are the same on all these nodes
		for k, n := range answers[i].Nodes {
			fit := fits[i].NodeFit
			fit.Node = inspect.NodeName(q.Nodes[n].Name)
			f.Nodes = append(f.Nodes, fit)
			if fit.Copies == 0 {
				continue
			}
			candidates, err := q.Cluster.Candidates(q.Nodes[n])
			if err != nil {
				return err
			}
			if k == 0 {
				taken = positions(candidates, fits[i].allocations)
			}
			on := nodePools{node: n, fit: fit}
			for _, at := range taken {
				if pool := candidates[at].PoolID(); !slices.Contains(on.pools, pool) {
					on.pools = append(on.pools, pool)
				}
			}
			used = append(used, on)
		}
	}
	slices.SortStableFunc(f.Nodes, func(a, b explain.NodeFit) int {
		return cmp.Or(cmp.Compare(b.Copies, a.Copies), cmp.Compare(a.Node, b.Node))
	})
	for _, several := range connected(used) {
		copies, atLeast, err := together(ctx, q, several)
		if err != nil {
			return err
		}
		f.Total, f.AtLeast = f.Total+copies, f.AtLeast || atLeast
	}
	maySpoil(f)
	return nil
}

// kindFit is what fits on one of the nodes that do not differ for the question, and with which devices.
type kindFit struct {
	explain.NodeFit
	allocations []resourcev1.AllocationResult
}

// fit counts the copies on the first node of an answer.
func fit(ctx context.Context, q *whatif.Question, a *whatif.Answer) (fit kindFit, err error) {
	if a.Abort != nil {
		return fit, a.Abort
	}
	node := q.Nodes[a.Nodes[0]]
	fit.Copies, fit.AtLeast, fit.allocations, err = most(ctx, q, node, a.Result)
	if err != nil {
		return fit, err
	}
	fit.Limit, fit.GivesUp, err = limit(ctx, q, node, fit.allocations)
	return fit, err
}

// most returns the largest number of copies that fit together on a node, with their allocations, given the
// result for one copy. The number is a lower bound if a search was given up, or if the counting ends at
// maxCopies.
func most(ctx context.Context, q *whatif.Question, node *corev1.Node, one *allocator.Result) (n int, atLeast bool, allocations []resourcev1.AllocationResult, err error) {
	low, high, result := 0, 1, one // low copies fit, and result is that for high copies
	for result.Outcome == allocator.Allocated {
		low, allocations = high, result.Allocations
		if high >= maxCopies {
			return low, true, allocations, nil
		}
		high *= 2
		if result, err = copies(ctx, q, node, high); err != nil {
			return low, true, allocations, err
		}
	}
	atLeast = result.Outcome == allocator.Undecided
	for high-low > 1 {
		middle := (low + high) / 2
		if result, err = copies(ctx, q, node, middle); err != nil {
			return low, true, allocations, err
		}
		if result.Outcome == allocator.Allocated {
			low, allocations = middle, result.Allocations
			continue
		}
		high, atLeast = middle, result.Outcome == allocator.Undecided
	}
	return low, atLeast, allocations, nil
}

// copies asks for n copies of the claim together on a node.
func copies(ctx context.Context, q *whatif.Question, node *corev1.Node, n int) (*allocator.Result, error) {
	claims := make([]*resourcev1.ResourceClaim, n)
	for i := range claims {
		claims[i] = q.Claims[0]
	}
	result, err := q.Cluster.Allocate(ctx, node, claims, nil)
	if abort := (*allocator.AbortError)(nil); n > 1 && errors.As(err, &abort) { // over one of the copies after the first, which fits
		result, err = &allocator.Result{Outcome: allocator.Unsatisfiable}, nil
		if abort.Undecided() {
			result.Outcome = allocator.Undecided
		}
	}
	return result, err
}

// maySpoil bounds the total where one more copy on some node makes the scheduler give up, wherever else there
// is room: then no more are certain than the fewest that such a node takes.
func maySpoil(f *explain.Fit) {
	with, fewest := 0, -1
	var node explain.NodeFit
	for _, n := range f.Nodes {
		if n.Copies > 0 {
			with++
		}
		if n.GivesUp && (fewest < 0 || n.Copies < fewest) {
			node, fewest = n, n.Copies
		}
	}
	if fewest < 0 || with < 2 {
		return
	}
	f.Total, f.AtLeast = fewest, true
	f.Partial = append(f.Partial, fmt.Sprintf("with %s on node %s, one more makes the scheduler give up, also where other nodes have room: how many fit depends on the nodes that it chooses",
		fmt.Sprint(node.Copies, " ", words.Plural(node.Copies, "copy", "copies")), node.Node))
}

// limit says why one more copy does not fit on a node once some are allocated, and whether the scheduler
// gives up over it.
func limit(ctx context.Context, q *whatif.Question, node *corev1.Node, allocations []resourcev1.AllocationResult) (reason explain.Reason, givesUp bool, err error) {
	s := q.Cluster.Snapshot().With(func(o *inspect.Objects) {
		o.Claims = append(o.Claims, suppose.Hold(allocations, 1)...)
	})
	more := &whatif.Question{Cluster: scheduler.NewCluster(s, scheduler.Options{Like: q.Cluster}), Claims: q.Claims, Nodes: []*corev1.Node{node}}
	answers, err := more.Ask(ctx)
	if err != nil {
		return explain.Reason{}, false, err
	}
	if abort := answers[0].Abort; abort != nil {
		return explain.Reason{Code: abort.Code, Request: abort.Request, Message: "one more " + abort.Consequence() + ": " + abort.Error()}, !abort.Undecided(), nil
	}
	groups, err := diagnose.Groups(ctx, more, answers)
	if err != nil || len(groups) == 0 || len(groups[0].Reasons) == 0 {
		return explain.Reason{Code: allocator.SearchLimit, Message: "the count was given up here"}, false, err
	}
	pool, err := poolLimit(ctx, more, node, groups[0].Reasons)
	if err != nil || pool != nil {
		return *cmp.Or(pool, &explain.Reason{}), false, err
	}
	limit := groups[0].Reasons[0]
	if onlyOtherDrivers(groups[0].Funnels, limit.Request) {
		limit.Key, limit.Found, limit.Message = "no device of its class", "", "no device of its class here"
	}
	limit.Claims = slices.DeleteFunc(limit.Claims, func(h explain.Holder) bool { return h.Claim.Namespace == "" }) // the copies themselves
	return limit, false, nil
}

// poolLimit is the first of some reasons about a pool that offers nothing without which one more copy would
// fit. It is nil if there is none.
func poolLimit(ctx context.Context, q *whatif.Question, node *corev1.Node, reasons []explain.Reason) (*explain.Reason, error) {
	for i := range reasons {
		r := &reasons[i]
		if r.Pool == (inspect.PoolID{}) {
			continue
		}
		edits := []whatif.Edit{whatif.PoolEdit{Pool: r.Pool}}
		switch outcome, _, err := q.Real(ctx, edits).Outcome(ctx, node); {
		case err != nil:
			return nil, err
		case outcome == whatif.Fits:
			return r, nil
		}
	}
	return nil, nil
}

// onlyOtherDrivers reports whether all devices that a request sees belong to drivers that its class is not
// about.
func onlyOtherDrivers(funnels []explain.Funnel, request string) bool {
	at := slices.IndexFunc(funnels, func(f explain.Funnel) bool { return f.Request == request })
	if at < 0 || funnels[at].Steps[1].Most > 0 {
		return false
	}
	return !slices.ContainsFunc(funnels[at].Steps[1].Lost, func(l explain.Loss) bool { return !l.OtherDriver })
}
