package widget

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/rivo/uniseg"

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
	for g := uniseg.NewGraphemes(s); g.Next(); {
		c := g.Str()
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
	if room := width - Width(p.Label) - 2; Width(before) > room && room > 0 {
		before = "…" + tail(before, room-1)
	}
	line := Line{{p.Label, theme.Accent}, {before, theme.Plain}}
	used := line.Width()
	if used+Width(at) > width {
		return line.Render(th, width)
	}
	rest := Line{{after, theme.Plain}, {"  " + p.Hint, theme.Dim}}
	return line.Paint(th) + Cursor(th, at) + rest.Render(th, width-used-Width(at))
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
	for s != "" && Width(s) > width {
		_, s, _, _ = uniseg.FirstGraphemeClusterInString(s, -1)
	}
	return s
}
