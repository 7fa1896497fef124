package replay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// MaxRuns is the number of runs that are played at most, of those that differ by the order of equal turns, by
// when pods are tried again, or by which of several nodes kube-scheduler chooses.
const MaxRuns, maxRunPods = 256, 4096

// Certainly says what becomes of the members of a queue in all runs, whatever nodes they are put on. If that
// is not clear, it looks at the nodes that kube-scheduler chooses, where pods are the members in the order of
// the queue.
func Certainly(ctx context.Context, queue Queue, pods []*corev1.Pod, by Choosing) (*Result, error) {
	result, err := Explore(ctx, queue)
	if err != nil || result.clear() || len(pods) == 0 || slices.ContainsFunc(queue.Entities, ordersDiffer(sameClass)) {
		return result, err
	}
	runs := maxRunNodes / max(1, len(pods)*len(queue.Base.Snapshot().Nodes()))
	scored, err := ByScores(ctx, queue.Base, pods, &by, max(minRuns, min(MaxRuns, runs)))
	if err != nil || scored == nil {
		return result, err
	}
	for e := range queue.Entities {
		members := queue.Entities[e].Members
		for m := range members {
			at := scored.at[members[m].Subject]
			result.Outcomes[e][m] = scored.Outcomes[at[0]][at[1]]
			result.Outcomes[e][m].Scored = by.complete()
			if queue.Entities[e].Need > 1 {
				result.Groups[e] = scored.Groups[at[0]]
			}
		}
		noteTwins(members, result.Outcomes[e])
	}
	result.Open = false
	return result, nil
}

// maxRunNodes bounds the number of runs times that of the pods and of the nodes, but for minRuns.
const maxRunNodes, minRuns = 100_000, 4

// clear reports whether the same becomes of each member in all runs, but for which of several that are alike
// comes first.
func (r *Result) clear() bool {
	for e := range r.Outcomes {
		for m := range r.Outcomes[e] {
			f := &r.Outcomes[e][m]
			alike := f.Placed != nil && slices.Equal(f.Placed, f.Waits)
			if c := r.Of(e, m); c != Always && c != Never && !alike {
				return false
			}
		}
	}
	return true
}

// ordersDiffer reports whether pods of a group that differ may come in any order, since they are the same to
// the scheduler's queue. A replay takes them in one order.
func ordersDiffer(same func(a, b *Member) bool) func(Entity) bool {
	return func(e Entity) bool {
		for i, m := range e.Members {
			if e.Need > 1 && i > 0 && same(e.Members[i-1], m) && (m.Shape == "" || m.Shape != e.Members[i-1].Shape) {
				return true
			}
		}
		return false
	}
}

func sameClass(a, b *Member) bool { return a.Class == b.Class }

func sameTurn(a, b *Member) bool { return SameTurn(a.Pod, b.Pod) }

// ByScores plays every choice that kube-scheduler has with pods, and says what becomes of them, by the
// entities of [Entities]. Of pods that differ in nothing but their names and have the same turn, the first
// goes first. by is as for [New]. The result is nil if there are more runs than that, if pods of a
// group that differ were created in the same second, or if something is not known.
func ByScores(ctx context.Context, base *scheduler.Cluster, pods []*corev1.Pod, by *Choosing, most int) (*Result, error) {
	entities := Entities(base, cycle.ObjectsOf(pods), cycle.Options{})
	if slices.ContainsFunc(entities, ordersDiffer(sameTurn)) {
		return nil, nil
	}
	out := &Result{Groups: make([]Outcome, len(entities)), at: Index(entities)}
	for i := range entities {
		out.Outcomes = append(out.Outcomes, make([]Outcome, len(entities[i].Members)))
	}
	path := []int{}
	first := New(base, by)
	for _, pod := range pods { // so that all runs know what nodes say before anything is placed
		if _, err := first.Ask(ctx, pod); err != nil {
			return nil, err
		}
	}
	for runs := 1; ; runs++ {
		if runs > most || runs*len(pods) > maxRunPods {
			return nil, nil
		}
		depth := 0
		var widths []int
		trial := first.Fork()
		choose := func(n int) int {
			if n == 1 {
				return 0
			}
			if depth == len(path) {
				path = append(path, 0)
			}
			widths = append(widths, n)
			depth++
			return path[depth-1]
		}
		trial.Choose = func(_ *corev1.Pod, nodes []*corev1.Node) int { return choose(len(nodes)) }
		if err := trial.runAnyOrder(ctx, pods, choose); err != nil || trial.Doubtful {
			return nil, err
		}
		out.noteRun(trial, entities)
		last := len(path) - 1
		for last >= 0 && path[last]+1 >= widths[last] {
			last--
		}
		if last < 0 {
			return out, nil
		}
		path = append(path[:last:last], path[last]+1)
	}
}

// noteRun adds what has become of members in a run.
func (r *Result) noteRun(played *Replay, entities []Entity) {
	run := Run{}
	placed := make([]int, len(entities))
	waits := make([]Run, len(entities)) // of each, the steps until a member was left waiting
	waiting := played.Waiting
	left := func(placed int) {
		for ; len(waiting) > 0 && waiting[0].After <= placed; waiting = waiting[1:] {
			w := &waiting[0]
			steps := append(slices.Clip(run), w.Attempt...)
			if w.Group == "" {
				run = append(run, Step{Subject: w.Member.Subject})
				steps = run
			}
			if at, ok := r.at[w.Member.Subject]; ok {
				r.Outcomes[at[0]][at[1]].note(false, steps)
				waits[at[0]] = steps
			}
		}
	}
	for i := range played.Placed {
		left(i)
		p := &played.Placed[i]
		run = append(run, Step{Subject: p.Subject, Node: p.Node, Placed: true})
		if at, ok := r.at[p.Subject]; ok {
			placed[at[0]]++
			r.Outcomes[at[0]][at[1]].note(true, run)
		}
	}
	left(len(played.Placed))
	for i := range entities {
		if placed[i] >= entities[i].Need {
			r.Groups[i].note(true, run)
		} else {
			r.Groups[i].note(false, waits[i])
		}
	}
}

// runAnyOrder is Run, in which choose says which of several pods is next: of those whose turn is the same, or
// of those that were left waiting and may fit now.
func (r *Replay) runAnyOrder(ctx context.Context, pods []*corev1.Pod, choose func(n int) int) error {
	queue := cycle.InQueueOrder(r.cluster.Snapshot(), pods)
	r.Tried = slices.Clone(queue)
	had := map[inspect.PodRef]bool{}
	for {
		queue = slices.DeleteFunc(queue, func(pod *corev1.Pod) bool { return had[refOf(pod)] }) // they had their turn with their group
		next, again := r.firstInQueue(queue), r.retries()
		if len(next)+len(again) == 0 {
			return nil
		}
		at, pod := choose(len(next)+len(again)), (*corev1.Pod)(nil)
		if at < len(next) {
			pod = queue[next[at]]
			queue = slices.Delete(slices.Clone(queue), next[at], next[at]+1)
		} else {
			w := r.Waiting[again[at-len(next)]]
			pod = w.Pod
			r.Waiting = slices.DeleteFunc(slices.Clone(r.Waiting), func(other Waiting) bool {
				if w.Group != "" && other.Group == w.Group && other.Pod.Namespace == pod.Namespace {
					delete(had, refOf(other.Pod))
					return true
				}
				return other.Pod == pod
			})
		}
		if err := r.take(ctx, pod, had); err != nil {
			return err
		}
	}
}

// firstInQueue returns the indices of the pods that may be the next of a queue, one of each shape.
func (r *Replay) firstInQueue(queue []*corev1.Pod) []int {
	var out []int
	shapes := map[string]bool{}
	for i, pod := range queue {
		if i > 0 && !SameTurn(queue[0], pod) {
			break
		}
		if i+1 == len(queue) && i == 0 {
			return []int{0}
		}
		shape := PodMember(r.cluster, pod, cycle.Options{}).Shape
		if shape == "" || !shapes[shape] {
			shapes[shape] = true
			out = append(out, i)
		}
	}
	return out
}

// retries returns the indices of the pods that were left waiting and may fit now, those of a group once.
func (r *Replay) retries() []int {
	var out []int
	gangs := map[string]bool{}
	for i, w := range r.Waiting {
		gang := w.Pod.Namespace + "/" + w.Group
		if !r.mayFitNow(&w) || w.Group != "" && gangs[gang] {
			continue
		}
		gangs[gang] = true
		out = append(out, i)
	}
	return out
}

// SameTurn reports whether it is not known which of two pods kube-scheduler takes first. Those that are not
// created yet come as they are given.
func SameTurn(a, b *corev1.Pod) bool {
	return ptr.Deref(a.Spec.Priority, 0) == ptr.Deref(b.Spec.Priority, 0) && !a.CreationTimestamp.IsZero() && a.CreationTimestamp.Equal(&b.CreationTimestamp)
}
