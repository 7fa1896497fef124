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
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
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
	// Looked, if not nil, is called, by several goroutines at once, whenever the cause of more is known,
	// those first of which there are most, and left is the number of kinds that are left. soFar is what is
	// known then, without fixes, and what is left as not looked into; each call of it takes a moment.
	Looked func(left int, soFar func() *explain.Triage)
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
// that is no abort. When the context ends once it is known what waits, the Triage is what is known so far,
// and says what is missing.
func Of(ctx context.Context, c *scheduler.Cluster, opts Options) (*explain.Triage, error) {
	queue, others := queueOf(c.Snapshot(), opts)
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
	shapes := before.stuckShapes()
	limit := max(minShapes, min(maxShapes, maxShapesTimesNodes/max(1, len(c.Snapshot().Nodes()))))
	l := &look{cluster: c, opts: &opts, run: before, known: known, others: others, held: heldIn(c.Snapshot(), queue, &opts), shapes: shapes[:min(len(shapes), limit)]}
	before.given = l.held.given
	if err = l.explainAll(ctx); err == nil {
		err = l.tryChanges(ctx)
	}
	switch {
	case err == nil:
		return l.soFar(), nil
	case ctx.Err() == nil:
		return nil, err
	}
	t := l.soFar()
	t.Partial = append(t.Partial, l.missing())
	return t, err
}

// look is what is known in the course of looking at everything that is stuck.
type look struct {
	cluster *scheduler.Cluster
	opts    *Options
	*run
	known  *explain.Replay
	others map[string][]explain.Subject
	held   *held
	// shapes are those of which the cause is looked for.
	shapes []*shape
	mutex  sync.Mutex
	// answers are those that are there.
	answers map[*shape]*answer
	// trials are the changes to be tried, once they are known, and cut says that there are more.
	trials []*trial
	cut    bool
}

// soFar is what is known.
func (l *look) soFar() *explain.Triage {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	s := l.cluster.Snapshot()
	t := &explain.Triage{At: s.Time(), Basis: cycle.BasisOf(l.cluster), Partial: cycle.Unread(s), OtherSchedulers: l.others, SchedulerPods: schedulerPods(s, l.others), Node: l.opts.Question.Node}
	t.Unseen = s.Health(inspect.Pods).PartialIn(l.opts.Namespace) || s.Health(inspect.Claims).PartialIn(l.opts.Namespace)
	if s.Health(inspect.Pods).State == inspect.NotRead {
		t.Unseen, t.Partial = true, append(t.Partial, "no pods were read")
	}
	causes := newCollection(s, l.opts.Question.Node)
	causes.addQueue(t, l.run, l.answers, l.held, *l.opts)
	causes.addWorkloads(l.held)
	if t.Unsure = !l.known.Certain && len(l.known.Ties) == 0 && len(t.Ready)+len(t.Depends) > 0; t.Unsure {
		t.Partial = append(t.Partial, l.known.Remarks...)
	}
	causes.addRunning(*l.opts)
	causes.addDeleting(*l.opts)
	if len(l.trials) > 0 && !l.comparesNodes(l.cluster) {
		t.Basis.Remarks = append(t.Basis.Remarks, "where a change lets a pod fit on several nodes, the first of them is assumed; the scheduler chooses among them by its scores")
	}
	if l.cut {
		t.Partial = append(t.Partial, fmt.Sprintf("so much is stuck that only %s %s tried on all of it: others may unblock more",
			words.Count(len(l.trials), "change"), words.Plural(len(l.trials), "was", "were")))
	}
	causes.addFixes(l.trials, l.queue)
	t.Causes = causes.sorted()
	return t
}

// missing says of what is known so far what it lacks.
func (l *look) missing() string {
	if n := len(l.shapes) - len(l.answers); n > 0 {
		return fmt.Sprintf("interrupted: of what is stuck, %d of %d kinds of pods and claims were not looked into, and no changes were tried on all that waits",
			n, len(l.shapes))
	}
	untried := 0
	for _, t := range l.trials {
		untried += words.Btoi(!t.tried)
	}
	return fmt.Sprintf("interrupted: of %s that %s somebody, %d were not tried on all that waits",
		words.Count(len(l.trials), "change"), words.Plural(len(l.trials), "helps", "help"), untried)
}

// addQueue sorts what was asked about of the queue: what can be placed, what is stuck and why, and what is
// not known.
func (c *collection) addQueue(t *explain.Triage, r *run, answers map[*shape]*answer, h *held, opts Options) {
	for i, q := range r.queue {
		if !q.asked {
			continue
		}
		o := r.outcomes[i]
		a := answers[q.shape]
		if pod, ok := q.subject.(*corev1.Pod); ok {
			t.Waiting++
			if w := h.pods[inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}]; w != nil {
				c.addHeld(heldSubject(pod), w)
				continue
			}
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
func (l *look) tryChanges(ctx context.Context) error {
	if l.opts.Untried {
		return nil
	}
	l.trials, l.cut = candidatesOf(l.cluster, l.shapes, l.answers)
	return l.try(ctx, l.cluster, l.trials, l.opts)
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
func (l *look) explainAll(ctx context.Context) error {
	l.answers = map[*shape]*answer{}
	members := map[*shape][]int{}
	for i, q := range l.queue {
		if l.outcomes[i] == stuck {
			members[q.shape] = append(members[q.shape], i)
		}
	}
	after := sync.OnceValue(func() *scheduler.Cluster { return replay.With(l.cluster, l.reservations...) })
	within, step := progress.Begin(ctx, "explaining kinds of pods and claims", len(l.shapes))
	return allocator.Parallel(len(l.shapes), func(i int) error {
		a := &answer{number: i, members: members[l.shapes[i]]}
		subject := l.queue[a.members[0]].subject
		err := l.opts.bound(within, func(ctx context.Context) (err error) {
			if a.e, err = question.Object(ctx, l.cluster, subject, l.opts.Question); err != nil || !fits(a.e) {
				return err
			}
			a.behind = true
			a.e, err = question.Object(ctx, after(), subject, l.opts.Question.Supposing(l.reservations))
			a.fits = err == nil && fits(a.e)
			return err
		})
		switch {
		case errors.Is(err, ErrTooLong):
			a.e = nil
		case err != nil:
			return err
		case !a.behind && l.opts.Explained != nil:
			l.opts.Explained(a.e)
		}
		l.mutex.Lock()
		l.answers[l.shapes[i]] = a
		left := len(l.shapes) - len(l.answers)
		l.mutex.Unlock()
		step()
		if l.opts.Looked != nil {
			l.opts.Looked(left, l.soFar)
		}
		return nil
	})
}

func fits(e *explain.Explanation) bool {
	return e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated
}
