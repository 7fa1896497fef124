package triage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Options narrow what is looked at.
type Options struct {
	// Namespace is the only one whose subjects are told. If it is "", those of all are. What waits elsewhere
	// is scheduled too, since it may take what they need.
	Namespace string
	// Kind is the only kind of subjects that are told, Pod or ResourceClaim. If it is "", both are.
	Kind string
	// Selector selects the subjects by their labels. If it is nil, all are.
	Selector labels.Selector
	// Question are options of the single questions.
	Question question.Options
	// Explained, if not nil, is called with each explanation of a subject in the cluster as it is. It may be
	// called by several goroutines at once.
	Explained func(*explain.Explanation)
	// Bound, if not nil, asks one of the questions, and gives it up with ErrTooLong when it takes longer than
	// it may.
	Bound func(ctx context.Context, ask func(context.Context) error) error
	// Untried leaves out to try changes on all that waits, which takes longer than all else. Causes have no
	// fixes then.
	Untried bool
	// maxFreed, if not 0, is how many a change frees at most until the rest is no longer counted.
	maxFreed int
}

// ErrTooLong is wrapped by the error of Options.Bound.
var ErrTooLong = errors.New("the question takes too long")

func (o *Options) bound(ctx context.Context, ask func(context.Context) error) error {
	if o.Bound == nil {
		return ask(ctx)
	}
	return o.Bound(ctx, ask)
}

// asks reports whether an object is among those that are told.
func (o *Options) asks(object metav1.Object) bool {
	return (o.Namespace == "" || object.GetNamespace() == o.Namespace) && (o.Kind == "" || cycle.SubjectOf(object).Kind == o.Kind) &&
		(o.Selector == nil || o.Selector.Matches(labels.Set(object.GetLabels())))
}

const (
	// maxShapes is the number of different questions of which the cause is looked for, and minShapes that in
	// any cluster.
	maxShapes, minShapes = 200, 10
	// maxShapesTimesNodes bounds their number times that of the nodes.
	maxShapesTimesNodes = 500_000
)

// Of looks at everything that is stuck in a cluster. The error is that of the context, or of an allocation
// that is no abort.
func Of(ctx context.Context, c *scheduler.Cluster, opts Options) (*explain.Triage, error) {
	s := c.Snapshot()
	t := &explain.Triage{At: s.Time(), Basis: question.Basis(c), Partial: question.Limits(s)}
	queue, others := queueOf(s, opts)
	t.OtherSchedulers = others
	t.Unseen = s.Health(inspect.Pods).PartialIn(opts.Namespace) || s.Health(inspect.Claims).PartialIn(opts.Namespace)
	if s.Health(inspect.Pods).State == inspect.NotRead {
		t.Unseen, t.Partial = true, append(t.Partial, "no pods were read")
	}
	known, played, err := plan.Outcome(ctx, c, opts.Question.Choosing)
	if err != nil {
		return nil, fmt.Errorf("placing what waits: %w", err)
	}
	before, err := runOf(ctx, c, queue, played, &opts)
	if err != nil {
		return nil, err
	}
	if err := before.unclear(ctx, c, known, played, &opts); err != nil {
		return nil, err
	}
	causes := newCollection(s)
	shapes := before.stuckShapes()
	limit := max(minShapes, min(maxShapes, maxShapesTimesNodes/max(1, len(s.Nodes()))))
	looked := shapes[:min(len(shapes), limit)]
	answers, err := before.explainAll(ctx, c, looked, &opts)
	if err != nil {
		return nil, err
	}
	causes.addQueue(t, before, answers, opts)
	if t.Unsure = !known.Certain && len(known.Ties) == 0 && len(t.Ready)+len(t.Depends) > 0; t.Unsure {
		t.Partial = append(t.Partial, known.Remarks...)
	}
	causes.addRunning(opts)
	causes.addDeleting(opts)
	if err := causes.tryChanges(ctx, c, t, before, looked, answers, opts); err != nil {
		return nil, err
	}
	t.Causes = causes.sorted()
	return t, nil
}

// addQueue sorts what was asked about of the queue: what can be placed, what is stuck and why, and what is
// not known.
func (c *collection) addQueue(t *explain.Triage, r *run, answers map[*shape]*answer, opts Options) {
	for i, q := range r.queue {
		if !q.asked {
			continue
		}
		o := r.outcomes[i]
		a := answers[q.shape]
		if _, pod := q.subject.(*corev1.Pod); pod {
			t.Waiting++
		} else if o == placed {
			continue // it could have its devices, and no pod wants them
		}
		switch {
		case o == placed && c.binding(t, q.subject, opts):
		case o == placed:
			t.Ready = append(t.Ready, cycle.SubjectOf(q.subject))
		case o == depends, a != nil && a.fits:
			t.Depends = append(t.Depends, cycle.SubjectOf(q.subject))
		case o == notTried || a == nil || a.e == nil:
			t.NotLookedInto = append(t.NotLookedInto, cycle.SubjectOf(q.subject))
		default:
			c.addWaiting(q.subject, a)
		}
	}
}

// tryChanges tries what helps somebody on all that is stuck.
func (c *collection) tryChanges(ctx context.Context, cluster *scheduler.Cluster, t *explain.Triage, r *run, looked []*shape, answers map[*shape]*answer, opts Options) error {
	trials, cut := candidatesOf(cluster, looked, answers)
	if opts.Untried {
		trials, cut = nil, false
	}
	if err := r.try(ctx, cluster, trials, &opts); err != nil {
		return err
	}
	if len(trials) > 0 && !r.comparesNodes(cluster) {
		t.Basis.Remarks = append(t.Basis.Remarks, "where a change lets a pod fit on several nodes, the first of them is assumed; the scheduler chooses among them by its scores")
	}
	if cut {
		t.Partial = append(t.Partial, fmt.Sprintf("so much is stuck that only %s %s tried on all of it: others may unblock more", words.Count(len(trials), "change"), words.Plural(len(trials), "was", "were")))
	}
	c.addFixes(trials, r.queue)
	return nil
}

// stuckShapes are the shapes of what is not placed and was asked about: those first of which there are most.
func (r *run) stuckShapes() []*shape {
	count := map[*shape]int{}
	var out []*shape
	for i, q := range r.queue {
		if r.outcomes[i] != stuck || !q.asked {
			continue
		}
		if count[q.shape] == 0 {
			out = append(out, q.shape)
		}
		count[q.shape]++
	}
	slices.SortStableFunc(out, func(a, b *shape) int { return count[b] - count[a] })
	return out
}

// answer is the explanation of a shape that is stuck.
type answer struct {
	// e is nil if the question was given up.
	e *explain.Explanation
	// number tells answers apart.
	number int
	// behind says that the shape fits the cluster as it is, and no longer when those before it in the queue
	// are placed, and fits that it does even then.
	behind, fits bool
	// members are the indices in the queue of those that are stuck. The first of them was asked about.
	members []int
}

// explainAll explains shapes: in the cluster as it is if they are refused there, or else in the one in which
// all that can be placed is.
func (r *run) explainAll(ctx context.Context, c *scheduler.Cluster, shapes []*shape, opts *Options) (map[*shape]*answer, error) {
	out := map[*shape]*answer{}
	for i, s := range shapes {
		out[s] = &answer{number: i}
	}
	for i, q := range r.queue {
		if a, ok := out[q.shape]; ok && r.outcomes[i] == stuck {
			a.members = append(a.members, i)
		}
	}
	after := sync.OnceValue(func() *scheduler.Cluster { return cycle.With(c, r.reservations...) })
	err := allocator.Parallel(len(shapes), func(i int) error {
		a := out[shapes[i]]
		subject := r.queue[a.members[0]].subject
		err := opts.bound(ctx, func(ctx context.Context) (err error) {
			if a.e, err = question.Object(ctx, c, subject, opts.Question); err != nil || !fits(a.e) {
				return err
			}
			a.behind = true
			a.e, err = question.Object(ctx, after(), subject, opts.Question.Supposing(r.reservations))
			a.fits = err == nil && fits(a.e)
			return err
		})
		switch {
		case errors.Is(err, ErrTooLong):
			a.e, err = nil, nil
		case err == nil && !a.behind && opts.Explained != nil:
			opts.Explained(a.e)
		}
		return err
	})
	return out, err
}

func fits(e *explain.Explanation) bool {
	return e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated
}
