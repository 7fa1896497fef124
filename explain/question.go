package explain

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Options narrow a question.
type Options struct {
	// Node asks about one node only; "" asks about all.
	Node inspect.NodeName
}

// ErrNotFound is wrapped by errors about an object that is not in the snapshot.
var ErrNotFound = errors.New("not found")

// question is what is asked of every node: claims that need an allocation together.
type question struct {
	cluster *allocator.Cluster
	claims  []*resourcev1.ResourceClaim
	nodes   []*corev1.Node
	// templates names for each of the first claims the template from which it is made, or "".
	templates []string
	// own are claims of the pod in question that have devices already. To release them is no help: it needs them.
	own map[inspect.ClaimRef]bool
	// unsuitable says, for nodes that the pod cannot use whatever the devices, why not.
	unsuitable map[inspect.NodeName]Reason
	// perNode, if not nil, adds a claim that depends on the node.
	perNode claimPerNode
	// subject decides how paths and patches are spelled.
	subject Subject
	// partial: it is put to some nodes only, because other nodes are asked for something else.
	partial bool
	// answers are what the nodes said, once they were asked.
	answers []answer
	// spent is the number of search steps of what-if questions.
	spent int64
	// sandboxes are those of nodes about which what-if questions were asked.
	sandboxes map[inspect.NodeName]*sandbox
}

// claimPerNode is a claim that differs from node to node: that for extended resources, say.
type claimPerNode interface {
	// on returns the claim for a node, or nil when the node needs none. misfit says why the node cannot be used at all;
	// it is nil if it can.
	on(node *corev1.Node) (claim *resourcev1.ResourceClaim, misfit *Reason)
}

// answer is what nodes that look alike say.
type answer struct {
	// q is the question as it was put to these nodes.
	q *question
	// nodes are indices into the nodes of the question, ascending. The slice may be shared.
	nodes      []int
	unsuitable *Reason
	result     *allocator.Result
	abort      *allocator.AbortError
}

func (a *answer) allocatable() bool {
	return a.result != nil && a.result.Outcome == allocator.Allocated
}

// ask decides the question on every node. The answers are in the order of their first node.
func (q *question) ask(ctx context.Context) ([]answer, error) {
	unsuitable, suitable := q.sortNodes()
	var answers []answer
	for _, u := range unsuitable {
		answers = append(answers, answer{q: q, nodes: u.nodes, unsuitable: &u.reason})
	}
	for _, variant := range q.variants(suitable) {
		nodes := q.nodes
		if len(variant.nodes) < len(q.nodes) {
			nodes = make([]*corev1.Node, len(variant.nodes))
			for i, n := range variant.nodes {
				nodes[i] = q.nodes[n]
			}
		}
		kinds, err := q.cluster.Sweep(ctx, nodes, variant.q.claims)
		if err != nil {
			return nil, err
		}
		for _, kind := range kinds {
			a := answer{q: variant.q, result: kind.Result, abort: kind.Abort}
			if a.nodes = kind.Nodes; len(variant.nodes) < len(q.nodes) {
				a.nodes = make([]int, len(kind.Nodes))
				for i, n := range kind.Nodes {
					a.nodes[i] = variant.nodes[n]
				}
			}
			answers = append(answers, a)
		}
	}
	slices.SortFunc(answers, func(a, b answer) int { return a.nodes[0] - b.nodes[0] })
	return answers, nil
}

// misfits are nodes that the pod cannot use for the same reason.
type misfits struct {
	reason Reason
	nodes  []int
}

// sortNodes separates the nodes that the pod cannot use, by why not, from the others.
func (q *question) sortNodes() (unsuitable []*misfits, suitable []int) {
	suitable = make([]int, 0, len(q.nodes))
	if len(q.unsuitable) == 0 && q.perNode == nil {
		for i := range q.nodes {
			suitable = append(suitable, i)
		}
		return nil, suitable
	}
	byKey := map[string]*misfits{}
	for i, node := range q.nodes {
		reason := q.misfit(node)
		if reason == nil {
			suitable = append(suitable, i)
			continue
		}
		if byKey[reason.Key] == nil {
			byKey[reason.Key] = &misfits{reason: *reason}
			unsuitable = append(unsuitable, byKey[reason.Key])
		}
		byKey[reason.Key].nodes = append(byKey[reason.Key].nodes, i)
	}
	return unsuitable, suitable
}

// misfit is why the pod cannot use the node whatever its devices, or nil.
func (q *question) misfit(node *corev1.Node) *Reason {
	if reason, bad := q.unsuitable[inspect.NodeName(node.Name)]; bad {
		return &reason
	}
	if q.perNode == nil {
		return nil
	}
	_, misfit := q.perNode.on(node)
	return misfit
}

// simplify makes a question with a claim that depends on the node a plain one if it is the same for all suitable nodes.
func (q *question) simplify() {
	if q.perNode == nil {
		return
	}
	_, suitable := q.sortNodes()
	variants := q.variants(suitable)
	if len(variants) != 1 {
		return
	}
	for _, node := range q.nodes {
		if misfit := q.misfit(node); misfit != nil {
			q.unsuitable[inspect.NodeName(node.Name)] = *misfit
		}
	}
	q.claims, q.perNode = variants[0].q.claims, nil
}

// variant is a question as it is put to some nodes.
type variant struct {
	q     *question
	nodes []int
}

// variants adds the claim for extended resources, which depends on what the device plugins of a node
// provide.
func (q *question) variants(nodes []int) []variant {
	if q.perNode == nil {
		return []variant{{q, nodes}}
	}
	var out []variant
	index := map[string]int{}
	for _, n := range nodes {
		claim, _ := q.perNode.on(q.nodes[n])
		key := ""
		if claim != nil {
			key = claim.Spec.String()
		}
		at, ok := index[key]
		if !ok {
			at = len(out)
			index[key] = at
			vq := *q
			vq.perNode = nil
			if claim != nil {
				vq.claims = append(slices.Clone(q.claims), claim)
			}
			out = append(out, variant{q: &vq})
		}
		out[at].nodes = append(out[at].nodes, n)
	}
	return out
}

// nodesFor returns the nodes that the options ask about.
func nodesFor(s *inspect.Snapshot, opts Options) ([]*corev1.Node, error) {
	if opts.Node == "" {
		return s.Nodes(), nil
	}
	node, ok := s.Node(opts.Node)
	if !ok {
		return nil, notFound("node", string(opts.Node))
	}
	return []*corev1.Node{node}, nil
}
