package widget

import (
	"slices"
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

	text   []string // grapheme clusters
	cursor int
}

// Value returns what was typed.
func (p *Prompt) Value() string {
	s := ""
	for _, c := range p.text {
		s += c
	}
	return s
}

// SetValue replaces what was typed; the cursor goes to the end.
func (p *Prompt) SetValue(s string) {
	p.text, p.cursor = nil, 0
	p.Insert(s)
}

// Insert types text. It is cut into what a reader sees as characters; line breaks and tabs become blanks.
func (p *Prompt) Insert(s string) {
	var added []string
	for c := range styled.Characters(s) {
		if c == "\n" || c == "\r" || c == "\t" || c == "\r\n" {
			c = " "
		}
		if !strings.ContainsFunc(c, unicode.IsControl) {
			added = append(added, c)
		}
	}
	p.text = slices.Insert(p.text, p.cursor, added...)
	p.cursor += len(added)
}

// Press handles a key and reports whether the text has changed.
func (p *Prompt) Press(k tea.KeyPressMsg) bool {
	switch k.Keystroke() {
	case "left", "ctrl+b":
		p.cursor = max(0, p.cursor-1)
	case "right", "ctrl+f":
		p.cursor = min(len(p.text), p.cursor+1)
	case "home", "ctrl+a":
		p.cursor = 0
	case "end", "ctrl+e":
		p.cursor = len(p.text)
	case "backspace", "ctrl+h":
		return p.drop(p.cursor-1, p.cursor)
	case "delete", "ctrl+d":
		return p.drop(p.cursor, p.cursor+1)
	case "ctrl+u":
		return p.drop(0, p.cursor)
	case "ctrl+k":
		return p.drop(p.cursor, len(p.text))
	case "ctrl+w", "alt+backspace":
		return p.drop(p.wordStart(), p.cursor)
	default:
		if k.Text == "" {
			return false
		}
		p.Insert(k.Text)
		return true
	}
	return false
}

func (p *Prompt) drop(from, to int) bool {
	from, to = max(0, from), min(to, len(p.text))
	if from >= to {
		return false
	}
	p.text = slices.Delete(p.text, from, to)
	p.cursor = from
	return true
}

// wordStart is where the word before the cursor begins.
func (p *Prompt) wordStart() int {
	at := p.cursor
	for at > 0 && p.text[at-1] == " " {
		at--
	}
	for at > 0 && p.text[at-1] != " " {
		at--
	}
	return at
}

// View draws the prompt in exactly width columns, the cursor as a block.
func (p *Prompt) View(th *theme.Theme, width int) string {
	before, at, after := "", " ", ""
	for i, c := range p.text {
		switch {
		case i < p.cursor:
			before += c
		case i == p.cursor:
			at = c
		default:
			after += c
		}
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
