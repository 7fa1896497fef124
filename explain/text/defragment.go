package text

import (
	"fmt"
	"io"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RenderDefragmentation writes as text how many claims fit after a few moves. most is the number of moves that was asked about.
func RenderDefragmentation(w io.Writer, d *explain.Defragmentation, most int, opts Options) error {
	return Write(w, DefragmentationLines(d, most, opts), opts.Color)
}

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
	for _, doubt := range d.Doubts {
		p.add("! ", "  ", span(styled.Warn, doubt))
	}
	p.blank()
	p.add("", "", span(styled.Title, "MOVES  COPIES"))
	for _, row := range d.Rows {
		p.add("", "", span(styled.Plain, fmt.Sprintf("%-5d  %d", row.Moves, row.Copies)))
	}
	if len(d.Moves) > 0 {
		p.blank()
		p.add("", "", span(styled.Title, "Moves, in this order"))
	}
	name := 0
	for i := range d.Moves {
		name = max(name, styled.Width(inspect.Sanitize(d.Moves[i].Pod.FullName())))
	}
	for i := range d.Moves {
		move := &d.Moves[i]
		p.add(fmt.Sprintf("  %d. ", i+1)+pad(move.Pod.FullName(), min(name, p.opts.Width/2))+"  ", "     ",
			span(styled.Name, string(move.From)+" → "+string(move.To)), span(styled.Dim, ownerText(move)))
	}
	p.footer()
	return p.lines
}
