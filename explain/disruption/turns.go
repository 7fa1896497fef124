package disruption

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// turns are evictions in the order in which budgets let pods go: those that go at once, then those for which
// others had to become ready, and so on.
type turns struct {
	asked *preemption.Evictions
	// left are those that are not granted yet, and why says of the others what they waited for.
	left []Eviction
	why  map[inspect.PodRef]*explain.Eviction
	held []explain.HeldPod
	// open says that it is not known of some whether they are granted.
	open bool
}

func newTurns(s *inspect.Snapshot, e *Event, evicted []Eviction) *turns {
	asked := &preemption.Evictions{}
	if e.Asks {
		asked = preemption.NewEvictions(s)
	}
	return &turns{asked: asked, left: evicted, why: map[inspect.PodRef]*explain.Eviction{}}
}

// next are the evictions that are granted now, in the order in which they are asked for. Of those of which
// that is not known it is supposed.
func (t *turns) next() (granted []Eviction) {
	var denied []Eviction
	for _, v := range t.left {
		switch answer, why := t.asked.Ask(v.Pod); answer {
		case preemption.Denied:
			denied = append(denied, v)
		case preemption.Refused:
			t.held = append(t.held, heldPod(v.Pod, *why))
		case preemption.Granted, preemption.Unsure:
			granted = append(granted, v)
			t.why[v.ref()] = why
			t.open = t.open || answer == preemption.Unsure
		}
	}
	t.left = denied
	return granted
}

// all are the evictions that are granted if every pod that goes is replaced, a list for each turn.
func (t *turns) all() (out [][]Eviction) {
	for granted := t.next(); len(granted) > 0; granted = t.next() {
		out = append(out, granted)
		for _, v := range granted {
			t.asked.Replaced(v.Pod, plan.ComesBack(v.Pod), true)
		}
	}
	return out
}

func heldPod(pod *corev1.Pod, why explain.Eviction) explain.HeldPod {
	return explain.HeldPod{Subject: cycle.SubjectOf(pod), Node: inspect.NodeName(pod.Spec.NodeName), Eviction: why}
}

// course is the course of an event.
type course struct {
	c     *scheduler.Cluster // before it
	event *Event
	out   *explain.Disruption
	// ended are the pods that have gone, and gone those of them that did not go anyway.
	ended map[inspect.PodRef]bool
	gone  map[explain.Subject]*corev1.Pod
	// waits says that evictions wait for others.
	waits bool
	// never is why not all find a node whichever go first, if that is certain.
	never string
}

// leave lets pods go, and returns those that are made in their place.
func (d *course) leave(t *turns, granted []Eviction) (again []*corev1.Pod) {
	for _, v := range granted {
		d.ended[v.ref()] = true
		if v.Along {
			continue
		}
		gone := explain.GonePod{
			Subject: cycle.SubjectOf(v.Pod), Node: inspect.NodeName(v.Pod.Spec.NodeName), Cause: v.Cause, After: v.After,
			Then: explain.NeverComes, Eviction: t.why[v.ref()],
		}
		if owner := metav1.GetControllerOf(v.Pod); owner != nil && !d.event.Final && plan.ComesBack(v.Pod) {
			gone.Controller = owner.Kind + " " + owner.Name
			again = append(again, plan.Replacement(v.Pod, d.c.Snapshot().Time()))
		}
		d.gone[gone.Subject] = v.Pod
		d.out.Gone = append(d.out.Gone, gone)
	}
	return again
}

// without is a cluster in which the pods that have gone are no more, and what the event changes is changed.
func (d *course) without(s *inspect.Snapshot, ended map[inspect.PodRef]bool) *inspect.Snapshot {
	return s.With(func(o *inspect.Objects) {
		plan.EndPods(o, ended)
		if d.event.Change != nil {
			d.event.Change(o)
		}
	})
}

// run plays the event, and returns the cluster in which all is placed that finds a node.
func (d *course) run(ctx context.Context, evicted []Eviction, alone *explain.Replay) (*scheduler.Cluster, error) {
	s := d.c.Snapshot()
	supposed := newTurns(s, d.event, evicted)
	if all := supposed.all(); len(all) > 1 {
		d.waits = true
		settled, err := d.atOnce(ctx, supposed, slices.Concat(all...), alone)
		if settled != nil || err != nil {
			return settled, err
		}
	}
	return d.inTurn(ctx, newTurns(s, d.event, evicted))
}

// atOnce lets pods go at once that go in turns. If each of them finds a node in whatever order they come,
// and nothing matters to them but the nodes to which they can go, that is what happens in turns too. The
// result is nil if that is not certain. Then it is noted whether it is certain that some find none.
func (d *course) atOnce(ctx context.Context, t *turns, granted []Eviction, alone *explain.Replay) (*scheduler.Cluster, error) {
	out, again := d.out, d.leave(t, granted)
	c := scheduler.NewCluster(d.without(d.c.Snapshot(), d.ended), scheduler.Options{Like: d.c})
	settled, _, err := settle(ctx, c, again, out, false)
	if err != nil {
		return nil, err
	}
	proved, never, err := plan.InAnyOrder(ctx, c, again)
	if err != nil {
		return nil, err
	}
	if proved && !t.open && out.Replay.Certain && len(alone.Placed) == 0 && len(out.Replay.Placed) == len(again) && len(out.Replay.Preempted) == 0 {
		d.hold(t, false)
		return settled, nil
	}
	waiting, _ := plan.Waiting(c.Snapshot(), func(*corev1.Pod) bool { return true })
	if len(waiting) == 0 && !t.open && !out.Replay.Preempting && len(out.Replay.Preempted) == 0 {
		d.never = never
	}
	out.Gone, out.Replay = nil, explain.Replay{}
	clear(d.gone)
	clear(d.ended)
	return nil, nil
}

// maxTurns is the number of turns that are played one after the other.
const maxTurns = 10

// inTurn lets pods go as they are granted, and plays what kube-scheduler makes of each turn.
func (d *course) inTurn(ctx context.Context, t *turns) (*scheduler.Cluster, error) {
	out, c, doubtful := d.out, d.c, false
	var again []*corev1.Pod
	granted := t.next()
	for turn := 1; ; turn++ {
		again = append(again, d.leave(t, granted)...)
		ended := make(map[inspect.PodRef]bool, len(granted))
		for _, v := range granted {
			ended[v.ref()] = true
		}
		after, before := d.without(c.Snapshot(), ended), out.Replay
		c = scheduler.NewCluster(after, scheduler.Options{Like: c})
		if turn == 1 {
			doubtful = t.open || !chosenAmongEquals(c, t, granted)
		}
		settled, r, err := settle(ctx, c, again, out, after.NodesAssumed() && !d.c.Snapshot().NodesAssumed())
		if err != nil {
			return nil, err
		}
		again = d.becomeReady(t, after, again)
		out.Replay.Placed, out.Replay.Preempted = append(before.Placed, out.Replay.Placed...), append(before.Preempted, out.Replay.Preempted...)
		out.Replay.Remarks = append(before.Remarks, slices.DeleteFunc(out.Replay.Remarks, func(remark string) bool {
			return slices.Contains(before.Remarks, remark)
		})...)
		c = settled
		if turn < maxTurns {
			granted = t.next()
		} else {
			granted = slices.Concat(t.all()...)
		}
		if len(granted) == 0 {
			if !doubtful {
				err = leavesSome(ctx, r, out)
			}
			d.hold(t, doubtful)
			return settled, err
		}
		doubtful, d.waits = true, true
	}
}

// becomeReady counts the pods that have found a node as ready, and returns those of again that have not.
func (d *course) becomeReady(t *turns, s *inspect.Snapshot, again []*corev1.Pod) []*corev1.Pod {
	placed := map[explain.Subject]bool{}
	for i := range d.out.Replay.Placed {
		subject := d.out.Replay.Placed[i].Subject
		placed[subject] = true
		if pod := d.gone[subject]; pod != nil {
			t.asked.Replaced(pod, true, true)
		} else if pod, ok := s.Pod(inspect.PodRef{Namespace: subject.Namespace, Name: subject.Name}); ok {
			t.asked.Ready(pod)
		}
	}
	return slices.DeleteFunc(again, func(pod *corev1.Pod) bool { return placed[cycle.SubjectOf(pod)] })
}

// chosenAmongEquals reports whether budgets that let only some of their pods go had to choose among pods
// that differ in nothing.
func chosenAmongEquals(c *scheduler.Cluster, t *turns, granted []Eviction) bool {
	shape := func(pod *corev1.Pod) string {
		with, pods := plan.Admitted(c, []*corev1.Pod{plan.Replacement(pod, c.Snapshot().Time())})
		m := replay.PodMember(with, pods[0], cycle.Options{})
		if m.NonLocal {
			return ""
		}
		return m.Shape
	}
	for _, denied := range t.left {
		for _, v := range granted {
			if !slices.Equal(t.asked.Of(v.Pod), t.asked.Of(denied.Pod)) {
				continue
			}
			if of := shape(v.Pod); of == "" || of != shape(denied.Pod) {
				return false
			}
		}
	}
	return true
}

// hold says of pods whose evictions are still denied that they stay, and what follows for the answer.
// doubtful says that it may depend on which of them go first.
func (d *course) hold(t *turns, doubtful bool) {
	out := d.out
	for i := range out.Gone {
		if g := &out.Gone[i]; g.Again == nil {
			t.asked.Replaced(d.gone[g.Subject], false, g.Pending == nil || g.Pending.Verdict == explain.Unsatisfiable)
		}
	}
	for i := range out.Replay.Pending {
		p := &out.Replay.Pending[i]
		if pod, ok := d.c.Snapshot().Pod(inspect.PodRef{Namespace: p.Subject.Namespace, Name: p.Subject.Name}); ok && d.gone[p.Subject] == nil && p.Verdict == explain.Unknown {
			t.asked.Hope(pod)
		}
		if doubtful && p.Verdict == explain.Unsatisfiable {
			p.Verdict = explain.Unknown
		}
	}
	for _, v := range t.left {
		why, always := t.asked.Held(v.Pod)
		why.Open = why.Open || doubtful && !always
		t.held = append(t.held, heldPod(v.Pod, why))
	}
	out.Held, out.Open = t.held, t.open
	if doubtful {
		out.Replay.Certain, out.Replay.Ties = false, nil
	}
	d.remark(t, doubtful)
}

// remark says what the answer supposes and leaves open.
func (d *course) remark(t *turns, doubtful bool) {
	out := d.out
	switch {
	case t.open:
		out.Replay.Remarks = append(out.Replay.Remarks, "it is not known whether all these evictions are granted")
	case doubtful && d.never != "":
		out.LeavesSome = true
		out.Replay.Remarks = append(out.Replay.Remarks, "not all of them find a node, whichever of them go first: "+d.never)
	case doubtful:
		out.Replay.Remarks = append(out.Replay.Remarks, "which evictions are granted first is not known, and what finds a node may depend on it")
	}
	if d.waits {
		out.Remarks = append(out.Remarks, "evictions are asked for all at once, so others of those that wait for each other may go first; pods that find a node are supposed to become ready")
	}
	if len(t.left) > 0 && d.event.IfHeld != "" {
		out.Remarks = append(out.Remarks, d.event.IfHeld)
	}
}
