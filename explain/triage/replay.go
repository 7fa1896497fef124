package triage

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// outcome is what becomes of a subject that waits, when all that waits is scheduled in the order of the
// queue.
type outcome int

const (
	notTried outcome = iota
	placed
	// stuck is also what is not known of the subject itself.
	stuck
	// depends is on what kube-scheduler chooses for others, or on what only a plan looks at.
	depends
)

// run is what becomes of a queue.
type run struct {
	queue []queued
	// outcomes are by the index in the queue.
	outcomes []outcome
	// reservations are what those have that were placed.
	reservations []*replay.Reservation
	// nodes are those on which pods were placed.
	nodes  map[explain.Subject]inspect.NodeName
	played *replay.Replay
	// given are the node labels that pods ask for on account of flavors of Kueue, which gives them anew.
	given map[inspect.PodRef]map[string]string
}

// runOf is a run of the pods of a queue, and what becomes of its claims. For these the cluster is as it was
// before.
func runOf(ctx context.Context, c *scheduler.Cluster, queue []queued, played *replay.Replay, opts *Options) (*run, error) {
	r := &run{queue: queue, outcomes: make([]outcome, len(queue)), reservations: played.Reservations, nodes: map[explain.Subject]inspect.NodeName{}, played: played}
	pods := map[explain.Subject]outcome{}
	for i := range played.Placed {
		p := &played.Placed[i]
		pods[p.Subject], r.nodes[p.Subject] = placed, p.Node
		if played.Unsure[p.Subject] {
			pods[p.Subject] = stuck
		}
	}
	for i := range played.Waiting {
		pods[cycle.SubjectOf(played.Waiting[i].Pod)] = stuck
	}
	claims, err := claimsOf(ctx, c, queue, opts)
	for i, q := range queue {
		if _, pod := q.subject.(*corev1.Pod); pod {
			r.outcomes[i] = pods[cycle.SubjectOf(q.subject)]
		} else {
			r.outcomes[i] = claims[q.shape]
		}
	}
	if err != nil {
		return nil, err
	}
	return r, r.confirmGroups(ctx, c, opts)
}

// confirmGroups takes back that pods of a group are placed where that is not so in all that may become of
// their group.
func (r *run) confirmGroups(ctx context.Context, c *scheduler.Cluster, opts *Options) error {
	known := map[*shape]bool{}
	for i, q := range r.queue {
		pod, ok := q.subject.(*corev1.Pod)
		if !ok || r.outcomes[i] != placed || inspect.PodGroupOf(pod) == "" {
			continue
		}
		if _, asked := known[q.shape]; !asked {
			d, err := question.Decide(ctx, c, pod, opts.Question)
			if err != nil {
				return fmt.Errorf("deciding about pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
			known[q.shape] = d.Verdict == explain.Allocatable || d.Verdict == explain.Allocated
		}
		if !known[q.shape] {
			r.outcomes[i] = stuck
		}
	}
	return nil
}

// claimsOf says whether claims that no pod uses could have devices, by their shapes.
func claimsOf(ctx context.Context, c *scheduler.Cluster, queue []queued, opts *Options) (map[*shape]outcome, error) {
	out := map[*shape]outcome{}
	var subjects []metav1.Object
	var shapes []*shape
	for _, q := range queue {
		if _, known := out[q.shape]; known || cycle.SubjectOf(q.subject).Kind == "Pod" {
			continue
		}
		out[q.shape] = notTried
		subjects, shapes = append(subjects, q.subject), append(shapes, q.shape)
	}
	found := make([]outcome, len(shapes))
	err := allocator.Parallel(len(shapes), func(i int) error {
		err := opts.bound(ctx, func(ctx context.Context) error {
			d, err := question.Decide(ctx, c, subjects[i], opts.Question)
			if err == nil && (d.Verdict == explain.Allocatable || d.Verdict == explain.Allocated) {
				found[i] = placed
			} else if err == nil {
				found[i] = stuck
			}
			return err
		})
		if errors.Is(err, ErrTooLong) {
			return nil
		}
		return err
	})
	for i, shape := range shapes {
		out[shape] = found[i]
	}
	return out, err
}

// unclear marks the pods of which a plan does not know what becomes of them because of others. Of those that
// something may refuse anyhow, that is what is told.
func (r *run) unclear(ctx context.Context, c *scheduler.Cluster, of *explain.Replay, played *replay.Replay, opts *Options) error {
	tied := map[explain.Subject]bool{} // as many of them wait in any case
	for _, tie := range of.Ties {
		for _, subject := range tie.Pods {
			tied[subject] = true
		}
	}
	open := map[explain.Subject]bool{}
	for i := range of.Pending {
		p, w := &of.Pending[i], &played.Waiting[i]
		known := w.Verdict()
		open[p.Subject] = !tied[p.Subject] && (w.Failure != "" || known == explain.Unsatisfiable && p.Verdict == explain.Unknown)
	}
	unknown := map[*shape]bool{}
	for i, q := range r.queue {
		subject := cycle.SubjectOf(q.subject)
		if pod, ok := q.subject.(*corev1.Pod); !open[subject] || ok && inspect.PodGroupOf(pod) != "" {
			continue // what may become of a group says more
		}
		if _, asked := unknown[q.shape]; !asked && played.Doubtful {
			d, err := question.Decide(ctx, c, q.subject, opts.Question)
			if err != nil {
				return fmt.Errorf("deciding about %s: %w", subject.FullName(), err)
			}
			unknown[q.shape] = d.Verdict == explain.Unknown
		}
		if !unknown[q.shape] {
			r.outcomes[i] = depends
		}
	}
	return nil
}

// again plays the queue in a cluster that was changed, up to a number of pods that are placed. unlike are the
// pods that were changed, or nil if something else was.
func (r *run) again(ctx context.Context, c *scheduler.Cluster, queue []queued, unlike []*corev1.Pod, limit int, opts *Options) (*run, error) {
	var pods []*corev1.Pod
	for _, q := range queue {
		if pod, ok := q.subject.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	var by *replay.Choosing
	if r.comparesNodes(c) {
		by = &opts.Question.Choosing
	}
	played, pods := plan.Begin(c, pods, by)
	played.Limit = limit
	if by == nil {
		played.Choose = r.asBefore
		if unlike != nil {
			played.Repeat(r.played, unlike)
		}
	}
	if err := played.Run(ctx, pods); err != nil {
		return nil, fmt.Errorf("placing what waits after a change: %w", err)
	}
	return runOf(ctx, c, queue, played, opts)
}

// asBefore chooses for a pod the node on which it was placed, or the first.
func (r *run) asBefore(pod *corev1.Pod, nodes []*corev1.Node) int {
	before := string(r.nodes[cycle.SubjectOf(pod)])
	for i, node := range nodes {
		if node.Name == before {
			return i
		}
	}
	return 0
}

// maxCompared bounds the number of subjects times that of the nodes up to which the nodes are chosen anew for
// each change.
const maxCompared = 20_000

// comparesNodes reports whether it is looked at which nodes kube-scheduler chooses after each change.
func (r *run) comparesNodes(c *scheduler.Cluster) bool {
	return len(r.queue)*len(c.Snapshot().Nodes()) <= maxCompared
}
