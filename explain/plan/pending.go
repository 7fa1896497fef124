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
	explained, doubts := 0, r.newDoubter()
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
		}
		known[shape] = p
		own := *p
		own.Subject = subjectOf(w.pod)
		if err := doubts.doubt(ctx, w, &own); err != nil {
			return err
		}
		r.out.Pending = append(r.out.Pending, own)
	}
	return nil
}

// doubter makes it unknown that pods are left waiting if they find room alone, and it is not certain that all before them are placed.
type doubter struct {
	*replay
	alone *simulation
	// surplus are the pods for which there is no room once as many like them are placed as can be, whatever else is.
	surplus map[explain.Subject]bool
}

func (r *replay) newDoubter() *doubter { return &doubter{replay: r, alone: newSimulation(r.base)} }

// doubt is what is known of a pod that is left waiting as p says.
func (d *doubter) doubt(ctx context.Context, w *waiting, p *explain.PendingPod) error {
	if p.Verdict != explain.Unsatisfiable || !d.doubtful && len(d.unseen) == 0 {
		return nil
	}
	t, err := d.alone.ask(ctx, w.pod)
	if err == nil && d.surplus == nil {
		err = d.count(ctx)
	}
	if err != nil {
		return fmt.Errorf("asking for room for pod %s/%s before the others: %w", w.pod.Namespace, w.pod.Name, err)
	}
	if (len(t.nodes) > 0 || t.open || t.member.Reaches) && !d.surplus[subjectOf(w.pod)] {
		p.Verdict, p.Message = explain.Unknown, "has no room if those before it are placed as shown, which is not certain: "+p.Message
	}
	return nil
}

// count finds the pods of which there are more than there is room for.
func (d *doubter) count(ctx context.Context) error {
	d.surplus = map[explain.Subject]bool{}
	order, shapes := d.localShapes(ctx, d.base)
	for _, shape := range order {
		if !slices.ContainsFunc(d.waiting, func(w waiting) bool { return w.turn.member.Shape == shape }) {
			continue
		}
		room, _, err := roomFor(ctx, d.base, shapes[shape])
		if err != nil {
			return err
		}
		for _, pod := range shapes[shape][room:] {
			d.surplus[subjectOf(pod)] = true
		}
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
