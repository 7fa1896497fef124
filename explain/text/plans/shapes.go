package plans

import (
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// ShapeLines lays out a plan of nodes: what helps, the best first, what does not and why, and the pods that
// no node helps.
func ShapeLines(plan *explain.ShapePlan, opts layout.Options) []styled.Line {
	p := newPage(opts)
	p.shapesHeadline(plan)
	p.Doubts(plan.Unseen)
	var helps, fails []*explain.ShapeAnswer
	for i := range plan.Shapes {
		if a := &plan.Shapes[i]; a.Verdict == explain.ShapeFits || a.Verdict == explain.ShapeMayFit {
			helps = append(helps, a)
		} else {
			fails = append(fails, a)
		}
	}
	p.helping(helps)
	p.failing(fails)
	p.waiting("Waiting for something else", plan.Stuck)
	if len(plan.Untried) > 0 {
		p.Blank()
	}
	p.Doubts(plan.Untried)
	p.Footer(plan.Partial, plan.Basis, true)
	return p.Lines
}

func (p *page) shapesHeadline(plan *explain.ShapePlan) {
	waiting := len(plan.Waiting)
	left := plan.Pods - len(plan.Stuck)
	add := func(sign styled.Span, text string) { p.Add("", "  ", sign, layout.Span(styled.Strong, text)) }
	others := ""
	if n := len(plan.Stuck); n > 0 {
		others = fmt.Sprintf("; %s for what none of these nodes brings", words.Plural(n, "1 pod waits", fmt.Sprintf("%d pods wait", n)))
	}
	switch best := bestOf(plan); {
	case plan.Pods == 0 && len(plan.Unseen) > 0:
		add(layout.Open, "nothing is known to wait")
	case plan.Pods == 0:
		add(layout.Good, "there is nothing to place")
	case plan.Fits && len(plan.Stuck) == 0:
		add(layout.Good, "kube-scheduler places "+allOf(plan.Pods)+" as things are; no node is needed")
	case plan.MayFit && len(plan.Stuck) == 0:
		add(layout.Open, "kube-scheduler may place "+allOf(plan.Pods)+" as things are, but not for certain")
	case left == 0:
		add(layout.Bad, "none of these nodes helps "+allOf(plan.Pods))
	case plan.Fits, plan.MayFit:
		add(layout.Bad, fmt.Sprintf("%s for what none of these nodes brings; the others need no node", words.Plural(len(plan.Stuck), "1 pod waits", fmt.Sprintf("%d pods wait", len(plan.Stuck)))))
	case best == nil && len(plan.Shapes) == 0:
		add(layout.Open, fmt.Sprintf("%d of %s left waiting, and there is no kind of node to add", waiting, words.Plural(plan.Pods, "1 pod is", fmt.Sprintf("%d pods are", plan.Pods))))
	case best != nil && best.Verdict == explain.ShapeFits:
		sign := layout.Good
		if others != "" {
			sign = layout.Bad
		}
		add(sign, fmt.Sprintf("with %s kube-scheduler places %s%s", countOf(best), places(plan, left), others))
	case best != nil && best.Verdict == explain.ShapeMayFit:
		add(layout.Open, fmt.Sprintf("with %s kube-scheduler may place %s, but not for certain%s", countOf(best), places(plan, left), others))
	case proven(plan):
		sign, which := layout.Bad, "none of these nodes"
		if len(plan.Untried) > 0 {
			sign, which = layout.Open, "no kind of node alone"
		}
		add(sign, which+" makes "+places(plan, left)+" fit"+others)
	default:
		add(layout.Open, "whether any of these nodes makes "+places(plan, left)+" fit is not known"+others)
	}
}

// places are the pods that are to fit.
func places(plan *explain.ShapePlan, left int) string {
	if len(plan.Stuck) == 0 {
		return allOf(left)
	}
	return words.Plural(left, "the other pod", fmt.Sprintf("the other %d pods", left))
}

// bestOf is the best answer that may do.
func bestOf(plan *explain.ShapePlan) *explain.ShapeAnswer {
	if len(plan.Shapes) > 0 && (plan.Shapes[0].Verdict == explain.ShapeFits || plan.Shapes[0].Verdict == explain.ShapeMayFit) {
		return &plan.Shapes[0]
	}
	return nil
}

// proven reports whether all shapes are proved to fail.
func proven(plan *explain.ShapePlan) bool {
	return !slices.ContainsFunc(plan.Shapes, func(a explain.ShapeAnswer) bool { return a.Verdict != explain.ShapeFails })
}

// countOf says how many nodes of what.
func countOf(a *explain.ShapeAnswer) string { return fmt.Sprintf("%d × %s", a.Count, a.Name) }

// helping shows what does, or may do.
func (p *page) helping(answers []*explain.ShapeAnswer) {
	if len(answers) == 0 {
		return
	}
	p.Title("Nodes to add, the best first")
	name := 0
	for _, a := range answers {
		name = max(name, styled.Width(countOf(a)))
	}
	name = min(name, p.Width/2)
	for _, a := range answers {
		sign := layout.Good
		if a.Verdict == explain.ShapeMayFit {
			sign = layout.Open
		}
		p.Add("  ", "      ", sign, layout.Span(styled.Name, pad(countOf(a), name)+"  "), layout.Span(styled.Dim, sourceOf(a)+": "), layout.Span(styled.Plain, howSure(a)))
		if a.Assumes != "" {
			p.Add("      ", "      ", layout.Span(styled.Dim, "assumes "+a.Assumes))
		}
	}
}

// sourceOf says where a kind of node is described.
func sourceOf(a *explain.ShapeAnswer) string {
	switch {
	case a.Source != "Cluster":
		return a.From
	case a.From == "1":
		return "as 1 node has it"
	}
	return "as " + a.From + " nodes have it"
}

// howSure says what is certain about the number of nodes.
func howSure(a *explain.ShapeAnswer) string {
	switch {
	case a.Verdict == explain.ShapeMayFit:
		return a.Why
	case a.Minimal && a.Count > 1:
		return "the fewest with which all fit for certain"
	case a.Count > 1:
		return "all fit for certain; fewer may do"
	}
	return "all fit for certain"
}

// failing shows what does not do, and why: those together that fail for the same.
func (p *page) failing(answers []*explain.ShapeAnswer) {
	if len(answers) == 0 {
		return
	}
	title := "Nodes that do not help all"
	if !slices.ContainsFunc(answers, func(a *explain.ShapeAnswer) bool { return a.Verdict != explain.ShapeUnknown }) {
		title = "Nodes of which it is not known"
	}
	p.Title(title)
	type reason struct{ pod, why, assumes string }
	limit := p.Limit(maxPlanNames, len(answers))
	for _, group := range words.Groups(answers, func(a *explain.ShapeAnswer) reason { return reason{a.Pod.FullName(), a.Why, a.Assumes} }) {
		sign, r := layout.Bad, group.Key
		if slices.ContainsFunc(group.Of, func(a *explain.ShapeAnswer) bool { return a.Verdict == explain.ShapeUnknown }) {
			sign = layout.Open
		}
		why := r.why
		if r.pod != "" {
			why = r.pod + ": " + why
		}
		names := words.Each(group.Of, func(a *explain.ShapeAnswer) string { return a.Name })
		p.Add("  ", "      ", sign, layout.Span(styled.Name, words.Shorten(names, limit)), layout.Span(styled.Plain, "  "+why))
		if r.assumes != "" {
			p.Add("      ", "      ", layout.Span(styled.Dim, "assumes "+r.assumes))
		}
	}
}
