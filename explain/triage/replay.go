package triage

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// replay schedules all that waits, one after the other in the order of the queue, as the scheduler would: each gets what it
// needs of what those before it have left.
type replay struct {
	cluster *scheduler.Cluster
	opts    Options
	queue   []queued
	// outcomes are by the index in the queue.
	outcomes []outcome
	// nodes are those that kube-scheduler chooses for pods where several fit, as far as they are known.
	nodes map[explain.Subject]inspect.NodeName
	// placed are the decisions by which subjects got something, in their order.
	placed []*question.Decision
	// alone is what becomes of each shape while nothing is placed.
	alone map[*shape]outcome
	// refused are the refusals of shapes, and from are the indices of the nodes before which nothing fits a shape any more.
	refused map[*shape]refusal
	from    map[*shape]int
	// limit is how many subjects are placed at most. Beyond it nothing is decided.
	limit int
}

// limits of the subjects that are placed, in the cluster as it is and for each change. They are bounded since each makes
// another cluster: their number times that of the nodes.
const (
	maxPlaced, minPlaced       = 2_000_000, 256
	maxPlacedTrial, minInTrial = 200_000, 32
)

// outcome is what became of a subject.
type outcome struct {
	verdict explain.Verdict
	// first says that nothing had been placed before, so that the verdict is that of the cluster as it is.
	first bool
	// tooLong says that the question was given up. The verdict is then Unknown.
	tooLong bool
}

// placed reports whether the scheduler places the subject.
func (o outcome) placed() bool {
	return o.verdict == explain.Allocatable || o.verdict == explain.Allocated
}

// refusal is a refusal of a shape, and how many subjects had been placed before.
type refusal struct {
	outcome
	after int
}

// run schedules the queue in a cluster.
func run(ctx context.Context, c *scheduler.Cluster, queue []queued, nodes map[explain.Subject]inspect.NodeName, limit int, opts Options) (*replay, error) {
	r := &replay{
		cluster: c, opts: opts, queue: queue, nodes: nodes, limit: limit, outcomes: make([]outcome, len(queue)),
		alone: map[*shape]outcome{}, refused: map[*shape]refusal{}, from: map[*shape]int{},
	}
	if err := r.askFirst(ctx); err != nil {
		return nil, err
	}
	for i := range queue {
		if err := r.take(ctx, i); err != nil {
			return nil, err
		}
	}
	return r, r.again(ctx)
}

// again takes what was refused once more, as long as something was placed since that may have helped it.
func (r *replay) again(ctx context.Context) error {
	for before := -1; before != len(r.placed); {
		before = len(r.placed)
		for i := range r.queue {
			if r.outcomes[i].placed() || r.outcomes[i].tooLong {
				continue
			}
			if err := r.take(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// askFirst asks about all shapes while nothing is placed, several at a time.
func (r *replay) askFirst(ctx context.Context) error {
	var shapes []*shape
	seen := map[*shape]bool{}
	var subjects []metav1.Object
	for _, q := range r.queue {
		if !seen[q.shape] {
			seen[q.shape] = true
			shapes, subjects = append(shapes, q.shape), append(subjects, q.subject)
		}
	}
	found := make([]outcome, len(shapes))
	err := allocator.Parallel(len(shapes), func(i int) error {
		_, o, err := r.decide(ctx, subjects[i], r.opts.Question)
		found[i] = o
		return err
	})
	for i, o := range found {
		o.first = true
		r.alone[shapes[i]] = o
		if !o.placed() {
			r.refused[shapes[i]] = refusal{outcome: o}
		}
	}
	return err
}

// take takes a subject from the queue.
func (r *replay) take(ctx context.Context, i int) error {
	q := &r.queue[i]
	if _, pod := q.subject.(*corev1.Pod); !pod { // no pod uses the claim, so it has no turn
		r.outcomes[i] = r.alone[q.shape]
		return nil
	}
	if known, ok := r.refused[q.shape]; ok && (known.after == len(r.placed) || q.shape.onlyLoses && known.verdict == explain.Unsatisfiable) {
		r.outcomes[i] = known.outcome
		return nil
	}
	if len(r.placed) == r.limit {
		return nil
	}
	d, o, err := r.find(ctx, q)
	if err != nil {
		return err
	}
	o.first = len(r.placed) == 0
	r.outcomes[i] = o
	if !o.placed() {
		r.refused[q.shape] = refusal{o, len(r.placed)}
		return nil
	}
	if d.Places() {
		r.place(q.shape, d)
	}
	return nil
}

// find asks about a subject: first the node that kube-scheduler chooses, if it is known. Nodes that have refused its shape do so
// again, so otherwise the search goes on where the last subject of the shape was placed.
func (r *replay) find(ctx context.Context, q *queued) (*question.Decision, outcome, error) {
	nodes := r.cluster.Snapshot().Nodes()
	if node, ok := r.cluster.Snapshot().Node(r.nodes[subjectOf(q.subject)]); ok {
		d, o, err := r.decide(ctx, q.subject, r.opts.Question.Among([]*corev1.Node{node}))
		if err != nil || o.verdict != explain.Unsatisfiable {
			return d, o, err
		}
	}
	from, known := r.from[q.shape]
	for size := 1; known && from < len(nodes); size *= 16 {
		some := nodes[from:min(len(nodes), from+size)]
		d, o, err := r.decide(ctx, q.subject, r.opts.Question.Among(some))
		if err != nil || o.verdict != explain.Unsatisfiable {
			return d, o, err
		}
		from += len(some)
	}
	return r.decide(ctx, q.subject, r.opts.Question)
}

// decide asks what the scheduler would do with a subject now. A question that takes too long is given up.
func (r *replay) decide(ctx context.Context, subject metav1.Object, opts question.Options) (*question.Decision, outcome, error) {
	var d *question.Decision
	err := r.opts.bound(ctx, func(ctx context.Context) (err error) {
		d, err = question.Decide(ctx, r.cluster, subject, opts)
		return err
	})
	switch {
	case errors.Is(err, ErrTooLong):
		return nil, outcome{verdict: explain.Unknown, tooLong: true}, nil
	case err != nil:
		return nil, outcome{}, err
	}
	return d, outcome{verdict: d.Verdict}, nil
}

// place puts what a subject gets into the cluster.
func (r *replay) place(of *shape, d *question.Decision) {
	r.placed = append(r.placed, d)
	r.cluster = scheduler.NewCluster(r.cluster.Snapshot().With(func(o *inspect.Objects) { d.Put(o) }), scheduler.Options{Like: r.cluster})
	delete(r.from, of)
	if !of.onlyLoses || !d.Local {
		return
	}
	if i := slices.IndexFunc(r.cluster.Snapshot().Nodes(), func(n *corev1.Node) bool { return n.Name == string(d.Node) }); i >= 0 {
		r.from[of] = i
	}
}

// cut reports whether something was not decided.
func (r *replay) cut() bool {
	return slices.ContainsFunc(r.outcomes, func(o outcome) bool { return o.verdict == "" })
}
