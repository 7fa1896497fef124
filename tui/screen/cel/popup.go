package cel

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// popup is what is proposed under the cursor.
type popup struct {
	items  editor.Completion
	cursor int
	// chosen says that the user has moved the cursor, so that Enter takes an item instead of breaking the
	// line.
	chosen bool
}

func (p *popup) open() bool { return len(p.items.Items) > 0 }

func (p *popup) close() { *p = popup{} }

// propose looks what can stand at the cursor. What the user did not ask for is not shown where it would be
// no help: operators, and what is there already.
func (p *popup) propose(c *editor.Completer, ed *widget.Editor, asked bool) {
	p.close()
	items := c.Complete(ed.Text(), ed.Cursor())
	if !asked && !worth(&items, ed) {
		return
	}
	p.items = items
}

// worth reports whether a completion is worth to be shown unasked.
func worth(c *editor.Completion, ed *widget.Editor) bool {
	if len(c.Items) == 0 || ed.Cursor() == 0 {
		return false
	}
	kind := c.Items[0].Kind
	if kind == editor.OperatorKind {
		return false
	}
	whole := ed.Text()[c.From:c.To]
	if len(c.Items) == 1 && (c.Items[0].Label == whole || c.Items[0].Insert == whole) {
		return false
	}
	behind := ed.Text()[ed.Cursor()-1]
	return c.From < ed.Cursor() || behind == '.' || behind == '"' || behind == '\'' || behind == '[' || kind == editor.ValueKind
}

// popupKeys are the keys that work while something is proposed, each besides what it does otherwise. Enter
// takes a proposal only if one was chosen; otherwise it breaks the line.
func (s *Screen) popupKeys() screen.Keys {
	p := &s.ed.popup
	if !p.open() {
		return nil
	}
	step := func(by int) func(*screen.World) tea.Cmd {
		n := len(p.items.Items)
		return screen.Then(func() { p.cursor, p.chosen = (p.cursor+by+n)%n, true })
	}
	take := func(w *screen.World) tea.Cmd {
		p.accept(&s.ed.Editor)
		return s.changed(w, true)
	}
	keys := screen.Keys{
		{Press: []string{"down"}, Do: step(1)}, {Press: []string{"up"}, Do: step(-1)}, {Press: []string{"tab"}, Do: take},
		{Press: []string{"esc"}, Do: screen.Then(p.close)},
	}
	if p.chosen {
		keys = append(keys, screen.Key{Press: []string{"enter"}, Do: take})
	}
	return keys
}

// accept takes the item under the cursor.
func (p *popup) accept(ed *widget.Editor) {
	ed.Replace(p.items.From, p.items.To, p.items.Items[p.cursor].Insert)
	p.close()
}

// visibleItems is how many items are shown at once.
const visibleItems = 7

// box draws the items in at most width columns and, if possible, height lines.
func (p *popup) box(th *theme.Theme, width, height int) []string {
	n := min(len(p.items.Items), visibleItems, max(2, height-3))
	if n < 1 || width < 20 {
		return nil
	}
	from := min(max(0, p.cursor-n/2), len(p.items.Items)-n)
	inner := styled.Width(p.help())
	for _, item := range p.items.Items {
		inner = max(inner, styled.Width(inspect.Sanitize(item.Label))+2+styled.Width(count(&item)))
	}
	inner = min(inner, width-4, 76)
	lines := []string{th.Paint(styled.Dim, "╭"+repeat("─", inner+2)+"╮")}
	edge := th.Paint(styled.Dim, "│")
	for i := from; i < from+n; i++ {
		lines = append(lines, edge+p.item(th, i, inner)+edge)
	}
	help := styled.Line{{Text: styled.Cut(p.help(), inner), Role: styled.Dim}}
	return append(lines, edge+" "+widget.Render(th, help, inner)+" "+edge, th.Paint(styled.Dim, "╰"+repeat("─", inner+2)+"╯"))
}

func (p *popup) item(th *theme.Theme, i, width int) string {
	item := &p.items.Items[i]
	mark, role := " ", styled.Plain
	if i == p.cursor {
		mark, role = "▸", styled.Accent
	}
	number := count(item)
	label := styled.Pad(styled.Cut(inspect.Sanitize(item.Label), width-styled.Width(number)), width-styled.Width(number))
	return th.PaintLine(styled.Line{{Text: mark, Role: styled.Accent}, {Text: label, Role: role}, {Text: number + " ", Role: styled.Dim}})
}

func count(item *editor.Item) string {
	if item.Devices == 0 {
		return ""
	}
	return fmt.Sprintf(" %d", item.Devices)
}

// help is one line about the item under the cursor.
func (p *popup) help() string {
	return inspect.Sanitize(p.items.Items[p.cursor].Help)
}
