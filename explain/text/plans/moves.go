package plans

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// MovesLines lays out what makes room: the moves, how sure their number is, and the commands.
func MovesLines(m *explain.Moves, opts layout.Options) []styled.Line {
	p := newPage(opts)
	p.movesHeadline(m)
	p.moves(m)
	if m.Verdict != explain.Feasible && len(m.Moves) == 0 || p.Verbose {
		p.fixedPods(m.Fixed)
	}
	if len(m.Commands) > 0 {
		p.Title("Commands, in this order")
		p.Commands(m.Commands, "  ")
	}
	for _, r := range m.Remarks {
		p.Add("  ", "  ", layout.Span(styled.Dim, r))
	}
	p.Footer(m.Partial, m.Basis, true)
	return p.Lines
}

func (p *page) movesHeadline(m *explain.Moves) {
	name := m.Subject.FullName()
	switch n := len(m.Moves); {
	case n > 0:
		sign := layout.Good
		if m.Verdict != explain.Feasible {
			sign = layout.Open
		}
		text := fmt.Sprintf("%s fits on %s once %s moved", name, m.Target.Node, words.Plural(n, "1 pod is", fmt.Sprintf("%d pods are", n)))
		p.Add("", "  ", sign, layout.Span(styled.Strong, text), layout.Span(styled.Plain, minimumText(m)))
	case m.Verdict == explain.Feasible:
		p.Add("", "  ", layout.Good, layout.Span(styled.Strong, name), layout.Span(styled.Plain, " "+m.Message))
	case m.Verdict == explain.Infeasible:
		p.Add("", "  ", layout.Bad, layout.Span(styled.Strong, "no moves make room for "+name), layout.Span(styled.Plain, ": it "+m.Message))
	default:
		text := ": " + m.Message
		if m.AtLeast > 1 {
			text += fmt.Sprintf("; at least %d pods would have to go", m.AtLeast)
		}
		p.Add("", "  ", layout.Open, layout.Span(styled.Strong, "whether moves make room for "+name+" is not known"), layout.Span(styled.Plain, text))
	}
	p.Doubts(m.Doubts)
}

// minimumText says whether fewer moves could do.
func minimumText(m *explain.Moves) string {
	switch {
	case m.Proven && len(m.Moves) == 1:
		return ""
	case m.Proven:
		return "; fewer do not do"
	}
	return fmt.Sprintf("; at least %d have to be", m.AtLeast)
}

// moves shows each move in a row.
func (p *page) moves(m *explain.Moves) {
	if len(m.Moves) == 0 {
		return
	}
	p.Blank()
	name := layout.Widest(m.Moves, p.Width/2, func(m *explain.Move) string { return m.Pod.FullName() })
	name = min(max(name, styled.Width(inspect.Sanitize(m.Subject.FullName()))), p.Width/2)
	for i := range m.Moves {
		move := &m.Moves[i]
		placed := explain.PlacedPod{Subject: move.Pod, Node: move.To, AnyOf: move.AnyOf, Devices: move.Devices}
		p.Add(fmt.Sprintf("  %d. ", i+1)+pad(move.Pod.FullName(), name)+"  ", "     ",
			layout.Span(styled.Name, string(move.From)+" → "+onNode(&placed)), layout.Span(styled.Plain, "  "+deviceNames(&placed)),
			layout.Span(styled.Dim, ownerText(move)))
	}
	p.Add("   → "+pad(m.Subject.FullName(), name)+"  ", "     ", layout.Span(styled.Name, string(m.Target.Node)), layout.Span(styled.Plain, "  "+deviceNames(m.Target)))
}

func ownerText(m *explain.Move) string {
	text := "  (" + m.Owner
	if m.Priority != 0 {
		text += fmt.Sprintf(", priority %d", m.Priority)
	}
	return text + ")"
}

// fixedPods shows who may not be moved.
func (p *page) fixedPods(fixed []explain.FixedPods) {
	if len(fixed) == 0 {
		return
	}
	p.Title("Not moved")
	for _, f := range fixed {
		p.Add("  ", "    ", layout.Span(styled.Name, words.Shorten(subjectNames(f.Pods), maxPlanNames)), layout.Span(styled.Dim, ": "+f.Reason))
	}
}
