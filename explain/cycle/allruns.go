package cycle

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// The runs that differ by the order of equal turns, by when pods are tried again, or by which of several nodes
// kube-scheduler chooses are all played if they are few.
const maxRuns, maxRunPods = 256, 4096

// ByScores plays every choice that kube-scheduler has with pods, and says what becomes of them, by the entities of
// [Entities]. Of pods that differ in nothing but their names and have the same turn, the first goes first. by is as for
// [NewReplay]. The result is nil if there are too many runs, or if something is not known.
func ByScores(ctx context.Context, base *scheduler.Cluster, pods []*corev1.Pod, by *Choosing) (*Result, error) {
	entities, at := Entities(base, objectsOf(pods), Options{})
	out := &Result{Groups: make([]Fate, len(entities)), at: at}
	for i := range entities {
		out.Fates = append(out.Fates, make([]Fate, len(entities[i].Members)))
	}
	path := []int{}
	for runs := 1; ; runs++ {
		if runs > maxRuns || runs*len(pods) > maxRunPods {
			return nil, nil
		}
		depth := 0
		var widths []int
		trial := NewReplay(base, by)
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
		trial.Choose = func(nodes []*corev1.Node) int { return choose(len(nodes)) }
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
	var run Run
	placed := make([]int, len(entities))
	waiting := played.Waiting
	note := func(subject explain.Subject, node inspect.NodeName, found bool) {
		run = append(run, Step{Subject: subject, Node: node, Placed: found})
		where, ok := r.at[subject]
		if !ok {
			return
		}
		f := &r.Fates[where[0]][where[1]]
		if found {
			placed[where[0]]++
		}
		f.note(found, run)
	}
	for i := range played.Placed {
		for len(waiting) > 0 && waiting[0].After <= i {
			note(SubjectOf(waiting[0].Pod), "", false)
			waiting = waiting[1:]
		}
		note(played.Placed[i].Subject, played.Placed[i].Node, true)
	}
	for i := range waiting {
		note(SubjectOf(waiting[i].Pod), "", false)
	}
	for i := range entities {
		r.Groups[i].note(placed[i] >= entities[i].Need, run)
	}
}

// runAnyOrder is Run, in which choose says which of several pods is next: of those whose turn is the same, or of those that
// were left waiting and may fit now.
func (r *Replay) runAnyOrder(ctx context.Context, pods []*corev1.Pod, choose func(n int) int) error {
	queue := InQueueOrder(r.cluster.Snapshot(), pods)
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
		shape := PodMember(r.cluster, pod, Options{}).Shape
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

// SameTurn reports whether it is not known which of two pods kube-scheduler takes first. Those that are not created yet come
// as they are given.
func SameTurn(a, b *corev1.Pod) bool {
	return ptr.Deref(a.Spec.Priority, 0) == ptr.Deref(b.Spec.Priority, 0) && !a.CreationTimestamp.IsZero() && a.CreationTimestamp.Equal(&b.CreationTimestamp)
}

func objectsOf(pods []*corev1.Pod) []metav1.Object {
	out := make([]metav1.Object, len(pods))
	for i, pod := range pods {
		out[i] = pod
	}
	return out
}
