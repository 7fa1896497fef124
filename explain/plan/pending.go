package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// maxExplained is the number of shapes of which it is explained why they are left waiting.
const maxExplained = 24

// explainPending says of all pods that are left waiting why, in the cluster that the others have left.
func (r *replay) explainPending(ctx context.Context) error {
	r.out.Pending = nil
	known := map[string]*explain.PendingPod{}
	explained, alone := 0, newSimulation(r.base)
	for i := range r.waiting {
		w := &r.waiting[i]
		shape := cmp.Or(w.gang, w.turn.member.Shape, w.pod.Namespace+"/"+w.pod.Name)
		p, ok := known[shape]
		switch {
		case ok:
		case w.gang != "":
			p = &explain.PendingPod{Verdict: explain.Unsatisfiable, Code: allocator.PodGroupIncomplete, Message: fmt.Sprintf(
				"its PodGroup %s is placed as a whole, which lacks room for %s", w.gang, words.Count(w.short, "more pod"))}
			if r.doubtful || len(r.unseen) > 0 {
				p.Verdict = explain.Unknown
			}
		case w.failure != "":
			p = &explain.PendingPod{Verdict: explain.Invalid, Message: w.failure}
		case explained == maxExplained:
			p = &explain.PendingPod{Verdict: verdictOf(w.turn), Message: "finds no room after the others; why was not looked into"}
		default:
			explained++
			e, err := question.PodObject(ctx, r.cluster, w.pod, r.opts)
			if err != nil {
				return fmt.Errorf("explaining why pod %s/%s is left waiting: %w", w.pod.Namespace, w.pod.Name, err)
			}
			p = pendingBy(e, w.turn)
		}
		if !ok {
			p.Alike = len(known)
			if err := r.question(ctx, alone, w, p); err != nil {
				return err
			}
		}
		known[shape] = p
		own := *p
		own.Subject = subjectOf(w.pod)
		r.out.Pending = append(r.out.Pending, own)
	}
	return nil
}

// question makes it unknown that a pod is left waiting if it finds room alone, and it is not certain that all before it are placed.
func (r *replay) question(ctx context.Context, alone *simulation, w *waiting, p *explain.PendingPod) error {
	if p.Verdict != explain.Unsatisfiable || !r.doubtful && len(r.unseen) == 0 {
		return nil
	}
	t, err := alone.ask(ctx, w.pod)
	if err != nil {
		return fmt.Errorf("asking for room for pod %s/%s before the others: %w", w.pod.Namespace, w.pod.Name, err)
	}
	if len(t.nodes) > 0 || t.open || t.member.Reaches {
		p.Verdict, p.Message = explain.Unknown, "has no room if those before it are placed as shown, which is not certain: "+p.Message
	}
	return nil
}

// verdictOf is the verdict of a turn that leaves a pod waiting.
func verdictOf(t *turn) explain.Verdict {
	switch {
	case t.fails:
		return explain.Invalid
	case t.open || t.mayWait:
		return explain.Unknown
	}
	return explain.Unsatisfiable
}

// pendingBy is a pod that is left waiting for the reasons of an explanation.
func pendingBy(e *explain.Explanation, t *turn) *explain.PendingPod {
	p := &explain.PendingPod{Verdict: e.Verdict, Message: cmp.Or(e.Brief, e.Predicate, e.Message)}
	if e.Verdict == explain.Allocatable || e.Verdict == explain.Allocated {
		p.Verdict, p.Message = verdictOf(t), "is left waiting at its turn"
	}
	p.Preempts = e.Preemption != nil && e.Preemption.Outcome == explain.PreemptionPossible
	if e.Preemption != nil && p.Preempts {
		p.Message += "; " + e.Preemption.Message
	}
	nodes := map[allocator.Code]int{}
	var codes []allocator.Code
	for i := range e.Groups {
		if len(e.Groups[i].Reasons) == 0 {
			continue
		}
		code := e.Groups[i].Reasons[0].Code
		if nodes[code] == 0 {
			codes = append(codes, code)
		}
		nodes[code] += len(e.Groups[i].Nodes)
	}
	slices.SortStableFunc(codes, func(a, b allocator.Code) int { return cmp.Compare(nodes[b], nodes[a]) })
	if len(codes) > 0 {
		p.Code = codes[0]
	}
	return p
}
