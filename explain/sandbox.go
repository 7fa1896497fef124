package explain

import (
	"cmp"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sandbox is one node with all that can decide about it and nothing else: the pools that reach it, whole,
// and the claims that hold devices of these. What-if questions are asked of it, so that their cost does
// not depend on the size of the cluster.
type sandbox struct {
	q        *question
	node     *corev1.Node
	snapshot *inspect.Snapshot
	// holders are the claims that hold devices of the pools other than by admin access, sorted; not those that
	// the pod in question needs itself.
	holders []inspect.ClaimRef
	devices map[inspect.ClaimRef][]inspect.DeviceID
	// clusters are kept for the worlds that were asked about, by what was changed in them.
	clusters map[string]*allocator.Cluster
	known    *knownExamination
}

// knownExamination remembers what examination returns.
type knownExamination struct{ exam *allocator.Examination }

// sandboxOf returns the sandbox of a node, made when first asked for. It is nil when there is none.
func (q *question) sandboxOf(name inspect.NodeName) *sandbox {
	b, ok := q.sandboxes[name]
	if !ok {
		if node, found := q.cluster.Snapshot().Node(name); found {
			b = q.newSandbox(node)
		}
		if q.sandboxes == nil {
			q.sandboxes = map[inspect.NodeName]*sandbox{}
		}
		q.sandboxes[name] = b
	}
	return b
}

// newSandbox cuts the surroundings of a node out of the snapshot. It is nil when the pools of the node cannot be
// told, which makes the scheduler give up.
func (q *question) newSandbox(node *corev1.Node) *sandbox {
	s := q.cluster.Snapshot()
	pools, err := s.PoolsOn(node)
	if err != nil {
		return nil
	}
	b := &sandbox{q: q, node: node, clusters: map[string]*allocator.Cluster{}, devices: map[inspect.ClaimRef][]inspect.DeviceID{}}
	ids := map[inspect.PoolID]bool{}
	for _, p := range pools {
		ids[p.ID] = true
	}
	objects := inspect.Objects{
		Nodes:   []*corev1.Node{node},
		Classes: append(slices.Clone(s.Objects().Classes), &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: anyClass}}),
	}
	for id := range ids {
		objects.Slices = append(objects.Slices, s.SlicesIn(id)...)
	}
	slices.SortFunc(objects.Slices, func(a, b *resourcev1.ResourceSlice) int { return cmp.Compare(a.Name, b.Name) })
	for _, slice := range objects.Slices {
		b.findHolders(s, slice)
	}
	for ref := range b.devices {
		if !q.own[ref] {
			b.holders = append(b.holders, ref)
		}
		if claim, ok := s.Claim(ref); ok {
			objects.Claims = append(objects.Claims, claim)
		}
	}
	slices.SortFunc(b.holders, compareRefs)
	// The slices carry the taints of DeviceTaintRules already, so the rules stay out.
	b.snapshot = inspect.New(objects, inspect.Config{
		Revision: s.Revision(), Time: s.Time(), Features: s.Features(), ServerVersion: s.ServerVersion(),
	})
	return b
}

func (b *sandbox) findHolders(s *inspect.Snapshot, slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		id := inspect.DeviceIDOf(slice, i)
		for _, h := range s.Holders(id) {
			if !h.Admin() && !slices.Contains(b.devices[h.Claim], id) {
				b.devices[h.Claim] = append(b.devices[h.Claim], id)
			}
		}
	}
}

// examination is what each check says of each device of the node. It is nil when the scheduler gives up.
func (b *sandbox) examination(ctx context.Context) (*allocator.Examination, error) {
	if b.known == nil {
		exam, err := b.cluster(b.q.draft(nil)).Examine(ctx, b.node, b.q.claims)
		if err = allocator.IgnoreAbort(err); err != nil {
			return nil, err
		}
		b.known = &knownExamination{exam}
	}
	return b.known.exam, nil
}

// requestsExamined are the requests of the examination; there are none where the scheduler gives up.
func (b *sandbox) requestsExamined(ctx context.Context) ([]allocator.ExaminedRequest, error) {
	exam, err := b.examination(ctx)
	if err != nil || exam == nil {
		return nil, err
	}
	return exam.Requests, nil
}

// outcome is how a what-if question ended.
type outcome int

const (
	refused   outcome = iota // proved impossible
	fits                     // the scheduler would find devices
	aborted                  // the scheduler would give up with an error
	undecided                // not known: never counted as a proof
)

// try asks for the claims on the node with the edits made.
func (b *sandbox) try(ctx context.Context, edits []edit) (outcome, error) {
	d := b.q.draft(edits)
	return b.q.whatIf(ctx, b.cluster(d), b.node, d.result(ctx))
}

// cluster returns the cluster that a draft makes of the surroundings of the node.
func (b *sandbox) cluster(d *draft) *allocator.Cluster {
	key := d.worldKey()
	if c, ok := b.clusters[key]; ok {
		return c
	}
	c := d.cluster(b.snapshot, b.q.cluster)
	b.clusters[key] = c
	return c
}

// with returns the cluster of the surroundings of the node with objects changed: copies of them.
func (b *sandbox) with(change func(*inspect.Objects)) *allocator.Cluster {
	d := b.q.draft(nil)
	d.change("objects", change)
	return d.cluster(b.snapshot, b.q.cluster)
}

// maxSteps bounds the search steps that a question may spend on its conflict and fixes in all, a few
// seconds. What is not answered by then is not known.
const maxSteps = 1_000_000

// exhausted reports whether all steps are spent.
func (q *question) exhausted() bool { return q.spent > maxSteps }

// whatIf asks another question about a node, as long as there are steps to spend.
func (q *question) whatIf(ctx context.Context, c *allocator.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (outcome, error) {
	if q.exhausted() {
		return undecided, nil
	}
	o, steps, err := outcomeOf(ctx, c, node, claims)
	q.spent += steps
	return o, err
}

// outcomeOf asks whether the claims can be allocated on the node, and tells the steps that took.
func outcomeOf(ctx context.Context, c *allocator.Cluster, node *corev1.Node, claims []*resourcev1.ResourceClaim) (outcome, int64, error) {
	result, err := c.Allocate(ctx, node, claims, nil)
	var abort *allocator.AbortError
	switch {
	case errors.As(err, &abort):
		return aborted, 0, nil
	case err != nil:
		return undecided, 0, err
	case result.Outcome == allocator.Allocated:
		return fits, result.Steps, nil
	case result.Outcome == allocator.Unsatisfiable:
		return refused, result.Steps, nil
	}
	return undecided, result.Steps, nil
}
