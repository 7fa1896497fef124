package whatif

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Sandbox is one node with all that can decide about its devices and nothing else: the pools that reach it,
// whole, and the claims that hold devices of these. What-if questions are asked of it, so that their cost
// does not depend on the size of the cluster. The scheduler's other filters look at other nodes too; they are
// asked about the node in the snapshot of the question.
type Sandbox struct {
	Q        *Question
	Node     *corev1.Node
	Snapshot *inspect.Snapshot
	// Holders are the claims that hold devices of the pools other than by admin access, sorted; not those
	// that the pod in question needs itself.
	Holders []inspect.ClaimRef
	Devices map[inspect.ClaimRef][]inspect.DeviceID
	// clusters are kept for the drafts that were asked about, by what was changed in them.
	clusters map[string]*scheduler.Cluster
	// exam is what Examination returns, once that is known.
	exam     *allocator.Examination
	examined bool
}

// SandboxOf returns the sandbox of a node, made when first asked for. It is nil when there is none.
func (q *Question) SandboxOf(name inspect.NodeName) *Sandbox {
	b, ok := q.sandboxes[name]
	if !ok {
		if node, found := q.Cluster.Snapshot().Node(name); found {
			b = q.newSandbox(node)
		}
		if q.sandboxes == nil {
			q.sandboxes = map[inspect.NodeName]*Sandbox{}
		}
		q.sandboxes[name] = b
	}
	return b
}

// newSandbox cuts the surroundings of a node out of the snapshot. It is nil when the pools of the node cannot
// be told, which makes the scheduler give up.
func (q *Question) newSandbox(node *corev1.Node) *Sandbox {
	s := q.Cluster.Snapshot()
	pools, err := s.PoolsOn(node)
	if err != nil {
		return nil
	}
	b := &Sandbox{Q: q, Node: node, clusters: map[string]*scheduler.Cluster{}, Devices: map[inspect.ClaimRef][]inspect.DeviceID{}}
	ids := map[inspect.PoolID]bool{}
	for _, p := range pools {
		ids[p.ID] = true
	}
	for _, p := range s.IgnoredOn(node) { // they come back with their gates
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
	for ref := range b.Devices {
		if !q.Own[ref] {
			b.Holders = append(b.Holders, ref)
		}
		if claim, ok := s.Claim(ref); ok {
			objects.Claims = append(objects.Claims, claim)
		}
	}
	slices.SortFunc(b.Holders, CompareRefs)
	// The slices carry the taints of DeviceTaintRules already, so the rules stay out.
	b.Snapshot = inspect.New(objects, inspect.Config{
		Revision: s.Revision(), Time: s.Time(), Features: s.Features(), ServerVersion: s.ServerVersion(),
	})
	return b
}

// Releasable are the holders that somebody can release: those that hold devices in fact, not by supposition.
func (b *Sandbox) Releasable() []inspect.ClaimRef {
	return slices.DeleteFunc(slices.Clone(b.Holders), func(ref inspect.ClaimRef) bool { return b.Q.Supposed[ref] })
}

func (b *Sandbox) findHolders(s *inspect.Snapshot, slice *resourcev1.ResourceSlice) {
	for i := range slice.Spec.Devices {
		id := inspect.DeviceIDOf(slice, i)
		for _, h := range s.Holders(id) {
			if !h.Admin() && !slices.Contains(b.Devices[h.Claim], id) {
				b.Devices[h.Claim] = append(b.Devices[h.Claim], id)
			}
		}
	}
}

// Examination is what each check says of each device of the node. It is nil when the scheduler gives up.
func (b *Sandbox) Examination(ctx context.Context) *allocator.Examination {
	if !b.examined {
		exam, err := b.Draft(ctx, nil).Cluster.Examine(ctx, b.Node, b.Q.Claims)
		if err = allocator.IgnoreAbort(err); err != nil {
			b.Q.Fail(err)
			return nil
		}
		b.exam, b.examined = exam, true
	}
	return b.exam
}

// RequestsExamined are the requests of the examination; there are none where the scheduler gives up.
func (b *Sandbox) RequestsExamined(ctx context.Context) []allocator.ExaminedRequest {
	if exam := b.Examination(ctx); exam != nil {
		return exam.Requests
	}
	return nil
}

// Try asks for the claims on the node with the edits made. An error is that of the question (see
// [Question.Err]), and nothing is known then.
func (b *Sandbox) Try(ctx context.Context, edits []Edit) Outcome {
	if b.Q.Exhausted() {
		return Undecided
	}
	return b.Q.whatIf(ctx, b.Draft(ctx, edits), b.Node)
}

// Draft is the question with the edits made, in the surroundings of the node.
func (b *Sandbox) Draft(ctx context.Context, edits []Edit) *Draft {
	d := b.Q.draft(edits)
	key := d.worldKey()
	if b.clusters[key] == nil {
		b.clusters[key] = d.build(b.Snapshot, b.Q.Cluster)
	}
	return d.in(ctx, b.clusters[key], false)
}

// maxSteps bounds the search steps that a question may spend on its conflict and fixes in all, a few
// seconds. What is not answered by then is not known.
const maxSteps = 1_000_000

// Exhausted reports whether all steps are spent, or an error ends the search.
func (q *Question) Exhausted() bool { return q.Spent > maxSteps || q.err != nil }

// Err is the first error of a what-if question: that of the context, or one of the allocator that is no
// abort. Whatever is asked from then on is not known, so a search checks for it once, at its end.
func (q *Question) Err() error { return q.err }

// Fail notes an error, which may be nil.
func (q *Question) Fail(err error) { q.err = cmp.Or(q.err, err) }

// whatIf asks another question about a node, as long as there are steps to spend.
func (q *Question) whatIf(ctx context.Context, d *Draft, node *corev1.Node) Outcome {
	if q.Exhausted() {
		return Undecided
	}
	o, steps, err := d.Outcome(ctx, node)
	q.Spent += steps
	q.Fail(err)
	return o
}

// ProbeSteps bounds every single search of a what-if question.
const ProbeSteps = 100_000
