package styled

import (
	"slices"
	"strings"
)

// Wrapping says how a line is broken into several.
type Wrapping struct {
	// Width is the number of columns that a line may take.
	Width int
	// First and Rest stand at the beginning of the first line and of the others.
	First, Rest string
	// Break breaks words that have no room on a line of their own. Otherwise they make their line too wide:
	// they may be something to paste.
	Break bool
	// Spans lets a line end between two spans also where there is no blank, as between the words of an
	// expression.
	Spans bool
}

// Wrap breaks a line at blanks, which are left out there. It returns at least one line.
func Wrap(line Line, o Wrapping) []Line {
	w := wrapper{Wrapping: o}
	w.begin(o.First)
	for _, word := range o.words(line) {
		w.add(word)
	}
	return w.lines
}

// WrapText breaks a text at blanks, and words that are wider than that, into lines of at most width columns.
// It returns at least one line.
func WrapText(s string, width int) []string {
	lines := Wrap(Text(Plain, s), Wrapping{Width: max(1, width), Break: true})
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.String()
	}
	return texts
}

// Narrow breaks the lines that are wider than so many columns, words too where nothing else helps. What goes
// on in the next line is indented a little more than the line that it belongs to. The other lines stay as
// they are.
func Narrow(lines []Line, width int) []Line {
	if !slices.ContainsFunc(lines, func(l Line) bool { return l.Width() > width }) {
		return lines
	}
	var out []Line
	for _, line := range lines {
		if line.Width() <= width {
			out = append(out, line)
			continue
		}
		text := line.String()
		indent := min(len(text)-len(strings.TrimLeft(text, " "))+2, width/2)
		out = append(out, Wrap(line, Wrapping{Width: max(1, width), Rest: strings.Repeat(" ", indent), Break: true})...)
	}
	return out
}

// word is a piece of a line that is kept together, with the blanks before it.
type word struct{ blanks, text Line }

// words takes a line apart. Blanks at its end belong to a word without text.
func (o Wrapping) words(line Line) []word {
	var words []word
	next := true // what comes next begins a word
	last := func() *word {
		if next || len(words) == 0 {
			words = append(words, word{})
			next = false
		}
		return &words[len(words)-1]
	}
	for _, span := range line {
		next = next || o.Spans
		for rest := span.Text; rest != ""; {
			if n := len(rest) - len(strings.TrimLeft(rest, " ")); n > 0 {
				next = next || len(words) > 0 && len(words[len(words)-1].text) > 0
				w := last()
				w.blanks = w.blanks.With(Span{Text: rest[:n], Role: span.Role, Link: span.Link})
				rest = rest[n:]
				continue
			}
			text, _, _ := strings.Cut(rest, " ")
			w := last()
			w.text = w.text.With(Span{Text: text, Role: span.Role, Link: span.Link})
			rest = rest[len(text):]
		}
	}
	return words
}

// wrapper collects the lines.
type wrapper struct {
	Wrapping
	lines  []Line
	column int
	empty  bool // the line has no word yet
}

func (w *wrapper) begin(lead string) {
	w.lines = append(w.lines, Text(Plain, lead))
	w.column, w.empty = Width(lead), true
}

// leastPiece is how many columns the first piece of a word must have for the word to begin behind others.
const leastPiece = 24

func (w *wrapper) add(word word) {
	need, room := word.text.Width(), w.Width-Width(w.Rest)
	gap := word.blanks.Width()
	broken := w.Break && need > room && w.Width-w.column-gap >= leastPiece // wherever it begins, so it can begin here
	if !w.empty && w.column+gap+need > w.Width && !broken {
		w.begin(w.Rest)
	} else {
		w.indent(word.blanks)
	}
	w.empty = false
	if !w.Break || w.column+need <= w.Width {
		w.put(word.text)
		return
	}
	for _, span := range word.text {
		for character, width := range Characters(span.Text) {
			if w.column+width > w.Width && !w.empty {
				w.begin(w.Rest)
			}
			w.put(Line{{Text: character, Role: span.Role, Link: span.Link}})
			w.empty = false
		}
	}
}

// indent puts blanks, no more of them than there is room for if nothing may be wider than that.
func (w *wrapper) indent(blanks Line) {
	for _, span := range blanks {
		if w.Break {
			span.Text = span.Text[:min(len(span.Text), max(0, w.Width-w.column))]
		}
		w.put(Line{span})
	}
}

func (w *wrapper) put(text Line) {
	last := &w.lines[len(w.lines)-1]
	for _, span := range text {
		*last = last.With(span)
	}
	w.column += text.Width()
}
