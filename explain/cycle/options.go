package cycle

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Options narrow what a subject is asked about.
type Options struct {
	// Node is the only node that is asked. If it is "", all nodes are.
	Node inspect.NodeName
	// Supposed are claims that have devices only because those who were asked before got them, and
	// SupposedPods pods that are on nodes only because of that.
	Supposed     map[inspect.ClaimRef]bool
	SupposedPods map[inspect.PodRef]bool
}

// ErrNotFound is wrapped by errors about an object that is not in the snapshot.
var ErrNotFound = errors.New("not found")

// NotFound is the error about an object that is not in the snapshot.
func NotFound(kind, name string) error { return fmt.Errorf("%s %q: %w", kind, name, ErrNotFound) }

// NodesFor returns the nodes that the options ask about.
func NodesFor(s *inspect.Snapshot, opts Options) ([]*corev1.Node, error) {
	if opts.Node == "" {
		return s.Nodes(), nil
	}
	node, ok := s.Node(opts.Node)
	if !ok {
		return nil, NotFound("node", string(opts.Node))
	}
	return []*corev1.Node{node}, nil
}
