package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxInQueueNodes bounds how many pods are placed to find out about one that is explained: their number times
// that of the nodes. It is about five seconds on one core.
const maxInQueueNodes = 30_000

// Queue adds to explanations of pods that wait for kube-scheduler what becomes of them together with all
// others that wait, and says so where that is not what is said of the cluster as it is. by is what
// kube-scheduler chooses nodes by. It leaves alone what does not wait or is not in the cluster. Errors are
// those of [Place].
func Queue(ctx context.Context, c *scheduler.Cluster, answers []*explain.Explanation, by replay.Choosing) error {
	waiting := inQueueOrder(c.Snapshot())
	asked := map[explain.Subject]bool{}
	for _, e := range answers {
		asked[e.Subject] = true
	}
	losers := slices.ContainsFunc(waiting, func(pod *corev1.Pod) bool { return losesDevices(c, pod) })
	var all *explain.Replay // which several questions share
	for _, e := range answers {
		pod, ok := waits(c.Snapshot(), e.Subject)
		if !ok {
			continue
		}
		q := &queueing{Explanation: e, pod: pod, before: beforeIn(pod, waiting)}
		if losers && e.Verdict == explain.Unsatisfiable {
			q.loses = losesDevices(c, pod)
			q.gains = !q.loses
		}
		e.Queue = &explain.Queue{Before: len(q.before), Waiting: len(waiting), Verdict: e.Verdict}
		switch {
		case q.settled(c.Snapshot()), len(answers) > 1 && q.behindOnly(asked): // then it was decided with all of them
			continue
		case len(q.before) > 0 && q.plenty(c):
			e.Queue.Verdict = explain.Allocatable
			continue
		}
		of, others := []*corev1.Pod{pod}, waiting
		switch {
		case len(answers) > 1:
			of = waiting
		case q.fits(): // who comes later takes nothing from it
			others = q.before
		}
		if all == nil {
			played, err := playWith(ctx, c, of, others, by)
			if err != nil {
				return err
			}
			all = played
		}
		q.tell(all)
	}
	return nil
}

// inQueueOrder are the pods that wait for kube-scheduler, in the order of its queue.
func inQueueOrder(s *inspect.Snapshot) []*corev1.Pod {
	pods, _ := Waiting(s, func(*corev1.Pod) bool { return true })
	return cycle.InQueueOrder(s, pods)
}

// waits returns the pod of a subject, if it waits for kube-scheduler.
func waits(s *inspect.Snapshot, of explain.Subject) (*corev1.Pod, bool) {
	pod, ok := s.Pod(inspect.PodRef{Namespace: of.Namespace, Name: of.Name})
	ok = ok && of.Kind == "Pod" && pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !inspect.Ended(pod) && s.Schedules(pod)
	return pod, ok
}

// beforeIn are the pods that come before one in the queue, or may: those of the same turn too.
func beforeIn(pod *corev1.Pod, waiting []*corev1.Pod) []*corev1.Pod {
	var out []*corev1.Pod
	before := true
	for _, other := range waiting {
		switch {
		case refOf(other) == refOf(pod):
			before = false
		case before || replay.SameTurn(pod, other):
			out = append(out, other)
		}
	}
	return out
}

// playWith plays what becomes of pods with others. It is nil where that would take too long.
func playWith(ctx context.Context, c *scheduler.Cluster, asked, others []*corev1.Pod, by replay.Choosing) (*explain.Replay, error) {
	if (len(asked)+len(others))*len(c.Snapshot().Nodes()) > maxInQueueNodes {
		return nil, nil
	}
	p, _, err := PlaceAll(ctx, c, asked, Options{NoJoint: true, NoReasons: true, endNone: true, Others: others, Choosing: by})
	if err != nil {
		return nil, err
	}
	return &p.Replay, nil
}

// queueing is the explanation of a pod that waits.
type queueing struct {
	*explain.Explanation
	pod    *corev1.Pod
	before []*corev1.Pod
	// loses says that kube-scheduler takes devices away from it, since it fits on no node.
	loses bool
	// gains says that it does so of others that wait, whose devices the pod may get.
	gains bool
}

func (q *queueing) fits() bool {
	return q.Verdict == explain.Allocatable || q.Verdict == explain.Allocated
}

// settled reports whether neither others matter to the pod nor which node is chosen, nor what kube-scheduler
// takes away from it.
func (q *queueing) settled(s *inspect.Snapshot) bool {
	return !q.fits() && (q.Verdict != explain.Unsatisfiable || !replay.DependsOnPods(s, q.pod) && !q.loses && !q.gains)
}

// plenty reports whether the pod fits on more nodes than there are pods before it, each of which takes from
// one node and changes nothing for the others, and kube-scheduler can compare these nodes.
func (q *queueing) plenty(c *scheduler.Cluster) bool {
	if !q.fits() || q.Nodes.Allocatable <= len(q.before) || replay.DependsOnPods(c.Snapshot(), q.pod) || slices.ContainsFunc(q.before, func(pod *corev1.Pod) bool { return replay.DependsOnPods(c.Snapshot(), pod) }) {
		return false
	}
	if inspect.PodGroupOf(q.pod) != "" || slices.ContainsFunc(q.before, q.sharesClaim) {
		return false
	}
	return !slices.ContainsFunc(c.Snapshot().Objects().Slices, func(slice *resourcev1.ResourceSlice) bool { return slice.Spec.NodeName == nil }) && replay.CanCompare(c, q.pod)
}

// sharesClaim reports whether another pod names a claim that the pod names.
func (q *queueing) sharesClaim(other *corev1.Pod) bool {
	return other.Namespace == q.pod.Namespace && slices.ContainsFunc(q.pod.Spec.ResourceClaims, func(mine corev1.PodResourceClaim) bool {
		return mine.ResourceClaimName != nil && slices.ContainsFunc(other.Spec.ResourceClaims, func(c corev1.PodResourceClaim) bool {
			return c.ResourceClaimName != nil && *c.ResourceClaimName == *mine.ResourceClaimName
		})
	})
}

// behindOnly reports whether all pods before the pod are among some, and there are any.
func (q *queueing) behindOnly(some map[explain.Subject]bool) bool {
	return len(q.before) > 0 && !slices.ContainsFunc(q.before, func(pod *corev1.Pod) bool { return !some[cycle.SubjectOf(pod)] })
}

// lost follows what is said of a pod that loses its devices, gained what is said of one that may get them.
const (
	lost   = "; kube-scheduler takes its devices back then and tries again, which was not played"
	gained = "; it may once kube-scheduler takes devices back from other pods that wait, which was not played"
)

// tell says of the pod what was played.
func (q *queueing) tell(r *explain.Replay) {
	if r == nil && !q.loses && !q.gains && (!q.fits() || len(q.before) == 0) {
		return
	}
	q.Queue.Verdict = explain.Unknown
	switch {
	case r == nil && !q.fits():
		q.add(q.may())
		return
	case r == nil:
		q.say(" now; what the "+words.Count(len(q.before), "pod")+" before it in kube-scheduler's queue take was not tried", "")
		return
	}
	placed := slices.IndexFunc(r.Placed, func(p explain.PlacedPod) bool { return p.Subject == q.Subject })
	q.Queue.After = q.takers(r, placed)
	if placed >= 0 && r.Certain {
		q.Queue.Verdict, q.Queue.Node = explain.Allocatable, r.Placed[placed].Node
	}
	at := slices.IndexFunc(r.Pending, func(p explain.PendingPod) bool { return p.Subject == q.Subject })
	switch {
	case at >= 0:
		q.Queue.Verdict = cmp.Or(r.Pending[at].Verdict, explain.Unknown)
	case q.fits() && len(q.before) == 0:
		q.Queue.Verdict = explain.Allocatable
	}
	switch n := words.Count(len(q.before), "pod"); q.Queue.Verdict {
	case explain.Allocatable:
		q.say("", fmt.Sprintf("does not fit yet: kube-scheduler puts it on node %s once others are placed that it depends on", q.Queue.Node))
	case explain.Unknown:
		if !q.fits() {
			q.add(q.may())
			return
		}
		if len(q.before) == 0 { // it is not for lack of room that it was left waiting
			q.say(" now, but may be left waiting: "+r.Pending[at].Message, "")
			return
		}
		why := ""
		if len(r.Remarks) > 0 {
			why = ": " + r.Remarks[0]
		}
		q.say(" now; whether it still does behind "+n+" before it in kube-scheduler's queue is not known"+why, "")
	case explain.Invalid:
		q.say(", but kube-scheduler fails with an error when it compares nodes for it", "")
	default:
		q.say(" now, but not behind "+n+" before it in kube-scheduler's queue", "")
	}
}

// may says what the pod, which does not fit, may find room by.
func (q *queueing) may() string {
	switch {
	case q.loses:
		return lost
	case q.gains:
		return gained
	}
	return "; it may once others are placed"
}

// add adds to what is said of a pod that does not fit.
func (q *queueing) add(more string) { q.Predicate, q.Message = q.Predicate+more, q.Message+more }

// takers are those that are placed before the pod.
func (q *queueing) takers(r *explain.Replay, placed int) []explain.Subject {
	out := slices.Clone(r.Others)
	for i := range r.Placed {
		if placed < 0 || i < placed {
			out = append(out, r.Placed[i].Subject)
		}
	}
	if q.fits() { // those of its group that come later are placed with it
		out = slices.DeleteFunc(out, func(s explain.Subject) bool {
			return !slices.ContainsFunc(q.before, func(pod *corev1.Pod) bool { return cycle.SubjectOf(pod) == s })
		})
	}
	return out
}

// say adds to what is said of a pod that fits, or says something else of one that does not, for which nothing
// has to be done then.
func (q *queueing) say(more, instead string) {
	switch {
	case q.fits() && more == "":
		return
	case q.fits():
		q.Predicate += more
	case instead != "":
		q.Predicate, q.Brief, q.Fixes, q.NoHelp, q.Preemption = instead, "", nil, nil, nil
	}
	q.Message = q.Subject.FullName() + " " + q.Predicate
}
