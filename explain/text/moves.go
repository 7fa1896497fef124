package text

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// MovesLines lays out what makes room: the moves, how sure their number is, and the commands.
func MovesLines(m *explain.Moves, opts Options) []styled.Line {
	p := newPlanPage(&explain.Plan{Partial: m.Partial, Basis: m.Basis}, opts)
	p.movesHeadline(m)
	p.moves(m)
	if m.Verdict != explain.Feasible && len(m.Moves) == 0 || p.opts.Verbose {
		p.fixedPods(m.Fixed)
	}
	if len(m.Commands) > 0 {
		p.title("Commands, in this order")
		p.commands(m.Commands, "  ")
	}
	for _, r := range m.Remarks {
		p.add("  ", "  ", span(styled.Dim, r))
	}
	p.footer()
	return p.lines
}

func (p *page) movesHeadline(m *explain.Moves) {
	name := m.Subject.FullName()
	switch n := len(m.Moves); {
	case n > 0:
		sign := good
		if m.Verdict != explain.Feasible {
			sign = open
		}
		text := fmt.Sprintf("%s fits on %s once %s moved", name, m.Target.Node, words.Plural(n, "1 pod is", fmt.Sprintf("%d pods are", n)))
		p.add("", "  ", sign, span(styled.Strong, text), span(styled.Plain, minimumText(m)))
	case m.Verdict == explain.Feasible:
		p.add("", "  ", good, span(styled.Strong, name), span(styled.Plain, " "+m.Message))
	case m.Verdict == explain.Infeasible:
		p.add("", "  ", bad, span(styled.Strong, "no moves make room for "+name), span(styled.Plain, ": it "+m.Message))
	default:
		text := ": " + m.Message
		if m.AtLeast > 1 {
			text += fmt.Sprintf("; at least %d pods would have to go", m.AtLeast)
		}
		p.add("", "  ", open, span(styled.Strong, "whether moves make room for "+name+" is not known"), span(styled.Plain, text))
	}
	p.doubts(m.Doubts)
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
	p.blank()
	name := widest(m.Moves, p.opts.Width/2, func(m *explain.Move) string { return m.Pod.FullName() })
	name = min(max(name, styled.Width(inspect.Sanitize(m.Subject.FullName()))), p.opts.Width/2)
	for i := range m.Moves {
		move := &m.Moves[i]
		placed := explain.PlacedPod{Subject: move.Pod, Node: move.To, AnyOf: move.AnyOf, Devices: move.Devices}
		p.add(fmt.Sprintf("  %d. ", i+1)+pad(move.Pod.FullName(), name)+"  ", "     ",
			span(styled.Name, string(move.From)+" → "+onNode(&placed)), span(styled.Plain, "  "+deviceNames(&placed)),
			span(styled.Dim, ownerText(move)))
	}
	p.add("   → "+pad(m.Subject.FullName(), name)+"  ", "     ", span(styled.Name, string(m.Target.Node)), span(styled.Plain, "  "+deviceNames(m.Target)))
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
	p.title("Not moved")
	for _, f := range fixed {
		p.add("  ", "    ", span(styled.Name, words.Shorten(fullNames(f.Pods), maxPlanNames)), span(styled.Dim, ": "+f.Reason))
	}
}
