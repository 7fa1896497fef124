package text

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// DefragmentationLines lays out how many claims fit after a few moves.
func DefragmentationLines(d *explain.Defragmentation, most int, opts Options) []styled.Line {
	p := newPlanPage(&explain.Plan{Partial: d.Partial, Basis: d.Basis}, opts)
	first, last := d.Rows[0], d.Rows[len(d.Rows)-1]
	sign, role := "✓ ", styled.Good
	text := fmt.Sprintf("%s like %s fit; after %s %d", words.Plural(first.Copies, "1 more claim", fmt.Sprintf("%d more claims", first.Copies)),
		d.Like.FullName(), words.Count(last.Moves, "move"), last.Copies)
	if len(d.Rows) == 1 {
		sign, role = "✗ ", styled.Bad
		text = fmt.Sprintf("%s like %s fit, and no more after up to %s", words.Plural(first.Copies, "1 more claim", fmt.Sprintf("%d more claims", first.Copies)), d.Like.FullName(), words.Count(most, "move"))
		if first.Copies == 0 {
			text = fmt.Sprintf("no more claim like %s fits, nor after up to %s", d.Like.FullName(), words.Count(most, "move"))
		}
		if !d.Complete {
			sign, role = "? ", styled.Warn
		}
		if !d.Complete && most > 0 {
			text += "; not all moves were tried"
		}
	}
	p.add("", "  ", styled.Span{Text: sign, Role: role}, span(styled.Strong, text))
	p.doubts(d.Doubts)
	p.title("MOVES  COPIES")
	for _, row := range d.Rows {
		p.add("", "", span(styled.Plain, fmt.Sprintf("%-5d  %d", row.Moves, row.Copies)))
	}
	if len(d.Moves) > 0 {
		p.title("Moves, in this order")
	}
	name := widest(d.Moves, p.opts.Width/2, func(m *explain.Move) string { return m.Pod.FullName() })
	for i := range d.Moves {
		move := &d.Moves[i]
		p.add(fmt.Sprintf("  %d. ", i+1)+pad(move.Pod.FullName(), name)+"  ", "     ",
			span(styled.Name, string(move.From)+" → "+string(move.To)), span(styled.Dim, ownerText(move)))
	}
	p.footer()
	return p.lines
}
