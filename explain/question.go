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
	// unsuitable says, for nodes that the pod cannot use whatever the devices, why not.
	unsuitable map[inspect.NodeName]Reason
	// subject decides how paths and patches are spelled.
	subject Subject
	// locals are the surroundings of nodes about which what-if questions were asked.
	locals map[inspect.NodeName]*local
}

// answer is what nodes that look alike say.
type answer struct {
	// nodes are indices into the nodes of the question, ascending.
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
	var answers []answer
	var suitable []*corev1.Node
	var index []int // of the suitable nodes
	unsuitable := map[string]int{}
	for i, node := range q.nodes {
		reason, bad := q.unsuitable[inspect.NodeName(node.Name)]
		if !bad {
			suitable, index = append(suitable, node), append(index, i)
			continue
		}
		at, known := unsuitable[reason.Message]
		if !known {
			at = len(answers)
			unsuitable[reason.Message] = at
			answers = append(answers, answer{unsuitable: &reason})
		}
		answers[at].nodes = append(answers[at].nodes, i)
	}
	kinds, err := q.cluster.Sweep(ctx, suitable, q.claims)
	if err != nil {
		return nil, err
	}
	for _, kind := range kinds {
		a := answer{result: kind.Result, abort: kind.Abort}
		for _, n := range kind.Nodes {
			a.nodes = append(a.nodes, index[n])
		}
		answers = append(answers, a)
	}
	slices.SortFunc(answers, func(a, b answer) int { return a.nodes[0] - b.nodes[0] })
	return answers, nil
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
