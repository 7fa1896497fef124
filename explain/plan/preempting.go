package plan

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Where what becomes of pods that kube-scheduler ends for others is not played on, a plan is certain only if
// it ends none: neither for pods that were asked about, nor for others that wait.

// preempting judges for which pods kube-scheduler may end others.
type preempting struct {
	// found says that there are pods on nodes, and lowest is the lowest of their priorities.
	found    bool
	lowest   int32
	snapshot *inspect.Snapshot
	// turns are the clusters in which the first pod of each shape was left waiting. Of very many shapes they
	// are not all known.
	turns map[string]*scheduler.Cluster
	// judged are those shapes of which it is known that it ends none.
	judged map[string]bool
	// open is why it was not played on what becomes of those that are ended, if that was tried.
	open string
}

// newPreempting looks at the pods on nodes. Those that are placed later matter more than those for which they
// could be ended, or as much: they come first in the queue.
func newPreempting(s *inspect.Snapshot) *preempting {
	p := &preempting{snapshot: s, turns: map[string]*scheduler.Cluster{}, judged: map[string]bool{}}
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || inspect.Ended(pod) {
			continue
		}
		priority := corev1helpers.PodPriority(pod)
		if pod.Spec.Priority == nil && pod.Spec.PriorityClassName != "" {
			priority = -1 << 31 // which is not known
		}
		if !p.found || priority < p.lowest {
			p.found, p.lowest = true, priority
		}
	}
	return p
}

// outranks reports whether a pod may matter more than some pod on a node.
func (p *preempting) outranks(pod *corev1.Pod) bool {
	profile, _ := p.snapshot.Scheduler().Profile(pod.Spec.SchedulerName)
	switch {
	case !p.found, !profile.Preempts(), pod.Spec.PreemptionPolicy != nil && *pod.Spec.PreemptionPolicy == corev1.PreemptNever:
		return false
	case pod.Spec.Priority == nil && pod.Spec.PriorityClassName != "":
		return true
	}
	return corev1helpers.PodPriority(pod) > p.lowest
}

// note remembers the cluster in which a pod was left waiting, if that may matter.
func (p *preempting) note(c *scheduler.Cluster, w *replay.Waiting) {
	if key := shapeOf(w); p.turns[key] == nil && len(p.turns) < maxExplained && p.outranks(w.Pod) {
		p.turns[key] = c
	}
}

// shapeOf is the same for pods that differ in nothing but their names, and find the same room.
func shapeOf(w *replay.Waiting) string {
	if w.Member.Shape == "" || w.Member.NonLocal {
		return w.Pod.Namespace + "/" + w.Pod.Name
	}
	return w.Member.Shape
}

// may reports whether kube-scheduler may end others for a pod that is left waiting. free says that the pods
// before it may be placed in other ways than those that were played.
func (p *preempting) may(ctx context.Context, base *scheduler.Cluster, w *replay.Waiting, free bool) (bool, error) {
	if w.Fails || w.Failure != "" || !p.outranks(w.Pod) || p.judged[shapeOf(w)] {
		return false, nil // on an error it does not get as far as that
	}
	c := p.turns[shapeOf(w)]
	if free { // who fits nowhere even without them has no more room in any way, and no more pods that could be ended
		c = base
	}
	if w.Group != "" || free && w.Member.NonLocal || c == nil {
		return true, nil
	}
	found, fits, err := question.Preemption(ctx, c, w.Pod, hypothetical)
	if err != nil {
		return false, fmt.Errorf("looking whether others are ended for pod %s/%s: %w", w.Pod.Namespace, w.Pod.Name, err)
	}
	may := fits || found != nil && found.Outcome != explain.PreemptionNever && found.Outcome != explain.PreemptionNotHelpful
	p.judged[shapeOf(w)] = !may
	return may, nil
}

// sayPreempting says for which pods kube-scheduler ends others, or may, and reports whether there are any.
func (r *Placement) sayPreempting(ctx context.Context, base *scheduler.Cluster, free bool) (found bool, err error) {
	for i := range r.out.Pending {
		if p := &r.out.Pending[i]; p.Preempts {
			r.out.Remarks = append(r.out.Remarks, fmt.Sprintf(
				"kube-scheduler ends other pods for %s; what becomes of these, and of the pods after it, was not played on", p.Subject.FullName())+r.whyNotOn())
			return true, nil
		}
	}
	if r.preempting == nil {
		return false, nil
	}
	for i := range r.Waiting {
		w := &r.Waiting[i]
		may, err := r.preempting.may(ctx, base, w, free)
		if err != nil {
			return false, err
		}
		if may {
			r.out.Remarks = append(r.out.Remarks, fmt.Sprintf(
				"kube-scheduler may end other pods for %s, which is more important; what then becomes of these, and of the pods after it, was not played on",
				cycle.SubjectOf(w.Pod).FullName())+r.whyNotOn())
			return true, nil
		}
	}
	return false, nil
}

// whyNotOn says why it was not played on whom kube-scheduler ends, if that was tried.
func (r *Placement) whyNotOn() string {
	if r.preempting == nil || r.preempting.open == "" {
		return ""
	}
	return ": " + r.preempting.open
}
