package explain

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxNear  = 32  // nodes on which changes are looked for one by one
	maxSwept = 512 // nodes that are asked about a change in the world
)

// rankedNode is a node that refuses, with the score of its group: the higher, the less is missing.
type rankedNode struct {
	name  inspect.NodeName
	score int
}

// clusterSandbox is the nodes on which what-if questions about the whole cluster are put: those that come nearest one by
// one, all of them by asking one of each kind.
type clusterSandbox struct {
	q *question
	// near are the nodes that are looked at one by one, the nearest first; cut says that there are more.
	near []rankedNode
	cut  bool
	// nodes are all that the pod can use.
	nodes []*corev1.Node
}

// newClusterSandbox looks at the first of some ranked nodes one by one.
func newClusterSandbox(q *question, ranked []rankedNode) *clusterSandbox {
	c := &clusterSandbox{q: q, near: ranked[:min(len(ranked), maxNear)], cut: len(ranked) > maxNear}
	if len(q.unsuitable) == 0 {
		c.nodes = slices.Clip(q.nodes)
	}
	for _, node := range q.nodes[len(c.nodes):] {
		if _, bad := q.unsuitable[inspect.NodeName(node.Name)]; !bad {
			c.nodes = append(c.nodes, node)
		}
	}
	return c
}

// nearSandboxes are those of the near nodes.
func (c *clusterSandbox) nearSandboxes() []*sandbox {
	var out []*sandbox
	for _, n := range c.near {
		if b := c.q.sandboxOf(n.name); b != nil {
			out = append(out, b)
		}
	}
	return out
}

// nearNodes are the near nodes themselves.
func (c *clusterSandbox) nearNodes() []*corev1.Node {
	var out []*corev1.Node
	for _, n := range c.near {
		if node, ok := c.q.cluster.Snapshot().Node(n.name); ok {
			out = append(out, node)
		}
	}
	return out
}

// examined are the requests as the near nodes see them, node after node.
func (c *clusterSandbox) examined(ctx context.Context) ([]*allocator.ExaminedRequest, error) {
	var out []*allocator.ExaminedRequest
	for _, b := range c.nearSandboxes() {
		requests, err := b.requestsExamined(ctx)
		if err != nil {
			return nil, err
		}
		for i := range requests {
			out = append(out, &requests[i])
		}
	}
	return out, nil
}

// firstFit returns a node on which the edits help, the nearest first. It is "" when there is none.
func (c *clusterSandbox) firstFit(ctx context.Context, edits []edit) (inspect.NodeName, error) {
	node, err := c.fitsNear(ctx, edits)
	if err != nil || node != "" || !onlySpecEdits(edits) {
		return node, err
	}
	fitting, err := c.fitting(ctx, c.q.cluster.WithStepLimit(probeSteps), edits)
	if err != nil {
		return "", err
	}
	return fitting.first(), nil
}

// fitsNear is firstFit for the near nodes only.
func (c *clusterSandbox) fitsNear(ctx context.Context, edits []edit) (inspect.NodeName, error) {
	if !onlySpecEdits(edits) {
		for _, b := range c.nearSandboxes() {
			if o, err := b.try(ctx, edits); err != nil || o == fits {
				return inspect.NodeName(b.node.Name), err
			}
		}
		return "", nil
	}
	claims := c.q.draft(edits).result(ctx)
	cluster := c.q.cluster.WithStepLimit(probeSteps)
	for _, n := range c.near {
		node, ok := c.q.cluster.Snapshot().Node(n.name)
		if !ok {
			continue
		}
		if o, err := c.q.whatIf(ctx, cluster, node, claims); err != nil || o == fits {
			return n.name, err
		}
	}
	return "", nil
}

// fitting returns the nodes on which the claims can be allocated with the edits made to them. Nodes that look alike to
// the question look alike also when it is put differently, as long as it is about the same fields of devices; so one
// of them is asked.
func (c *clusterSandbox) fitting(ctx context.Context, cluster *allocator.Cluster, edits []edit) (nodeSet, error) {
	claims := c.q.draft(edits).result(ctx)
	if c.q.answers == nil || slices.ContainsFunc(edits, func(e edit) bool { _, ok := e.(readsOthers); return ok }) {
		return sweep(ctx, cluster, c.nodes, claims)
	}
	out := nodeSet{nodes: c.q.nodes}
	if c.q.exhausted() {
		return out, nil
	}
	outcomes, steps := make([]outcome, len(c.q.answers)), make([]int64, len(c.q.answers))
	err := allocator.Parallel(len(outcomes), func(i int) error {
		a := &c.q.answers[i]
		if a.unsuitable != nil {
			return nil // refused
		}
		var err error
		outcomes[i], steps[i], err = outcomeOf(ctx, cluster, c.q.nodes[a.nodes[0]], claims)
		return err
	})
	for _, n := range steps {
		c.q.spent += n
	}
	for i, o := range outcomes {
		if o == fits {
			out.lists = append(out.lists, c.q.answers[i].nodes)
		}
	}
	return out, err
}

// fittingWith returns the nodes on which the claims can be allocated with the edits made for real, in the whole
// snapshot. When the edits are about more than the claims, only the nodes that come nearest are asked in a large
// cluster, and one more.
func (c *clusterSandbox) fittingWith(ctx context.Context, edits []edit, more inspect.NodeName) (nodeSet, error) {
	if onlySpecEdits(edits) {
		return c.fitting(ctx, c.q.cluster.WithStepLimit(probeSteps), edits)
	}
	nodes := c.nodes
	if len(nodes) > maxSwept {
		nodes = c.nearNodes()
		if node, ok := c.q.cluster.Snapshot().Node(more); ok && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	cluster, claims := c.q.real(ctx, edits)
	return sweep(ctx, cluster, nodes, claims)
}

// real makes the edits in the whole snapshot, and classes change for all who use them. It returns the cluster and the
// claims that are then asked for.
func (q *question) real(ctx context.Context, edits []edit) (*allocator.Cluster, []*resourcev1.ResourceClaim) {
	d := q.draft(edits)
	d.changeClasses(ctx)
	return d.cluster(q.cluster.Snapshot(), q.cluster), d.result(ctx)
}

// nodeSet is some of the nodes: lists of their indices, each ascending.
type nodeSet struct {
	nodes []*corev1.Node
	lists [][]int
}

func (n nodeSet) len() int {
	sum := 0
	for _, list := range n.lists {
		sum += len(list)
	}
	return sum
}

// first returns the name of the first node, or "".
func (n nodeSet) first() inspect.NodeName {
	if len(n.lists) == 0 {
		return ""
	}
	at := slices.MinFunc(n.lists, func(a, b []int) int { return a[0] - b[0] })
	return inspect.NodeName(n.nodes[at[0]].Name)
}

func (n nodeSet) contains(name inspect.NodeName) bool {
	return slices.ContainsFunc(n.lists, func(list []int) bool {
		return slices.ContainsFunc(list, func(i int) bool { return n.nodes[i].Name == string(name) })
	})
}

// sweep returns the nodes on which the claims can be allocated.
func sweep(ctx context.Context, c *allocator.Cluster, nodes []*corev1.Node, claims []*resourcev1.ResourceClaim) (nodeSet, error) {
	kinds, err := c.Sweep(ctx, nodes, claims)
	out := nodeSet{nodes: nodes}
	for i := range kinds {
		if r := kinds[i].Result; r != nil && r.Outcome == allocator.Allocated {
			out.lists = append(out.lists, kinds[i].Nodes)
		}
	}
	return out, err
}
