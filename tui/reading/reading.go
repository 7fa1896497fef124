package reading

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// Config says what a Reader shows.
type Config[T any] struct {
	// Ref is the object that the text is about.
	Ref screen.Ref
	// Ask works out what is to be shown. It runs in the background and may take its time.
	Ask func(ctx context.Context, w *screen.World) (T, error)
	// Lines lays it out. The text in the lines is safe to show. Lines that are too wide are broken.
	Lines func(value T, o Layout) []styled.Line
	// Patience is that of the answer: see screen.Answer.
	Patience time.Duration
	// View says that it is a view, and not a page that one leaves for where one came from.
	View bool
	// Supposes are the changes that the text is about. It is nil where the text is about what is. As long as
	// there is no value it gets the zero value.
	Supposes func(value T) []screen.Change
	// Working says what is being worked out, as long as nothing is known. If it is nil, or says nothing, that
	// is not worth saying.
	Working func(w *screen.World) string
	// More says in a few words what a verbose layout adds. If it is empty, there is no verbose layout.
	More string
	// Fixes are the commands of each fix that the text is about. Each fix is a part of the text: a key shows
	// one after the other, and then its commands are what is copied, each on one line. It may be nil.
	Fixes func(value T) [][]string
	// Keys are more keys, which go before those of every text. It may be nil.
	Keys func(value T) screen.Keys
}

// Layout is how text is laid out.
type Layout struct {
	Width   int
	Verbose bool
	// Copied says that the text is for the clipboard, and read where there are no keys.
	Copied bool
	// Part is which part of the text is laid out alone, where it has parts, counted from 1. 0 is all of it.
	Part int
}

// widest is how many columns a text takes at most, so that it can be read.
const widest = 120

// Options are how package text has to lay out what is shown.
func (l Layout) Options() text.Options {
	return text.Options{Width: min(l.Width, widest), Verbose: l.Verbose, Screen: !l.Copied, More: MoreKey}
}

const (
	// MoreKey is the key that lays out everything.
	MoreKey = "v"
	// FixKey is the key that shows the commands of the next fix.
	FixKey = "x"
)

// Reader is a screen of text. It implements screen.Screen.
type Reader[T any] struct {
	config  Config[T]
	answer  screen.Answer[T]
	page    widget.Page
	verbose bool
	part    int
	asked   bool
	laidOut laidOut
}

// laidOut is what the lines of the page were made from.
type laidOut struct {
	version int
	layout  Layout
}

// New makes a screen.
func New[T any](config Config[T]) *Reader[T] {
	r := &Reader[T]{config: config}
	r.answer.Patience = config.Patience
	return r
}

// keys are the keys of every text, before them those that work while text is looked for.
func (r *Reader[T]) keys() screen.Keys {
	verbose := screen.Key{Name: "verbose", Press: []string{MoreKey}, Short: "verbose", Help: "show more: " + r.config.More, Do: r.turn}
	switch {
	case r.config.More == "":
		verbose.Short, verbose.Help, verbose.Off = "", "show more", "all is shown"
	case r.verbose:
		verbose.Short, verbose.Help = "brief", "show less again"
	}
	links, followOff, leaveOff := "", "", ""
	if r.page.HasLinks() {
		links = "links"
	}
	if r.page.Link() == "" {
		followOff = "↓ goes to the next link first"
	}
	if r.config.View {
		leaveOff = "this is a view, and no page to go back from"
	}
	scroll := func(lines func() int) func(*screen.World) tea.Cmd {
		return screen.Then(func() { r.page.Scroll(lines()) })
	}
	height := r.page.Height
	keys := screen.Keys{
		verbose,
		{Name: "up", Press: []string{"up", "k"}, Show: "↑ k", Help: "to the link before, or a line up", Do: screen.Then(func() { r.page.Step(-1) })},
		{Name: "down", Press: []string{"down", "j"}, Show: "↓", Short: links, Help: "to the next link, which Enter follows, or a line down (also j)", Do: screen.Then(func() { r.page.Step(1) })},
		{Name: "follow", Press: []string{"right", "l"}, Show: "→ l", Help: "follow the link under the cursor, as Enter does", Off: followOff, Do: func(*screen.World) tea.Cmd { return r.follow() }},
		{Name: "leave", Press: []string{"left", "h"}, Show: "← h", Help: "back, as Esc does", Off: leaveOff, Do: func(*screen.World) tea.Cmd { return screen.Send(screen.Back{}) }},
		{Name: "page up", Press: []string{"pgup", "ctrl+b"}, Show: "PgUp", Help: "one page up", Do: scroll(func() int { return 1 - height() })},
		{Name: "page down", Press: []string{"pgdown", "ctrl+f", "space"}, Show: "PgDn", Help: "one page down", Do: scroll(func() int { return height() - 1 })},
		{Name: "half a page up", Press: []string{"ctrl+u"}, Show: "^U", Help: "half a page up", Do: scroll(func() int { return -height() / 2 })},
		{Name: "half a page down", Press: []string{"ctrl+d"}, Show: "^D", Help: "half a page down", Do: scroll(func() int { return height() / 2 })},
		{Name: "first", Press: []string{"home", "g"}, Show: "Home g", Help: "to the beginning", Do: screen.Then(func() { r.page.ScrollTo(0) })},
		{Name: "last", Press: []string{"end", "G"}, Show: "End G", Help: "to the end", Do: screen.Then(func() { r.page.ScrollTo(r.page.Len()) })},
	}
	if r.page.Sought() == "" {
		return keys
	}
	off := ""
	if _, of := r.page.Found(); of == 0 {
		off = fmt.Sprintf("%q is not on this page", r.page.Sought())
	}
	return append(screen.Keys{
		{Name: "next match", Press: []string{"n"}, Short: "next", Help: "to the next match; Esc ends the search", Off: off, Do: screen.Then(func() { r.page.SeekNext(1) })},
		{Name: "match before", Press: []string{"N"}, Short: "before", Help: "to the match before", Off: off, Do: screen.Then(func() { r.page.SeekNext(-1) })},
	}, keys...)
}

// State implements screen.Screen. The selection is what the link under the cursor leads to; without one, the
// object that the page is about.
func (r *Reader[T]) State() screen.State {
	s := screen.State{
		Keys: r.keys(), Selection: r.config.Ref, Status: r.status(), Searches: true, Search: r.page.Sought(), CopyText: r.copyText,
	}
	if ref := screen.ParseLink(r.page.Link()); ref.Kind != screen.None {
		s.Selection = ref
	}
	if r.config.Fixes != nil {
		r.addFixes(&s)
	}
	if r.config.Keys != nil && r.answer.Known && r.answer.Err == nil {
		s.Keys = append(r.config.Keys(r.answer.Value), s.Keys...)
	}
	if r.config.Supposes != nil && r.answer.Err == nil {
		s.Suppositions = r.config.Supposes(r.answer.Value)
	}
	return s
}

// addFixes adds the key that shows the commands of one fix after the other.
func (r *Reader[T]) addFixes(s *screen.State) {
	key := screen.Key{Name: "commands", Press: []string{FixKey}, Help: "the commands of the first fix, whole, then of the next; C copies them, ^S saves them", Off: "no fix is known"}
	if r.answer.Known && r.answer.Err == nil {
		fixes := r.config.Fixes(r.answer.Value)
		key.Do = screen.Then(func() { r.ShowPart((r.part + 1) % (len(fixes) + 1)) })
		switch {
		case len(fixes) == 0:
		case r.part == 0:
			key.Short, key.Off = "commands", ""
		case r.part >= len(fixes):
			key.Short, key.Off = "all of it", ""
		default:
			key.Short, key.Off = "next fix", ""
		}
		if at := r.part - 1; at >= 0 && at < len(fixes) && len(fixes[at]) > 0 {
			s.CopyText = func() string { return strings.Join(fixes[at], "\n") }
		}
	}
	s.Keys = append(screen.Keys{key}, s.Keys...)
}

// ShowPart shows a part of the text alone, from its beginning, or, with 0, all of it.
func (r *Reader[T]) ShowPart(part int) {
	r.part, r.verbose = part, false
	r.page.ScrollTo(0)
}

// Again asks anew, since what Ask works with has changed. What is shown stays until the answer comes.
func (r *Reader[T]) Again(w *screen.World) tea.Cmd { return r.answer.Ask(w, r.config.Ask) }

// Update implements screen.Screen.
func (r *Reader[T]) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if !r.asked {
		r.asked = true
		return r.answer.Ask(w, r.config.Ask)
	}
	cmd, _ := r.answer.Update(w, msg)
	switch msg := msg.(type) {
	case screen.Search:
		r.page.Seek(msg.Text)
	case tea.MouseClickMsg:
		if r.page.Click(msg.X-1, msg.Y) { // as View indents
			return tea.Batch(cmd, r.follow())
		}
	case tea.MouseWheelMsg:
		r.page.Scroll(widget.WheelRows(msg))
	}
	return cmd
}

// follow opens the page about what the link under the cursor leads to.
func (r *Reader[T]) follow() tea.Cmd {
	ref := screen.ParseLink(r.page.Link())
	if ref.Kind == screen.None {
		return nil
	}
	return screen.Send(screen.Open{Page: screen.Detail, Ref: ref})
}

// turn shows more, unless there is no more, or less again.
func (r *Reader[T]) turn(*screen.World) tea.Cmd {
	if !r.verbose && r.answer.Known && r.answer.Err == nil {
		width := max(20, r.laidOut.layout.Width-2)
		all := r.config.Lines(r.answer.Value, Layout{Width: width, Verbose: true, Part: r.part})
		if len(all) == len(r.config.Lines(r.answer.Value, Layout{Width: width, Part: r.part})) {
			return screen.Send(screen.Say{Text: "there is no more to show: " + r.config.More, Role: styled.Dim})
		}
	}
	r.verbose = !r.verbose
	return nil
}

// lines lays the answer out.
func (r *Reader[T]) lines(w *screen.World, width int) []styled.Line {
	switch {
	case w.Snapshot == nil:
		return []styled.Line{styled.Text(styled.Dim, "waiting for the cluster")}
	case !r.answer.Known:
		return r.working(w, width)
	case r.answer.Err != nil:
		return styled.Narrow([]styled.Line{styled.Text(styled.Bad, inspect.Sanitize(r.answer.Err.Error()))}, width)
	}
	return styled.Narrow(r.config.Lines(r.answer.Value, Layout{Width: width, Verbose: r.verbose, Part: r.part}), width)
}

// working is shown until there is an answer.
func (r *Reader[T]) working(w *screen.World, width int) []styled.Line {
	lines := []styled.Line{styled.Text(styled.Dim, "one moment")}
	if r.config.Working != nil {
		if what := r.config.Working(w); what != "" {
			lines = append(lines, nil)
			lines = append(lines, styled.Wrap(styled.Text(styled.Dim, what), styled.Wrapping{Width: width, Break: true})...)
		}
	}
	return lines
}

// View implements screen.Screen.
func (r *Reader[T]) View(w *screen.World, width, height int) string {
	if now := (laidOut{r.answer.Version, Layout{Width: width, Verbose: r.verbose, Part: r.part}}); !r.answer.Known || r.answer.Err != nil || now != r.laidOut {
		r.page.SetLines(r.lines(w, max(20, width-2)))
		r.laidOut = now
	}
	lines := strings.Split(r.page.View(w.Theme, max(0, width-2), height), "\n")
	for i := range lines {
		lines[i] = w.Theme.Paint(styled.Accent, r.page.Margin(i)) + lines[i]
	}
	return strings.Join(lines, "\n")
}

// Plain implements screen.Screen.
func (r *Reader[T]) Plain(w *screen.World, width int) string {
	if width == 0 {
		width = 80
	}
	var p widget.Page
	p.SetLines(r.lines(w, width))
	return p.Plain(w.Theme)
}

// status names what the link under the cursor leads to, or says what is looked for, or how much is below.
func (r *Reader[T]) status() string {
	if ref := screen.ParseLink(r.page.Link()); ref.Kind != screen.None {
		return "→ " + styled.Cut(inspect.Sanitize(string(ref.Kind)+" "+ref.String()), 40)
	}
	if r.page.Sought() != "" {
		at, of := r.page.Found()
		if of == 0 {
			return "no match"
		}
		return fmt.Sprintf("n N: match %d of %d", at, of)
	}
	if below := r.page.More(); below > 0 {
		return words.Count(below, "more line")
	}
	return ""
}

// copyText is all of the text.
func (r *Reader[T]) copyText() string {
	if !r.answer.Known || r.answer.Err != nil {
		return inspect.Sanitize(r.config.Ref.Name)
	}
	var b strings.Builder
	for _, l := range r.config.Lines(r.answer.Value, Layout{Width: 100, Verbose: r.verbose, Copied: true, Part: r.part}) {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}
