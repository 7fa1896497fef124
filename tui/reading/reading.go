package reading

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
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
	// Supposes are the changes that the text is about. It is nil where the text is about what is. As long as there is no value it
	// gets the zero value.
	Supposes func(value T) []screen.Change
	// Working says what is being worked out, as long as nothing is known. If it is nil, or says nothing, that is not worth saying.
	Working func(w *screen.World) string
	// More says in a few words what a verbose layout adds. If it is empty, there is no verbose layout.
	More string
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

// MoreKey is the key that lays out everything.
const MoreKey = "v"

// Reader is a screen of text. It implements screen.Screen.
type Reader[T any] struct {
	config  Config[T]
	answer  screen.Answer[T]
	page    widget.Page
	verbose bool
	part    int
	asked   bool
	laidOut laidOut
	// layouts lays out everything, in the background: of a large cluster that is more than a key may wait for. ready is the newest.
	layouts screen.Job[layOut]
	ready   layOut
}

// layOut is lines, and what they were made from.
type layOut struct {
	of    laidOut
	lines []styled.Line
	// all says that a verbose layout has nothing that a brief one has not.
	all bool
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

// The actions of a Reader.
const (
	more     keymap.Action = "verbose"
	up       keymap.Action = "up"
	down     keymap.Action = "down"
	pageUp   keymap.Action = "page up"
	pageDown keymap.Action = "page down"
	halfUp   keymap.Action = "half a page up"
	halfDown keymap.Action = "half a page down"
	follow   keymap.Action = "follow"
	leave    keymap.Action = "leave"
	first    keymap.Action = "first"
	last     keymap.Action = "last"
	next     keymap.Action = "next match"
	before   keymap.Action = "match before"
)

// leaveKey leaves a page.
func (r *Reader[T]) leaveKey() keymap.Key {
	k := keymap.Key{Action: leave, Press: []string{"left", "h"}, Show: "← h", Help: "back, as Esc does"}
	if r.config.View {
		k.Off = "this is a view, and no page to go back from"
	}
	return k
}

// Keys implements screen.Screen.
func (r *Reader[T]) Keys() keymap.Map {
	verbose := keymap.Key{Action: more, Press: []string{MoreKey}, Short: "verbose", Help: "show more: " + r.config.More}
	if r.verbose {
		verbose.Short, verbose.Help = "brief", "show less again"
	}
	if r.config.More == "" {
		verbose.Short, verbose.Help, verbose.Off = "", "show more", "all is shown"
	}
	return append(r.searchKeys(), keymap.Map{
		verbose,
		{Action: up, Press: []string{"up", "k"}, Show: "↑ k", Help: "to the link before, or a line up"},
		{Action: down, Press: []string{"down", "j"}, Show: "↓", Short: r.linkShort(), Help: "to the next link, which Enter follows, or a line down (also j)"},
		{Action: follow, Press: []string{"right", "l"}, Show: "→ l", Help: "follow the link under the cursor, as Enter does", Off: r.followOff()},
		r.leaveKey(),
		{Action: pageUp, Press: []string{"pgup", "ctrl+b"}, Show: "PgUp", Help: "one page up"},
		{Action: pageDown, Press: []string{"pgdown", "ctrl+f", "space"}, Show: "PgDn", Help: "one page down"},
		{Action: halfUp, Press: []string{"ctrl+u"}, Show: "^U", Help: "half a page up"},
		{Action: halfDown, Press: []string{"ctrl+d"}, Show: "^D", Help: "half a page down"},
		{Action: first, Press: []string{"home", "g"}, Show: "Home g", Help: "to the beginning"},
		{Action: last, Press: []string{"end", "G"}, Show: "End G", Help: "to the end"},
	}...)
}

// searchKeys are the keys that work while text is looked for.
func (r *Reader[T]) searchKeys() keymap.Map {
	if r.page.Sought() == "" {
		return nil
	}
	off := ""
	if _, of := r.page.Found(); of == 0 {
		off = fmt.Sprintf("%q is not on this page", r.page.Sought())
	}
	return keymap.Map{
		{Action: next, Press: []string{"n"}, Short: "next", Help: "to the next match; Esc ends the search", Off: off},
		{Action: before, Press: []string{"N"}, Short: "before", Help: "to the match before", Off: off},
	}
}

// Suppositions implements screen.Supposer.
func (r *Reader[T]) Suppositions() []screen.Change {
	if r.config.Supposes == nil || r.answer.Err != nil {
		return nil
	}
	return r.config.Supposes(r.answer.Value)
}

// Known is what the text is made of. ok is false as long as that is not known.
func (r *Reader[T]) Known() (value T, ok bool) {
	return r.answer.Value, r.answer.Known && r.answer.Err == nil
}

// Part is which part of the text is shown alone, or 0.
func (r *Reader[T]) Part() int { return r.part }

// ShowPart shows a part of the text alone, from its beginning, or, with 0, all of it.
func (r *Reader[T]) ShowPart(part int) {
	r.layouts.Stop()
	r.part, r.verbose = part, false
	r.page.ScrollTo(0)
}

// SearchText implements screen.Searcher.
func (r *Reader[T]) SearchText() string { return r.page.Sought() }

// Again asks anew, since what Ask works with has changed. What is shown stays until the answer comes.
func (r *Reader[T]) Again(w *screen.World) tea.Cmd { return r.answer.Ask(w, r.config.Ask) }

// Update implements screen.Screen.
func (r *Reader[T]) Update(w *screen.World, msg tea.Msg) tea.Cmd {
	if !r.asked {
		r.asked = true
		return r.answer.Ask(w, r.config.Ask)
	}
	if result, ok := r.layouts.Take(msg); ok {
		return r.takeAll(result)
	}
	cmd, news := r.answer.Update(w, msg)
	if news && r.verbose && r.answer.Err == nil {
		return tea.Batch(cmd, r.layAll(w))
	}
	switch msg := msg.(type) {
	case screen.Search:
		r.page.Seek(msg.Text)
	case tea.KeyPressMsg:
		return tea.Batch(cmd, r.press(w, msg))
	case tea.MouseClickMsg:
		if r.page.Click(msg.X-1, msg.Y) { // as View indents
			return tea.Batch(cmd, r.follow())
		}
	case tea.MouseWheelMsg:
		switch msg.Button {
		case tea.MouseWheelUp:
			r.page.Scroll(-3)
		case tea.MouseWheelDown:
			r.page.Scroll(3)
		}
	}
	return cmd
}

// linkShort tells of links in the status line, where there are any.
func (r *Reader[T]) linkShort() string {
	if r.page.HasLinks() {
		return "links"
	}
	return ""
}

func (r *Reader[T]) followOff() string {
	if r.page.Link() == "" {
		return "↓ goes to the next link first"
	}
	return ""
}

// follow opens the page about what the link under the cursor leads to.
func (r *Reader[T]) follow() tea.Cmd {
	ref := screen.ParseLink(r.page.Link())
	if ref.Kind == screen.None {
		return nil
	}
	return screen.Send(screen.Open{Page: screen.Detail, Ref: ref})
}

// turn shows more as soon as that is laid out, or less again.
func (r *Reader[T]) turn(w *screen.World) tea.Cmd {
	if r.layouts.Running() && !r.verbose {
		r.layouts.Stop()
		return nil
	}
	if r.verbose || !r.answer.Known || r.answer.Err != nil {
		r.layouts.Stop()
		r.verbose = !r.verbose
		return nil
	}
	return r.layAll(w)
}

// layAll begins to lay out everything, as wide as was drawn last.
func (r *Reader[T]) layAll(w *screen.World) tea.Cmd {
	value, lay, of := r.answer.Value, r.config.Lines, laidOut{r.answer.Version, Layout{Width: r.laidOut.layout.Width, Verbose: true, Part: r.part}}
	return r.layouts.Start(w, func(context.Context) (layOut, error) {
		inner := max(20, of.layout.Width-2)
		lines := lay(value, Layout{Width: inner, Verbose: true, Part: of.layout.Part})
		return layOut{of, styled.Narrow(lines, inner), len(lines) == len(lay(value, Layout{Width: inner, Part: of.layout.Part}))}, nil
	})
}

// takeAll shows everything, now that it is laid out, unless that is no more than what is shown.
func (r *Reader[T]) takeAll(result screen.Result[layOut]) tea.Cmd {
	if result.Err != nil {
		return nil
	}
	if !r.verbose && result.Value.all {
		return screen.Send(screen.Say{Text: "there is no more to show: " + r.config.More, Role: styled.Dim})
	}
	r.verbose, r.ready = true, result.Value
	return nil
}

func (r *Reader[T]) press(w *screen.World, k tea.KeyPressMsg) tea.Cmd {
	switch r.Keys().Action(k.String()) {
	case more:
		return r.turn(w)
	case next:
		r.page.SeekNext(1)
	case before:
		r.page.SeekNext(-1)
	case up:
		r.page.Step(-1)
	case down:
		r.page.Step(1)
	case follow:
		return r.follow()
	case leave:
		return screen.Send(screen.Back{})
	case halfUp:
		r.page.Scroll(-r.page.Height() / 2)
	case halfDown:
		r.page.Scroll(r.page.Height() / 2)
	case pageUp:
		r.page.Scroll(1 - r.page.Height())
	case pageDown:
		r.page.Scroll(r.page.Height() - 1)
	case first:
		r.page.ScrollTo(0)
	case last:
		r.page.ScrollTo(r.page.Len())
	}
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
			for _, line := range styled.WrapText(what, width) {
				lines = append(lines, styled.Text(styled.Dim, line))
			}
		}
	}
	return lines
}

// View implements screen.Screen.
func (r *Reader[T]) View(w *screen.World, width, height int) string {
	now := laidOut{r.answer.Version, Layout{Width: width, Verbose: r.verbose, Part: r.part}}
	switch {
	case r.answer.Known && r.answer.Err == nil && now == r.laidOut:
	case r.verbose && now == r.ready.of:
		r.page.SetLines(r.ready.lines)
		r.laidOut = now
	case r.verbose && r.layouts.Running() && now.layout == r.laidOut.layout: // what was known before stands until the new is laid out
	default:
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

// Selection is what the link under the cursor leads to; without one, the object that the page is about.
func (r *Reader[T]) Selection() screen.Ref {
	if ref := screen.ParseLink(r.page.Link()); ref.Kind != screen.None {
		return ref
	}
	return r.config.Ref
}

// Status implements screen.Screen.
func (r *Reader[T]) Status() string {
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
	switch below := r.page.More(); below {
	case 0:
		return ""
	case 1:
		return "1 more line"
	default:
		return fmt.Sprintf("%d more lines", below)
	}
}

// CopyText is all of the text.
func (r *Reader[T]) CopyText() string {
	if !r.answer.Known || r.answer.Err != nil {
		return inspect.Sanitize(r.config.Ref.Name)
	}
	var b strings.Builder
	for _, l := range r.config.Lines(r.answer.Value, Layout{Width: 100, Verbose: r.verbose, Copied: true, Part: r.part}) {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}
