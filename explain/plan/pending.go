package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/progress"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxExplained is the number of shapes of which it is explained why they are left waiting.
const maxExplained = 24

// explainPending says of all pods that are left waiting why, in the cluster that the others have left.
func (r *Placement) explainPending(ctx context.Context) error {
	progress.Say(ctx, "explaining why pods are left waiting")
	r.out.Pending = nil
	known := map[string]*explain.PendingPod{}
	explained := 0
	for i := range r.waiting {
		w := &r.waiting[i]
		shape := cmp.Or(w.Group, w.Member.Shape, w.Pod.Namespace+"/"+w.Pod.Name)
		p, ok := known[shape]
		switch {
		case ok:
		case w.Group != "":
			p = &explain.PendingPod{Verdict: explain.Unsatisfiable, Code: allocator.PodGroupIncomplete, Message: fmt.Sprintf(
				"its %s is placed as a whole, which lacks room for %s", w.Group, words.Count(w.Short, "more pod"))}
		case w.Failure != "":
			p = &explain.PendingPod{Verdict: explain.Invalid, Message: w.Failure}
		case explained == maxExplained:
			shape = string(w.Verdict()) // they are told together
			if p, ok = known[shape]; !ok {
				p = &explain.PendingPod{Verdict: w.Verdict(), Message: fmt.Sprintf(
					"finds no room once the others are placed; why was looked into only for the first %d kinds of pods", maxExplained)}
			}
		default:
			explained++
			e, err := question.Refusal(ctx, r.Cluster(), w.Pod, hypothetical)
			if err != nil {
				return fmt.Errorf("explaining why pod %s/%s is left waiting: %w", w.Pod.Namespace, w.Pod.Name, err)
			}
			p = PendingFor(e, w.Verdict())
		}
		if !ok {
			p.Alike = len(known)
		}
		known[shape] = p
		own := *p
		own.Subject = cycle.SubjectOf(w.Pod)
		r.out.Pending = append(r.out.Pending, own)
	}
	return nil
}

// doubtPending makes it unknown that pods are left waiting, where that is so in the run that was played and
// may not be in others.
func (r *Placement) doubtPending(ctx context.Context) error {
	if r.out.Certain {
		return nil
	}
	d := &doubter{Placement: r, cluster: r.Base()}
	if r.out.Preempting || len(r.out.Preempted) > 0 { // whoever could be ended may be
		d.cluster = withoutRunning(r.Base())
	}
	if len(r.released) > 0 { // others may get what is taken away
		d.cluster = scheduler.NewCluster(d.cluster.Snapshot(), scheduler.Options{Ignore: r.released, Like: d.cluster})
	}
	d.alone = replay.New(d.cluster, nil)
	for i := range r.out.Pending {
		if err := d.doubt(ctx, &r.waiting[i], &r.out.Pending[i]); err != nil {
			return err
		}
	}
	return nil
}

// withoutRunning is a cluster without the pods on its nodes.
func withoutRunning(c *scheduler.Cluster) *scheduler.Cluster {
	running := map[inspect.PodRef]bool{}
	for _, pod := range c.Snapshot().Objects().Pods {
		if pod.Spec.NodeName != "" {
			running[refOf(pod)] = true
		}
	}
	ended := c.Snapshot().With(func(o *inspect.Objects) { EndPods(o, running) })
	return scheduler.NewCluster(ended, scheduler.Options{Like: c})
}

// doubter makes it unknown that pods are left waiting if they find room alone, and it is not certain that all
// before them are placed.
type doubter struct {
	*Placement
	// cluster is the one in which they would be alone.
	cluster *scheduler.Cluster
	alone   *replay.Replay
	// surplus are the pods for which there is no room once as many like them are placed as can be, whatever
	// else is.
	surplus map[explain.Subject]bool
}

// doubt is what is known of a pod that is left waiting as p says.
func (d *doubter) doubt(ctx context.Context, w *replay.Waiting, p *explain.PendingPod) error {
	if p.Verdict != explain.Unsatisfiable && p.Verdict != explain.Invalid || d.never[p.Subject] {
		return nil
	}
	if p.Verdict == explain.Invalid {
		p.Verdict = explain.Unknown // in another run it may not come to that
		return nil
	}
	if p.Preempts {
		p.Verdict = explain.Unknown // its message says so
		return nil
	}
	if d.cleared[p.Subject] || losesDevices(d.cluster, w.Pod) {
		p.Verdict, p.Message = explain.Unknown, "waits unless kube-scheduler takes its devices away and finds others, which was not played: "+p.Message
		return nil
	}
	if slices.ContainsFunc(d.out.Ties, func(t explain.Tie) bool { return slices.Contains(t.Pods, p.Subject) }) {
		p.Verdict, p.Message = explain.Unknown, "waits unless it is taken before those like it, which is not known: "+p.Message
		return nil
	}
	t, err := d.alone.Ask(ctx, w.Pod)
	if err == nil && d.surplus == nil {
		err = d.count(ctx)
	}
	switch {
	case err != nil:
		return fmt.Errorf("asking for room for pod %s/%s before the others: %w", w.Pod.Namespace, w.Pod.Name, err)
	case len(t.Nodes) == 0 && !t.Open && !t.Member.NonLocal && w.Group == "", d.surplus[p.Subject]:
		return nil
	case d.out.Preempting:
		p.Message = "has no room before kube-scheduler ends other pods, which was not played on: " + p.Message
	case len(d.released) > 0:
		p.Message = "may have no room, depending on where others are placed, and on the devices that kube-scheduler takes away from some: " + p.Message
	default:
		p.Message = "may find room or not, depending on the nodes that kube-scheduler chooses for pods before it; in the run that was played: " + p.Message
	}
	p.Verdict = explain.Unknown
	return nil
}

// count finds the pods of which there are more than there is room for.
func (d *doubter) count(ctx context.Context) error {
	d.surplus = map[explain.Subject]bool{}
	inOrder := !d.out.Preempting && len(d.out.Preempted) == 0 // else those that wait hear of room in any
	for _, pods := range d.localShapes(ctx, d.cluster) {
		room, _, err := roomFor(ctx, d.alone.Fork(), pods)
		if err != nil {
			return err
		}
		for _, pod := range pods[room:] {
			d.surplus[cycle.SubjectOf(pod)] = room == 0 || inOrder && !replay.SameTurn(pods[room-1], pod) // else it may be taken before
		}
	}
	return nil
}

// PendingFor is a pod that is left waiting for the reasons of an explanation. If the explanation says that
// the pod can be placed, the verdict is instead.
func PendingFor(e *explain.Explanation, instead explain.Verdict) *explain.PendingPod {
	p := &explain.PendingPod{Verdict: e.Verdict, Message: cmp.Or(e.Brief, e.Predicate, e.Message)}
	if e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated {
		p.Verdict, p.Message = instead, "is left waiting at its turn"
	}
	p.Preempts = e.Preemption != nil && e.Preemption.Outcome == explain.PreemptionPossible
	if e.Preemption != nil && p.Preempts {
		p.Message += "; " + e.Preemption.Message
	}
	p.Code = codeOf(e)
	return p
}

// causes are the codes that say what requirements of a conflict say, the most telling first.
var causes = []struct {
	kind  explain.RequirementKind
	codes []allocator.Code
}{
	{explain.PoolRequired, []allocator.Code{allocator.PoolIncomplete, allocator.PoolInvalid}},
	{explain.TaintRequired, []allocator.Code{allocator.DeviceTainted}},
	{explain.ConstraintRequired, []allocator.Code{allocator.MatchAttributeConflict, allocator.DistinctAttributeConflict}},
	{explain.CapacityRequired, []allocator.Code{allocator.CapacityInsufficient}},
	{explain.HeldRequired, []allocator.Code{allocator.DeviceInUse}},
	{explain.CountersRequired, []allocator.Code{allocator.CountersExhausted}},
}

// codeOf is the code of the cause: of what the scheduler gives up over, or of the conflict on the node that
// comes nearest. Where there is neither, it is the first that most nodes have.
func codeOf(e *explain.Explanation) allocator.Code {
	nodes := map[allocator.Code]int{}
	var codes []allocator.Code
	for i := range e.Groups {
		reasons := e.Groups[i].Reasons
		if len(reasons) == 0 {
			continue
		}
		if told := slices.IndexFunc(reasons, func(r explain.Reason) bool { return r.Told }); told >= 0 && e.Verdict == explain.Invalid {
			return reasons[told].Code
		}
		if e.Conflict != nil && slices.Contains(e.Groups[i].Nodes, e.Conflict.Node) {
			return conflictCode(e.Conflict, reasons)
		}
		code := reasons[0].Code
		if nodes[code] == 0 {
			codes = append(codes, code)
		}
		nodes[code] += len(e.Groups[i].Nodes)
	}
	if len(codes) == 0 {
		return ""
	}
	return slices.MaxFunc(codes, func(a, b allocator.Code) int { return cmp.Compare(nodes[a], nodes[b]) })
}

// conflictCode is the code of one of the reasons of a node that is about a conflict there.
func conflictCode(c *explain.Conflict, reasons []explain.Reason) allocator.Code {
	if reasons[0].Code == allocator.NotEnoughDevices { // of those that would do otherwise
		return reasons[0].Code
	}
	for _, cause := range causes {
		if !slices.ContainsFunc(c.Requirements, func(r explain.Requirement) bool { return r.Kind == cause.kind }) {
			continue
		}
		for i := range reasons {
			if slices.Contains(cause.codes, reasons[i].Code) {
				return reasons[i].Code
			}
		}
	}
	return reasons[0].Code
}
