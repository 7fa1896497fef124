package explain

import (
	"context"
	"errors"
	"runtime"
	"sync"

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
}

// answer is what one node says.
type answer struct {
	node       inspect.NodeName
	unsuitable *Reason
	result     *allocator.Result
	abort      *allocator.AbortError
}

func (a *answer) allocatable() bool {
	return a.result != nil && a.result.Outcome == allocator.Allocated
}

// ask decides the question on every node, on all cores. The answers are in the order of the nodes.
func (q *question) ask(ctx context.Context) ([]answer, error) {
	answers := make([]answer, len(q.nodes))
	err := parallel(len(q.nodes), func(i int) error {
		node := q.nodes[i]
		answers[i].node = inspect.NodeName(node.Name)
		if reason, ok := q.unsuitable[answers[i].node]; ok {
			answers[i].unsuitable = &reason
			return nil
		}
		result, err := q.cluster.Allocate(ctx, node, q.claims, nil)
		if errors.As(err, &answers[i].abort) {
			return nil
		}
		answers[i].result = result
		return err
	})
	return answers, err
}

// parallel calls f for 0 to n-1 on all cores and returns the error of the lowest index. It returns
// when all calls have ended; after an error no new ones begin.
func parallel(n int, f func(int) error) error {
	workers := min(runtime.GOMAXPROCS(0), n)
	errs := make([]error, n)
	var mu sync.Mutex
	next, failed := 0, false
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if failed || next >= n {
			return -1
		}
		next++
		return next - 1
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := take(); i >= 0; i = take() {
				if errs[i] = f(i); errs[i] != nil {
					mu.Lock()
					failed = true
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
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
