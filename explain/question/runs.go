package question

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/together"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// An answer about one of several subjects supposes that each before it is on the node that the scheduler
// chooses, or on the first of several. So the answer counts only if it is the same wherever the others may
// be.

// prefixAsks is how often subjects may be asked in the exploration of those up to one of them, if that of all
// was too large.
const prefixAsks = 200

// runs is what becomes of subjects in all runs.
type runs struct {
	*replay.Result
	queue replay.Queue
	// lost says that no more was found out by exploring fewer.
	lost bool
}

// overAllRuns makes an answer Unknown that is another one if those before are on other nodes.
func (r *sequence) overAllRuns(ctx context.Context, subject metav1.Object, e *explain.Explanation) error {
	defer r.notePreemption(e)
	yes := e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated
	if decidedBefore(subject, e) || !yes && e.Verdict != explain.Unsatisfiable && e.Verdict != explain.Invalid {
		return nil
	}
	outcome, certainty, err := r.outcomeOf(ctx, subject)
	switch {
	case err != nil || outcome == nil:
		return err
	case yes && len(r.preempting) > 0 && !outcome.Proven:
		open(e)
		e.Remark("whether it can be scheduled is not known: kube-scheduler ends other pods for %s, and keeps their room", words.Shorten(r.preempting, 3))
		e.Partial = append(e.Partial, "on which node kube-scheduler makes room for a pod of higher priority, and what is left there, is not known")
		return nil
	case yes && certainty == replay.Always:
		return nil
	case !yes && certainty == replay.Never:
		if e.Turn == nil || e.Turn.Alone != explain.Allocatable {
			return nil
		}
		if len(e.Fixes) > 0 {
			e.Basis.Remarks = append(e.Basis.Remarks, "what is said to help this one by itself was tried with those before it on one possible choice of nodes")
		}
	case certainty == replay.Depends:
		dependsOn(e, outcome)
	default:
		notAllTried(e)
	}
	return r.jointly(ctx, subject, e)
}

// jointly adds whether a pod and those before it can be placed together after all. Groups say that of
// themselves.
func (r *sequence) jointly(ctx context.Context, subject metav1.Object, e *explain.Explanation) error {
	entities := replay.Entities(r.base, r.upTo(subject), r.opts.Cycle())
	j := together.New(r.base, entities, e.Subject, len(entities), &r.asks, r.opts.Cycle())
	if e.Joint != nil || len(j.Pods) != len(entities) || slices.ContainsFunc(entities, func(e replay.Entity) bool { return len(e.Members) != 1 }) {
		return nil
	}
	return j.Explain(ctx, e)
}

// decidedBefore reports whether the scheduler has nothing to decide about a subject any more.
func decidedBefore(subject metav1.Object, e *explain.Explanation) bool {
	if pod, ok := subject.(*corev1.Pod); ok {
		return pod.Spec.NodeName != "" || inspect.Ended(pod)
	}
	return e.Verdict == explain.Allocated
}

// notePreemption remembers a pod for which the scheduler makes room on some node. What comes later does not
// get that room.
func (r *sequence) notePreemption(e *explain.Explanation) {
	if e.Verdict == explain.Unsatisfiable && slices.ContainsFunc(e.Fixes, func(f explain.Fix) bool { return f.Preempts }) {
		r.preempting = append(r.preempting, kindOf(e.Subject)+e.Subject.FullName())
	}
}

// outcomeOf is what becomes of a subject in all runs. It is nil if nobody comes before it.
func (r *sequence) outcomeOf(ctx context.Context, subject metav1.Object) (*replay.Outcome, replay.Certainty, error) {
	if pods := onlyPods(r.all); pods != nil && r.runs == nil {
		queue := replay.NewQueue(ctx, r.base, pods, r.opts.Cycle())
		queue.InAnyOrder()
		if len(queue.Entities) == 1 && len(queue.Entities[0].Members) == 1 {
			return nil, replay.Unclear, nil
		}
		var err error
		if r.runs, err = r.play(ctx, queue, pods); err != nil {
			return nil, replay.Unclear, err
		}
	}
	if r.runs != nil {
		outcome, certainty := r.runs.of(subject)
		if outcome == nil || certainty != replay.Unclear || r.runs.lost {
			return outcome, certainty, nil
		}
	}
	before := append(r.upTo(subject), r.sameTurn(subject)...)
	queue := replay.QueueOf(ctx, r.base, replay.Entities(r.base, before, r.opts.Cycle()))
	own, ok := replay.Index(queue.Entities)[cycle.SubjectOf(subject)]
	if !ok || len(queue.Entities) < 2 && len(queue.Entities[0].Members) < 2 {
		return nil, replay.Unclear, nil
	}
	queue.MaxAsks = prefixAsks
	if queue.InAnyOrder(); len(queue.Entities) > 1 {
		queue.Entities = queue.Entities[:own[0]+1]
	}
	upTo, err := r.play(ctx, queue, onlyPods(before))
	if err != nil {
		return nil, replay.Unclear, err
	}
	outcome, certainty := upTo.of(subject)
	if r.runs != nil {
		r.runs.lost = certainty == replay.Unclear
	}
	return outcome, certainty, nil
}

// play finds out what becomes of the members of a queue, of which these are all if they are pods.
func (r *sequence) play(ctx context.Context, queue replay.Queue, pods []*corev1.Pod) (*runs, error) {
	if r.opts.Node != "" {
		pods = nil
	}
	result, err := replay.Certainly(ctx, queue, pods, r.opts.Choosing)
	return &runs{Result: result, queue: queue}, err
}

// of is what becomes of a subject. It is nil if nobody comes before it.
func (r *runs) of(subject metav1.Object) (*replay.Outcome, replay.Certainty) {
	at, ok := replay.Index(r.queue.Entities)[cycle.SubjectOf(subject)]
	if !ok {
		return nil, replay.Unclear
	}
	members := r.queue.Entities[at[0]].Members
	if at == [2]int{} && (len(members) == 1 || members[1].Class > 0) {
		return nil, replay.Unclear
	}
	return &r.Outcomes[at[0]][at[1]], r.Of(at[0], at[1])
}

// onlyPods are subjects if all are pods.
func onlyPods(subjects []metav1.Object) []*corev1.Pod {
	var out []*corev1.Pod
	for _, subject := range subjects {
		pod, ok := subject.(*corev1.Pod)
		if !ok {
			return nil
		}
		out = append(out, pod)
	}
	return out
}

// upTo are the subjects that are asked before one and stand in its way, and that one. Claims are left out
// that come with a pod among them.
func (r *sequence) upTo(subject metav1.Object) []metav1.Object {
	at := slices.IndexFunc(r.all, func(other metav1.Object) bool { return cycle.SubjectOf(other) == cycle.SubjectOf(subject) })
	var out []metav1.Object
	for _, other := range r.all[:at] {
		withPod := slices.ContainsFunc(r.podsOf(other), func(ref inspect.PodRef) bool {
			return slices.ContainsFunc(r.all[:at+1], func(o metav1.Object) bool {
				return cycle.SubjectOf(o) == explain.Subject{Kind: "Pod", Namespace: ref.Namespace, Name: ref.Name}
			})
		})
		if !withPod && !r.together(subject, cycle.SubjectOf(other), r.podsOf(other)) {
			out = append(out, other)
		}
	}
	return append(out, subject)
}

// sameTurn are the pods after a subject that may be taken before it, since they have the same turn.
func (r *sequence) sameTurn(subject metav1.Object) []metav1.Object {
	pod, ok := subject.(*corev1.Pod)
	if !ok {
		return nil
	}
	at := slices.Index(r.all, subject)
	var out []metav1.Object
	for _, other := range r.all[at+1:] {
		if other, ok := other.(*corev1.Pod); ok && replay.SameTurn(pod, other) {
			out = append(out, other)
		}
	}
	return out
}

// dependsOn makes an answer Unknown that depends on what the scheduler chooses for others.
func dependsOn(e *explain.Explanation, f *replay.Outcome) {
	open(e)
	with, without, whom := differing(e.Subject, f.Placed, f.Waits)
	if len(whom) == 0 {
		e.Remark("whether it can be scheduled depends on which of the pods that were created in the same second kube-scheduler takes first")
		e.Partial = append(e.Partial, "which of the pods that were created in the same second comes first is not known")
		return
	}
	e.Remark("whether it can be scheduled depends on where kube-scheduler puts %s", words.Shorten(whom, 3))
	e.Partial = append(e.Partial, fmt.Sprintf("with %s it fits, with %s it does not; %s", with, without, eitherWay(f)))
}

// eitherWay says why it is not known which of two runs it will be.
func eitherWay(f *replay.Outcome) string {
	if f.Scored {
		return "kube-scheduler may choose either"
	}
	return "which nodes kube-scheduler likes best is not known here"
}

// notAllTried makes an answer Unknown since what the scheduler may choose for others was not tried to the
// end.
func notAllTried(e *explain.Explanation) {
	open(e)
	e.Remark("whether it can be scheduled is not known: not all the ways were tried in which kube-scheduler may place the pods before it")
	e.Partial = append(e.Partial, "there are too many ways to place the pods before it to try them all")
}

// open takes back what was said of one possible choice.
func open(e *explain.Explanation) {
	e.Verdict, e.Brief, e.Allocation = explain.Unknown, "", nil
	e.Groups, e.Conflict, e.Failure, e.Fixes, e.NoHelp, e.Search = nil, nil, nil, nil, nil, nil
}

// differing are the steps of others than a subject in which two runs differ, in words, and those who are
// placed differently.
func differing(own explain.Subject, a, b replay.Run) (inA, inB string, whom []string) {
	var ofA, ofB []string
	for _, step := range a {
		for _, other := range b {
			if step.Subject != own && step.Subject == other.Subject && step != other {
				whom = append(whom, kindOf(step.Subject)+step.Subject.FullName())
				ofA, ofB = append(ofA, where(step)), append(ofB, where(other))
			}
		}
	}
	return words.Shorten(ofA, 3), words.Shorten(ofB, 3), whom
}

func kindOf(s explain.Subject) string {
	if s.Kind == "ResourceClaim" {
		return "claim "
	}
	return "pod "
}

// where says where a step puts its subject.
func where(s replay.Step) string {
	switch {
	case !s.Placed:
		return s.Subject.Name + " nowhere"
	case s.Node == "":
		return s.Subject.Name + " placed"
	}
	return s.Subject.Name + " on " + string(s.Node)
}
