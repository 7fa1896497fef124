package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// How many more copies of a claim fit.
//
// On one node the question is put to the allocator with 1, 2, 4 … copies as the claims of one pod, until
// they no longer fit, and then narrowed down. That is the most that can be had together there; copies
// that come one after the other can strand devices, so fewer may fit in practice. Example: 8 free GPUs,
// 4 on each NUMA node, a claim for 3 on one NUMA node: 2 copies, and 2 GPUs are left over.
//
// How nodes are added up is said in fit_total.go.

const (
	// maxCopies is where counting on one node ends.
	maxCopies = 1024
	// maxSharedCopies is where counting over nodes with common devices ends.
	maxSharedCopies = 64
)

// Fit says how many more copies of a claim can be allocated.
type Fit struct {
	Subject Subject
	// Total is the number of copies in all; a lower bound when AtLeast is set.
	Total   int
	AtLeast bool
	// Nodes have an entry for every node that was asked about, those with most copies first.
	Nodes   []NodeFit
	Partial []string
	Basis   Basis
}

// NodeFit is the number of copies that fit on one node.
type NodeFit struct {
	Node    inspect.NodeName
	Copies  int
	AtLeast bool
	// Limit is what keeps one more copy off the node.
	Limit Reason
}

// FitClaim counts the copies of a claim. The claim itself need not be in the snapshot; if it is
// allocated, its devices stay taken. The error is an *allocator.AbortError when the scheduler would give
// up on the claim.
func FitClaim(ctx context.Context, c *allocator.Cluster, claim *resourcev1.ResourceClaim, opts Options) (*Fit, error) {
	fresh := claim.DeepCopy()
	fresh.Status = resourcev1.ResourceClaimStatus{}
	nodes, err := nodesFor(c.Snapshot(), opts)
	if err != nil {
		return nil, err
	}
	f := &Fit{Subject: Subject{"ResourceClaim", claim.Namespace, claim.Name}, Basis: basisOf(c), Partial: limitsOf(c.Snapshot()).remarks}
	q := &question{cluster: c, claims: []*resourcev1.ResourceClaim{fresh}, nodes: nodes}
	if reason := q.prefilter(); reason != nil {
		for _, node := range nodes {
			f.Nodes = append(f.Nodes, NodeFit{Node: inspect.NodeName(node.Name), Limit: *reason})
		}
		return f, nil
	}
	answers, err := q.ask(ctx)
	if err != nil {
		return nil, err
	}
	return f, q.count(ctx, answers, f)
}

// count fills in the copies on each node and in all.
func (q *question) count(ctx context.Context, answers []answer, f *Fit) error {
	fits := make([]kindFit, len(answers))
	err := allocator.Parallel(len(answers), func(i int) error {
		var err error
		fits[i], err = q.fit(ctx, &answers[i])
		return err
	})
	if err != nil {
		return err
	}
	var used []nodePools
	for i := range answers {
		positions, err := q.positions(answers[i].nodes[0], fits[i].held)
		if err != nil {
			return err
		}
		for _, n := range answers[i].nodes {
			fit := fits[i].NodeFit
			fit.Node = inspect.NodeName(q.nodes[n].Name)
			f.Nodes = append(f.Nodes, fit)
			if fit.Copies == 0 {
				continue
			}
			pools, err := q.poolsUsed(n, positions)
			if err != nil {
				return err
			}
			used = append(used, nodePools{n, fit, pools})
		}
	}
	slices.SortStableFunc(f.Nodes, func(a, b NodeFit) int {
		return cmp.Or(cmp.Compare(b.Copies, a.Copies), cmp.Compare(a.Node, b.Node))
	})
	for _, together := range connected(used) {
		copies, atLeast, err := q.together(ctx, together)
		if err != nil {
			return err
		}
		f.Total, f.AtLeast = f.Total+copies, f.AtLeast || atLeast
	}
	return nil
}

// kindFit is what fits on a node of a kind, and with which devices.
type kindFit struct {
	NodeFit
	held []resourcev1.AllocationResult
}

// fit counts the copies on the first of some nodes that are alike.
func (q *question) fit(ctx context.Context, a *answer) (fit kindFit, err error) {
	if a.abort != nil {
		return fit, a.abort
	}
	node := q.nodes[a.nodes[0]]
	fit.Copies, fit.AtLeast, fit.held, err = q.most(ctx, node, a.result)
	if err != nil {
		return fit, err
	}
	fit.Limit, err = q.limit(ctx, node, fit.held)
	return fit, err
}

// most finds the largest number of copies that fit together on a node, given the answer for one. The
// number is a lower bound when a search was given up or the counting ends at maxCopies.
func (q *question) most(ctx context.Context, node *corev1.Node, one *allocator.Result) (n int, atLeast bool, held []resourcev1.AllocationResult, err error) {
	low, high, result := 0, 1, one // low copies fit; result is the answer for high
	for result.Outcome == allocator.Allocated {
		low, held = high, result.Allocations
		if high >= maxCopies {
			return low, true, held, nil
		}
		high *= 2
		if result, err = q.copies(ctx, node, high); err != nil {
			return low, true, held, err
		}
	}
	atLeast = result.Outcome == allocator.Undecided
	for high-low > 1 {
		middle := (low + high) / 2
		if result, err = q.copies(ctx, node, middle); err != nil {
			return low, true, held, err
		}
		if result.Outcome == allocator.Allocated {
			low, held = middle, result.Allocations
			continue
		}
		high, atLeast = middle, result.Outcome == allocator.Undecided
	}
	return low, atLeast, held, nil
}

// copies asks for n copies together on a node.
func (q *question) copies(ctx context.Context, node *corev1.Node, n int) (*allocator.Result, error) {
	claims := make([]*resourcev1.ResourceClaim, n)
	for i := range claims {
		claims[i] = q.claims[0]
	}
	return q.cluster.Allocate(ctx, node, claims, nil)
}

// limit says why one more copy does not fit once some are allocated.
func (q *question) limit(ctx context.Context, node *corev1.Node, held []resourcev1.AllocationResult) (Reason, error) {
	s := q.cluster.Snapshot().With(func(o *inspect.Objects) {
		o.Claims = append(o.Claims, holding(held)...)
	})
	more := &question{cluster: allocator.NewCluster(s, allocator.Options{Like: q.cluster}), claims: q.claims, nodes: []*corev1.Node{node}}
	answers, err := more.ask(ctx)
	if err != nil {
		return Reason{}, err
	}
	groups, err := more.group(ctx, answers)
	if err != nil || len(groups) == 0 || len(groups[0].Reasons) == 0 {
		return Reason{Code: allocator.SearchLimit, Message: "the count was given up here"}, err
	}
	limit := groups[0].Reasons[0]
	if foreign(groups[0].Funnels, limit.Request) {
		limit.Message = "no device of its class here"
	}
	limit.Claims = slices.DeleteFunc(limit.Claims, func(h Holder) bool { return h.Claim.Namespace == "" }) // the copies themselves
	return limit, nil
}

// foreign reports whether all devices that the request sees belong to drivers that its class is not about.
func foreign(funnels []Funnel, request string) bool {
	at := slices.IndexFunc(funnels, func(f Funnel) bool { return f.Request == request })
	if at < 0 || funnels[at].Steps[1].Most > 0 {
		return false
	}
	return !slices.ContainsFunc(funnels[at].Steps[1].Lost, func(l Loss) bool { return !l.OtherDriver })
}

// holding makes claims that hold allocations.
func holding(held []resourcev1.AllocationResult) []*resourcev1.ResourceClaim {
	var out []*resourcev1.ResourceClaim
	for i := range held {
		allocation := held[i]
		allocation.Devices.Results = slices.Clone(allocation.Devices.Results)
		for j := range allocation.Devices.Results {
			r := &allocation.Devices.Results[j]
			if r.ShareID != nil {
				id := copyID(i, j)
				r.ShareID = &id
			}
		}
		out = append(out, &resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("copy %d", i+1)},
			Status:     resourcev1.ResourceClaimStatus{Allocation: &allocation},
		})
	}
	return out
}

func copyID(claim, device int) types.UID { return types.UID(fmt.Sprintf("copy-%d-%d", claim, device)) }
