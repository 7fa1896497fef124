package question

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/together"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Objects explains several pods, claims and templates that need not be in the snapshot. They are asked one
// after the other, and each when those before it have got their devices, so that no device is given twice
// ([explain.Explanation.Turn]). Their turns are in the order in which the scheduler takes pods: those of a
// higher priority first, then those that were created earlier, and otherwise as given. The answers are in the
// order of the subjects.
//
// A claim does not stand in the way of a pod that uses it, nor of the other claims of that pod: the scheduler
// decides all claims of a pod together. Errors are those of [Object].
func Objects(ctx context.Context, c *scheduler.Cluster, subjects []metav1.Object, opts Options) ([]*explain.Explanation, error) {
	out := make([]*explain.Explanation, len(subjects))
	opts.gangs = map[inspect.PodRef]*gang{}
	queue := &sequence{base: c, opts: opts, asks: together.Asks(c), alone: map[inspect.PodRef]*gang{}}
	order := cycle.QueueOrder(c.Snapshot(), subjects)
	for _, i := range order {
		queue.all = append(queue.all, subjects[i])
	}
	within, step := ctx, func() {}
	if len(subjects) > 1 {
		within, step = progress.Begin(ctx, "explaining", len(subjects))
	}
	for _, i := range order {
		e, err := queue.ask(within, subjects[i])
		if err != nil {
			return nil, err
		}
		out[i] = e
		step()
	}
	return out, nil
}

// sequence is a number of subjects that are asked one after the other.
type sequence struct {
	base *scheduler.Cluster
	opts Options
	took []reservation
	// all are the subjects in the order in which they are asked.
	all  []metav1.Object
	runs *runs
	// asks is how many questions are left to find out how all can be placed together.
	asks int
	// preempting are those for which the scheduler ends other pods.
	preempting []string
	// alone are gangs that were decided without those before.
	alone map[inspect.PodRef]*gang
}

// reservation is the devices that a subject got.
type reservation struct {
	by explain.Subject
	// pods are those that use the subject if it is a claim.
	pods []inspect.PodRef
	*replay.Reservation
}

// ask puts a question about a subject, and notes what it gets.
func (r *sequence) ask(ctx context.Context, subject metav1.Object) (*explain.Explanation, error) {
	r.decidedWith(subject)
	before := r.before(subject)
	cluster, opts := r.base, r.opts
	if len(before) > 0 {
		var reservations []*replay.Reservation
		for _, t := range before {
			reservations = append(reservations, t.Reservation)
		}
		cluster, opts = replay.With(r.base, reservations...), opts.Supposing(reservations)
	}
	e, q, err := ask(ctx, cluster, subject, opts)
	if err != nil {
		return nil, err
	}
	t, err := reservationOf(ctx, r.base.Snapshot(), subject, e, q)
	if err != nil {
		return nil, err
	}
	if t != nil {
		if err := r.choose(ctx, t, q, e); err != nil {
			return nil, err
		}
		r.took = append(r.took, *t)
	}
	if err := r.remark(ctx, subject, e, before); err != nil {
		return nil, err
	}
	return e, r.overAllRuns(ctx, subject, e)
}

// remark says of an answer which subjects had got their devices before, and what would be true without them
// if the answer is no.
func (r *sequence) remark(ctx context.Context, subject metav1.Object, e *explain.Explanation, before []reservation) error {
	if len(before) == 0 || e.Verdict == explain.Allocated && !supposedTo(e, before) {
		return nil
	}
	e.Turn = &explain.Turn{After: []explain.Subject{}}
	for _, t := range before {
		e.Turn.After = append(e.Turn.After, t.by)
	}
	if e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated {
		return nil
	}
	opts := r.opts
	opts.gangs = r.alone
	alone, _, err := ask(ctx, r.base, subject, opts)
	if err != nil {
		return err
	}
	e.Turn.Alone, e.Turn.AloneNodes = alone.Verdict, &alone.Nodes
	return nil
}

// choose puts a pod on the node that kube-scheduler chooses for it, or on the first of those that it may
// choose.
func (r *sequence) choose(ctx context.Context, t *reservation, q *whatif.Question, e *explain.Explanation) error {
	if t.Pod == nil || e.Verdict != explain.Allocatable || r.opts.Node != "" {
		return nil
	}
	chosen, err := replay.Choose(ctx, q, r.opts.Choosing)
	if err != nil || chosen == nil || chosen.Pod.Spec.NodeName == t.Pod.Spec.NodeName {
		return err
	}
	var allocations []resourcev1.AllocationResult
	for _, claim := range chosen.Claims {
		allocations = append(allocations, *claim.Status.Allocation)
	}
	t.Reservation, e.Allocation = chosen, allocationOn(chosen.Pod.Spec.NodeName, chosen.Claims, allocations)
	return nil
}

// supposedTo reports whether the devices of an answer are those that somebody got before.
func supposedTo(e *explain.Explanation, before []reservation) bool {
	return e.Allocation != nil && slices.ContainsFunc(e.Allocation.Devices, func(d explain.Device) bool {
		return slices.ContainsFunc(before, func(t reservation) bool {
			return slices.ContainsFunc(t.Claims, func(claim *resourcev1.ResourceClaim) bool { return inspect.RefOf(claim) == d.Claim })
		})
	})
}

// decidedWith forgets what claims of a pod got by themselves, when the turn of the pod comes.
func (r *sequence) decidedWith(subject metav1.Object) {
	if pod, ok := subject.(*corev1.Pod); ok {
		ref := inspect.PodRef{Namespace: pod.Namespace, Name: pod.Name}
		r.took = slices.DeleteFunc(r.took, func(t reservation) bool { return slices.Contains(t.pods, ref) })
	}
}

// before are the subjects that have got devices that a subject cannot have.
func (r *sequence) before(subject metav1.Object) []reservation {
	own := cycle.SubjectOf(subject)
	var out []reservation
	for _, t := range r.took {
		if t.by != own && !r.together(subject, t.by, t.pods) {
			out = append(out, t)
		}
	}
	return out
}

// together reports whether a subject that is a claim is decided together with another, which is a claim that
// these pods use, or a pod.
func (r *sequence) together(subject metav1.Object, other explain.Subject, pods []inspect.PodRef) bool {
	return slices.ContainsFunc(r.podsOf(subject), func(ref inspect.PodRef) bool {
		return slices.Contains(pods, ref) || other == explain.Subject{Kind: "Pod", Namespace: ref.Namespace, Name: ref.Name}
	})
}

// podsOf are the pods that use a subject that is a claim.
func (r *sequence) podsOf(subject metav1.Object) []inspect.PodRef {
	if claim, ok := subject.(*resourcev1.ResourceClaim); ok {
		return r.base.Snapshot().PodsOf(inspect.RefOf(claim))
	}
	return nil
}

// ask explains a subject, and returns the question that was put to the nodes. The question is nil if none
// was.
func ask(ctx context.Context, c *scheduler.Cluster, subject metav1.Object, opts Options) (*explain.Explanation, *whatif.Question, error) {
	switch subject := subject.(type) {
	case *corev1.Pod:
		return askPod(ctx, c, subject, opts)
	case *resourcev1.ResourceClaim:
		return askClaim(ctx, c, subject, opts)
	}
	e, err := Object(ctx, c, subject, opts)
	return e, nil, err
}

// reservationOf is what a subject gets by an answer. It is nil if that is nothing.
func reservationOf(ctx context.Context, s *inspect.Snapshot, subject metav1.Object, e *explain.Explanation, q *whatif.Question) (*reservation, error) {
	if q == nil || e.Verdict != explain.Allocatable && e.Verdict != explain.Allocated {
		return nil, nil
	}
	first := cycle.TallyOf(q.Answers).First
	if first == nil {
		return nil, nil
	}
	taken, err := replay.Reserve(ctx, q, first, first.Nodes[0], subject)
	if err != nil {
		return nil, err
	}
	t := &reservation{by: e.Subject, Reservation: taken}
	if claim, ok := subject.(*resourcev1.ResourceClaim); ok {
		t.pods = s.PodsOf(inspect.RefOf(claim))
	}
	return t, nil
}
