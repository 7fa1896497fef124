package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/preemption"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The bounds of what is played on: how many pods are ended, and how often others are ended for those that
// come back.
const (
	maxEnded       = 200
	maxEndedRounds = 10
)

// endings plays on when kube-scheduler ends pods for others: the pod for which it does is nominated for their
// node and waits until they are gone, and their controllers make others in their place, which come last among
// pods of their priority.
type endings struct {
	// soon says that pods are gone as soon as they are told to end. Otherwise they stay until all others have
	// had their turns.
	soon       bool
	preempting *preempting
	played     *replay.Replay
	// open is why it is not known what happens, once that is so.
	open  string
	ended []explain.GonePod
	// ending are those pods, of which going are still there, and again the pods that are made in their place
	// and have not come yet.
	ending map[inspect.PodRef]*corev1.Pod
	going  map[inspect.PodRef]bool
	again  []*corev1.Pod
	// back are all that were made in the place of others.
	back map[explain.Subject]bool
	// nominated are pods that wait for room, and waitsFor the pods that are told to end for each.
	nominated map[inspect.PodRef]*corev1.Pod
	waitsFor  map[inspect.PodRef][]inspect.PodRef
	// never are the shapes for which none are ended as things are.
	never map[string]bool
	// fresh says that kube-scheduler has not tried any of the pods before. Then it tries again first the pod
	// for which it has ended others.
	fresh bool
	// anyOrder says that nothing depends on who comes first once pods are gone.
	anyOrder bool
}

// playOn plays what becomes of pods for some of which kube-scheduler ends others, until it gets to something
// that is not known, which open of the endings says.
func playOn(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, by *replay.Choosing, soon bool) (r *Placement, e *endings, err error) {
	r = &Placement{Replay: replay.New(c, by), by: by}
	e = &endings{
		soon: soon, preempting: newPreempting(c.Snapshot()), played: r.Replay, anyOrder: true,
		fresh: !slices.ContainsFunc(pods, tried), ending: map[inspect.PodRef]*corev1.Pod{}, going: map[inspect.PodRef]bool{},
		back: map[explain.Subject]bool{}, nominated: map[inspect.PodRef]*corev1.Pod{}, waitsFor: map[inspect.PodRef][]inspect.PodRef{}, never: map[string]bool{},
	}
	r.Left = e.left
	err = r.Run(ctx, pods)
	for round := 0; err == nil && e.open == "" && len(e.going)+len(e.again) > 0; round++ {
		if round == maxEndedRounds {
			e.open = "pods that come back make it end others again and again"
			break
		}
		var next *scheduler.Cluster
		var again []*corev1.Pod
		if next, again, err = e.next(ctx, r.Replay); err == nil {
			err = r.Resume(ctx, next, again)
		}
	}
	r.settle()
	return r, e, err
}

// tried reports whether kube-scheduler has tried to place a pod.
func tried(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodScheduled })
}

// left ends pods for one that finds no room, if kube-scheduler does.
func (e *endings) left(ctx context.Context, c *scheduler.Cluster, w *replay.Waiting) (*replay.Room, error) {
	if e.open != "" || w.Fails || !e.preempting.outranks(w.Pod) || w.Member.Shape != "" && e.never[w.Member.Shape] {
		return nil, nil
	}
	name := cycle.SubjectOf(w.Pod).FullName()
	if w.Open || w.MayWait || inspect.PodGroupOf(w.Pod) != "" {
		e.open = "whether it ends others for " + name + " is not known"
		return nil, nil
	}
	found, fits, err := question.Preemption(ctx, c, w.Pod, hypothetical)
	switch {
	case err != nil:
		return nil, fmt.Errorf("looking whether others are ended for pod %s: %w", name, err)
	case !fits && (found == nil || found.Outcome == explain.PreemptionNever || found.Outcome == explain.PreemptionNotHelpful):
		e.never[w.Member.Shape] = !w.Member.NonLocal
		return nil, nil
	case fits, found.Outcome == explain.PreemptionUnknown:
		e.open = "whether it ends others for " + name + " is not known"
	case !found.Determined:
		e.open = "which pods it ends for " + name + " is not known"
	default:
		if e.open = e.tooFar(w.Pod, found); e.open == "" {
			e.open, err = e.byBudgets(ctx, c, w.Pod, found)
		}
		if e.open == "" && err == nil {
			return e.room(c, w.Pod, found), nil
		}
	}
	return nil, err
}

// byBudgets says why it is not known which pods are ended for one that PodDisruptionBudgets decide about, or
// nothing: what they allow changes some time after other pods have ended or found nodes.
func (e *endings) byBudgets(ctx context.Context, c *scheduler.Cluster, pod *corev1.Pod, found *explain.Preemption) (string, error) {
	var lower []*corev1.Pod
	for _, other := range c.Snapshot().Objects().Pods {
		if slices.Contains(found.Nodes, inspect.NodeName(other.Spec.NodeName)) && corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod) {
			lower = append(lower, other)
		}
	}
	ways, known := preemption.Later(e.preempting.snapshot, c.Snapshot(), slices.Collect(maps.Values(e.ending)), lower)
	for _, budgets := range ways {
		then := scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { o.Budgets = budgets }), scheduler.Options{Like: c})
		other, _, err := question.Preemption(ctx, then, pod, hypothetical)
		if err != nil {
			return "", fmt.Errorf("looking which pods are ended for pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		known = known && other != nil && other.Determined && other.Node == found.Node && slices.Equal(sortedRefs(other.Victims), sortedRefs(found.Victims))
		if !known {
			break
		}
	}
	if !known {
		return "which pods it ends for " + cycle.SubjectOf(pod).FullName() + " depends on what PodDisruptionBudgets allow by then", nil
	}
	return "", nil
}

func sortedRefs(refs []inspect.PodRef) []inspect.PodRef {
	return slices.SortedFunc(slices.Values(refs), inspect.PodRef.Compare)
}

// tooFar says why it is not played on that pods are ended for one, or nothing.
func (e *endings) tooFar(pod *corev1.Pod, found *explain.Preemption) string {
	switch {
	case len(e.ended)+len(found.Victims) > maxEnded:
		return fmt.Sprintf("it ends more than %d pods", maxEnded)
	case slices.ContainsFunc(slices.Collect(maps.Values(e.nominated)), func(other *corev1.Pod) bool {
		return other.Status.NominatedNodeName == string(found.Node) && corev1helpers.PodPriority(other) < corev1helpers.PodPriority(pod)
	}):
		return "it takes back room that it has made for a less important pod"
	case slices.ContainsFunc(e.played.Placed, func(p explain.PlacedPod) bool {
		return slices.Contains(found.Victims, inspect.PodRef{Namespace: p.Subject.Namespace, Name: p.Subject.Name})
	}):
		return "it ends pods that it has just placed"
	}
	return ""
}

// room is the room that is made for a pod.
func (e *endings) room(c *scheduler.Cluster, pod *corev1.Pod, found *explain.Preemption) *replay.Room {
	own := *pod
	own.Status.NominatedNodeName = string(found.Node)
	reservations := []*replay.Reservation{{Pod: &own}}
	for _, ref := range found.Victims {
		if victim, ok := c.Snapshot().Pod(ref); ok && e.ending[ref] == nil {
			reservations = append(reservations, &replay.Reservation{Pod: e.tell(victim, pod, c.Snapshot().Time())})
		}
	}
	clear(e.never)
	next := replay.With(c, reservations...)
	if e.soon {
		next = e.end(next)
	} else {
		e.nominated[refOf(pod)], e.waitsFor[refOf(pod)] = &own, found.Victims
	}
	return &replay.Room{Cluster: next, Pod: &own, Now: e.soon}
}

// tell tells a pod to end for another one, if that was not told before, and returns it as it is then.
func (e *endings) tell(victim, by *corev1.Pod, now time.Time) *corev1.Pod {
	ref := refOf(victim)
	e.ending[ref], e.going[ref] = victim, true
	owner := metav1.GetControllerOf(victim)
	if ComesBack(victim) && (victim.DeletionTimestamp == nil || owner.Kind == "StatefulSet") { // else another one was made already
		e.again, e.back[cycle.SubjectOf(victim)] = append(e.again, Replacement(victim, now)), true
	}
	if victim.DeletionTimestamp != nil {
		return victim
	}
	gone := explain.GonePod{
		Subject: cycle.SubjectOf(victim), Node: inspect.NodeName(victim.Spec.NodeName), Then: explain.NeverComes,
		Cause: "preempted for " + cycle.SubjectOf(by).FullName(),
	}
	if ComesBack(victim) {
		gone.Controller = owner.Kind + " " + owner.Name
	}
	e.ended = append(e.ended, gone)
	told := *victim
	told.DeletionTimestamp = ptr.To(metav1.NewTime(now))
	told.Status.Conditions = append(slices.Clip(told.Status.Conditions), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, Reason: corev1.PodReasonPreemptionByScheduler,
	})
	return &told
}

// end is a cluster without the pods that are told to end.
func (e *endings) end(c *scheduler.Cluster) *scheduler.Cluster {
	ended := maps.Clone(e.going)
	clear(e.going)
	return scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { EndPods(o, ended) }), scheduler.Options{Like: c})
}

// next is the cluster in which pods have ended, and those that are made in their place wait.
func (e *endings) next(ctx context.Context, r *replay.Replay) (*scheduler.Cluster, []*corev1.Pod, error) {
	before := r.Cluster()
	going := maps.Clone(e.going)
	next, again := Admitted(e.end(before), e.again)
	e.again = nil
	clear(e.never)
	hopeful, err := e.hopeful(ctx, next, again, r.Waiting)
	if err != nil {
		return nil, nil, err
	}
	nominated := len(e.nominated)
	if first := e.tellsOrder(hopeful); len(hopeful) > 1 && !first && e.anyOrder {
		if e.anyOrder, _, err = InAnyOrder(ctx, next, hopeful); err != nil {
			return nil, nil, err
		}
	}
	for ref, pod := range e.nominated {
		if nominated == 1 || !e.anyOrder {
			break
		}
		if e.anyOrder, err = e.waitsForOwn(ctx, before, going, pod, e.waitsFor[ref]); err != nil {
			return nil, nil, err
		}
	}
	clear(e.nominated)
	e.fresh = false
	return next, again, nil
}

// tellsOrder reports whether it is known which of some pods comes first: of two that kube-scheduler has tried
// once, that which waits for its room. Otherwise those come first that hear first that pods have gone, or
// wait for less time after an attempt, or are made only now.
func (e *endings) tellsOrder(hopeful []*corev1.Pod) bool {
	return e.fresh && len(e.nominated) <= 1 && len(hopeful) <= 2 &&
		!slices.ContainsFunc(hopeful, func(pod *corev1.Pod) bool { return e.back[cycle.SubjectOf(pod)] })
}

// hopeful are the pods that may find room in a cluster in which others have ended. If there are several, and
// one of them more than one node to choose from, it is noted that it matters who comes first.
func (e *endings) hopeful(ctx context.Context, c *scheduler.Cluster, again []*corev1.Pod, waiting []replay.Waiting) ([]*corev1.Pod, error) {
	pods := slices.Clone(again)
	for i := range waiting {
		pods = append(pods, waiting[i].Pod)
	}
	var out []*corev1.Pod
	alone, choice := replay.New(c, nil), false
	for _, pod := range pods {
		if e.nominated[refOf(pod)] != nil {
			out = append(out, pod)
			continue
		}
		found, err := alone.Ask(ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
		if len(found.Nodes) > 0 || found.Open || found.MayWait || found.Fails || found.Member.NonLocal || inspect.PodGroupOf(pod) != "" {
			out = append(out, pod)
			choice = choice || len(found.Nodes) != 1
		}
	}
	e.anyOrder = e.anyOrder && (!choice || e.tellsOrder(out))
	return out, nil
}

// waitsForOwn reports whether a pod finds room only once those have gone that were told to end for it: it
// takes what is free as soon as it hears of it.
func (e *endings) waitsForOwn(ctx context.Context, c *scheduler.Cluster, going map[inspect.PodRef]bool, pod *corev1.Pod, own []inspect.PodRef) (bool, error) {
	others := maps.Clone(going)
	for _, ref := range own {
		delete(others, ref)
	}
	found, err := replay.New(scheduler.NewCluster(c.Snapshot().With(func(o *inspect.Objects) { EndPods(o, others) }), scheduler.Options{Like: c}), nil).Ask(ctx, pod)
	if err != nil {
		return false, fmt.Errorf("placing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return len(found.Nodes) == 0 && !found.Open && !found.MayWait, nil
}

// playsOn goes on with what becomes of pods for some of which kube-scheduler ends others, if that is known,
// and says how sure it is. It is nil if it is not known, or ends none.
func (r *Placement) playsOn(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod, opts Options) (*Placement, error) {
	if !slices.ContainsFunc(r.Waiting, func(w replay.Waiting) bool { return r.preempting.outranks(w.Pod) }) {
		return nil, nil
	}
	late, e, err := playOn(ctx, c, pods, r.by, false)
	if err != nil || e.open != "" || len(e.ending) == 0 {
		r.preempting.open = e.open
		return nil, err
	}
	soon, other, err := playOn(ctx, c, pods, r.by, true)
	if err != nil {
		return nil, err
	}
	late.preempting, late.about, late.unseen = r.preempting, r.about, r.unseen
	late.out.Preempted = e.ended
	if err := late.sayPending(ctx, opts.NoReasons); err != nil {
		return nil, err
	}
	same := other.open == "" && late.sameEnd(e, soon, other)
	late.comeBack(e)
	queue := replay.NewQueue(ctx, c, r.Tried, cycle.Options{})
	late.out.Remarks = slices.Clone(late.unseen)
	say := func(remark string) { late.out.Remarks = append(late.out.Remarks, remark) }
	cleared := late.findCleared(withoutRunning(c)) // some only once there is room on other nodes
	switch {
	case len(late.unseen) > 0, cleared:
	case late.Doubtful, soon.Doubtful:
		say("something that decides about pods is not known")
	case !same:
		say("what becomes of pods depends on how soon those are gone that kube-scheduler ends")
	case !e.anyOrder, !other.anyOrder:
		say("which pods kube-scheduler takes first once others have ended is not known, and what finds a node may depend on it")
	case late.Chosen, soon.Chosen, queue.InAnyOrder() && !alike(queue):
		say("which pods find room, and which are ended, may depend on the nodes that kube-scheduler chooses, and on which of equal pods comes first; one run was played")
	default:
		late.out.Certain = true
		late.sayTies(equalPods(queue))
	}
	return late, late.doubtPending(ctx)
}

// sameEnd reports whether the same pods were ended in two runs, and the same placed on the same nodes.
func (r *Placement) sameEnd(e *endings, other *Placement, f *endings) bool {
	byName := func(placed []explain.PlacedPod) map[explain.Subject]explain.PlacedPod {
		out := map[explain.Subject]explain.PlacedPod{}
		for _, p := range placed {
			out[p.Subject] = p
		}
		return out
	}
	causes := func(ended []explain.GonePod) map[explain.Subject]string {
		out := map[explain.Subject]string{}
		for i := range ended {
			out[ended[i].Subject] += ended[i].Cause
		}
		return out
	}
	return len(r.Waiting) == len(other.Waiting) && maps.Equal(causes(e.ended), causes(f.ended)) &&
		maps.EqualFunc(byName(r.Placed), byName(other.Placed), func(a, b explain.PlacedPod) bool {
			return a.Node == b.Node && slices.EqualFunc(a.Devices, b.Devices, func(x, y explain.Device) bool { return x.ID == y.ID })
		})
}

// comeBack says of pods that were ended what becomes of those in their place, and leaves these out of the
// others.
func (r *Placement) comeBack(e *endings) {
	Follow(&r.out, r.out.Preempted)
	r.out.Placed = slices.DeleteFunc(slices.Clone(r.out.Placed), func(p explain.PlacedPod) bool { return e.back[p.Subject] })
	r.out.Pending = slices.DeleteFunc(slices.Clone(r.out.Pending), func(p explain.PendingPod) bool { return e.back[p.Subject] })
	r.waiting = slices.DeleteFunc(r.waiting, func(w replay.Waiting) bool { return e.back[cycle.SubjectOf(w.Pod)] })
}

// InAnyOrder reports whether all pods are placed in whatever order they come and whatever nodes that fit are
// chosen, or why not all can be. It is neither where they depend on more than what is left of nodes.
func InAnyOrder(ctx context.Context, c *scheduler.Cluster, pods []*corev1.Pod) (all bool, never string, err error) {
	equal := make([]*corev1.Pod, len(pods))
	for i, pod := range pods {
		equal[i] = pod.DeepCopy()
		equal[i].Spec.Priority, equal[i].CreationTimestamp = ptr.To[int32](0), metav1.Unix(1, 0) // or they come as given
	}
	c, equal = Admitted(c, equal)
	if !replay.NewQueue(ctx, c, equal, cycle.Options{}).Local {
		return false, "", nil
	}
	r, err := played(ctx, c, equal, nil, newPreempting(c.Snapshot()))
	if err != nil {
		return false, "", err
	}
	if len(r.waiting) == 0 {
		err = r.certain(ctx, c)
		return r.out.Certain, "", err
	}
	best, _, err := r.Best(ctx, c)
	if err != nil || best.Verdict != explain.Infeasible {
		return false, "", err
	}
	return false, best.Message, nil
}
