package widget

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Prompt is a line to type into.
type Prompt struct {
	// Label stands before what is typed.
	Label string
	// Hint is shown behind it, sanitised.
	Hint string

	editor Editor
}

// Value returns what was typed.
func (p *Prompt) Value() string { return p.editor.Text() }

// SetValue replaces what was typed; the cursor goes to the end.
func (p *Prompt) SetValue(s string) {
	p.editor.Set("")
	p.Insert(s)
}

// Insert types text. Line breaks and tabs become blanks; there are no other control characters.
func (p *Prompt) Insert(s string) {
	p.editor.Insert(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", "\n")))
}

// Press handles a key, but for Enter, and reports whether the text has changed.
func (p *Prompt) Press(k tea.KeyPressMsg) bool {
	before := p.Value()
	if k.Code != tea.KeyEnter {
		p.editor.Press(k)
	}
	return p.Value() != before
}

// View draws the prompt in exactly width columns, the cursor as a block.
func (p *Prompt) View(th *theme.Theme, width int) string {
	text, cursor := p.Value(), p.editor.Cursor()
	end := p.editor.after(cursor)
	before, at, after := text[:cursor], text[cursor:end], text[end:]
	if at == "" {
		at = " "
	}
	if room := width - styled.Width(p.Label) - 2; styled.Width(before) > room && room > 0 {
		before = "…" + tail(before, room-1)
	}
	line := styled.Line{{Text: p.Label, Role: styled.Accent}, {Text: before}}
	used := line.Width()
	if used+styled.Width(at) > width {
		return Render(th, line, width)
	}
	rest := styled.Line{{Text: after}, {Text: "  " + p.Hint, Role: styled.Dim}}
	return th.PaintLine(line) + Cursor(th, at) + Render(th, rest, width-used-styled.Width(at))
}

// Cursor draws the character under the cursor. Without colours only an empty place can be marked.
func Cursor(th *theme.Theme, s string) string {
	if th.Colored {
		return "\x1b[7m" + s + "\x1b[m"
	}
	if s == " " {
		return "_"
	}
	return s
}

// tail returns the end of a text that fits into width columns.
func tail(s string, width int) string {
	over := styled.Width(s) - width
	for c, w := range styled.Characters(s) {
		if over <= 0 {
			break
		}
		s, over = s[len(c):], over-w
	}
	return s
}
