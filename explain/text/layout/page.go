package layout

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Options say how much to show, and where.
type Options struct {
	// Width is the number of columns of the terminal. If it is 0, that is 80.
	Width int
	// Verbose shows every group of nodes, all nodes of a group and every request.
	Verbose bool
	// Color marks roles with ANSI sequences.
	Color bool
	// Screen says that the lines are for a screen with keys, which knows no flags and has no room for words
	// that are wider than it. More is its key that shows what is left out, and empty if none does.
	Screen bool
	More   string
}

// Hint tells how what is left out can be seen, in brackets.
func (o Options) Hint(shows string) string {
	switch {
	case !o.Screen:
		return " (-v " + shows + ")"
	case o.More == "":
		return ""
	}
	return " (" + o.More + " " + shows + ")"
}

// Page collects lines.
type Page struct {
	Options
	Lines []styled.Line
}

// NewPage returns an empty page.
func NewPage(opts Options) Page {
	if opts.Width == 0 {
		opts.Width = 80
	}
	return Page{Options: opts}
}

// Limit is how many of n are shown: all of them with Verbose.
func (p *Page) Limit(most, n int) int {
	if p.Verbose {
		return n
	}
	return min(most, n)
}

// Heading begins a part of the page.
func (p *Page) Heading(heading string, spans ...styled.Span) {
	p.Blank()
	p.Add("", "  ", append([]styled.Span{{Text: heading, Role: styled.Strong}}, spans...)...)
}

// Title begins a part of a plan, which need not have one.
func (p *Page) Title(title string) {
	p.Blank()
	if title != "" {
		p.Add("", "", Span(styled.Title, title))
	}
}

// Doubts says what is not certain.
func (p *Page) Doubts(doubts []string) {
	for _, doubt := range doubts {
		p.Add("! ", "  ", Span(styled.Warn, doubt))
	}
}

// Widest is the width of the widest of some texts, but not more than most.
func Widest[T any](list []T, most int, text func(*T) string) int {
	width := 0
	for i := range list {
		width = max(width, styled.Width(inspect.Sanitize(text(&list[i]))))
	}
	return min(width, most)
}

// Blank leaves a line blank, unless there is nothing above it.
func (p *Page) Blank() {
	if len(p.Lines) > 0 && len(p.Lines[len(p.Lines)-1]) > 0 {
		p.Lines = append(p.Lines, styled.Line{})
	}
}

// Add adds a line, broken into several where it has to be.
func (p *Page) Add(first, rest string, spans ...styled.Span) {
	p.Lines = append(p.Lines, styled.Wrap(spans, styled.Wrapping{Width: p.Width, First: first, Rest: rest, Break: p.Screen})...)
}

// Notes shows notes of objects below a heading, as they are seen from a subject.
func (p *Page) Notes(heading string, notes []explain.Note, of explain.Subject) {
	if len(notes) == 0 {
		return
	}
	p.Heading(heading)
	for _, n := range notes {
		what := strings.ToLower(n.Kind) + " " + n.Name
		if n.Namespace != of.Namespace {
			what = strings.ToLower(n.Kind) + " " + n.Namespace + "/" + n.Name
		}
		if n.Kind == of.Kind && n.Name == of.Name && n.Namespace == of.Namespace {
			p.Add("  ", "  ", Span(styled.Plain, p.Said(&n)))
			continue
		}
		p.Add("  ", "    ", Span(styled.Name, what), Span(styled.Plain, ": "+p.Said(&n)))
	}
}

// Said is what a note says, without what is of interest only to those who ask for everything.
func (p *Page) Said(n *explain.Note) string {
	if p.Verbose || n.Brief == "" {
		return n.Message
	}
	return n.Brief
}

// Footer ends a page with what was not read and what the answer is based on. An answer that was not decided
// does not say how.
func (p *Page) Footer(partial []string, b explain.Basis, decided bool) {
	if len(partial) > 0 {
		p.Blank()
	}
	p.Doubts(partial)
	p.Blank()
	if decided && (!b.Usual || p.Verbose) {
		p.Add("", "", Span(styled.Dim, fmt.Sprintf("Decided as kube-scheduler %s does (%s allocator; %s).", b.Version, b.Variant, b.Source)))
	}
	if !b.AsOf.IsZero() {
		p.Add("", "", Span(styled.Dim, "As of "+b.AsOf.UTC().Format(time.RFC3339)+"."))
	}
	for _, r := range b.Remarks {
		p.Add("", "", Span(styled.Dim, "Note: "+r+"."))
	}
	for len(p.Lines) > 0 && len(p.Lines[len(p.Lines)-1]) == 0 {
		p.Lines = p.Lines[:len(p.Lines)-1]
	}
}
