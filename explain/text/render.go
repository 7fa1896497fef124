package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
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

// more tells how what is left out can be seen, in brackets.
func (o Options) more(shows string) string {
	switch {
	case !o.Screen:
		return " (-v " + shows + ")"
	case o.More == "":
		return ""
	}
	return " (" + o.More + " " + shows + ")"
}

// Render writes an explanation as text.
func Render(w io.Writer, e *explain.Explanation, opts Options) error {
	return Write(w, Lines(e, opts), opts.Color)
}

// Lines lays out an explanation: the answer first, then why, then what it waits for, and last on what
// the answer is based.
func Lines(e *explain.Explanation, opts Options) []styled.Line {
	p := newPage(e, opts)
	p.headline()
	p.turn()
	p.queue()
	p.joint()
	p.workload()
	p.admission()
	p.allocation()
	p.problems()
	p.containers()
	p.conflict()
	p.failure()
	p.search()
	if p.preemptionHelps() {
		p.preemption() // before anybody does by hand what the scheduler is about to do
	}
	p.advice()
	p.fixes()
	switch {
	case e.Volume != nil:
		p.volume()
	case opts.Verbose:
		p.groups()
	case e.Conflict != nil || len(e.Fixes) > 0:
		p.summary("Nodes")
	case e.Verdict == explain.Allocatable:
		p.summary("Not on")
	default:
		p.groups()
	}
	if !p.preemptionHelps() {
		p.preemption()
	}
	p.notes(waitsHeading(e.Verdict), e.Waits)
	p.notes("The scheduler's own message", e.Scheduler)
	p.events()
	p.footer()
	return p.lines
}

// page collects lines.
type page struct {
	opts  Options
	e     *explain.Explanation
	lines []styled.Line
}

// newPage returns an empty page about an explanation, or about what has the same basis.
func newPage(e *explain.Explanation, opts Options) *page {
	if opts.Width == 0 {
		opts.Width = 80
	}
	return &page{opts: opts, e: e}
}

// limit is how many of n are shown: all of them with Verbose.
func (p *page) limit(most, n int) int {
	if p.opts.Verbose {
		return n
	}
	return min(most, n)
}

// heading begins a part of the page.
func (p *page) heading(heading string, spans ...styled.Span) {
	p.blank()
	p.add("", "  ", append([]styled.Span{{Text: heading, Role: styled.Strong}}, spans...)...)
}

// title begins a part of a plan, which need not have one.
func (p *page) title(title string) {
	p.blank()
	if title != "" {
		p.add("", "", span(styled.Title, title))
	}
}

// doubts says what is not certain.
func (p *page) doubts(doubts []string) {
	for _, doubt := range doubts {
		p.add("! ", "  ", span(styled.Warn, doubt))
	}
}

// widest is the width of the widest of some texts, but not more than most.
func widest[T any](list []T, most int, text func(*T) string) int {
	width := 0
	for i := range list {
		width = max(width, styled.Width(inspect.Sanitize(text(&list[i]))))
	}
	return min(width, most)
}

func (p *page) blank() {
	if len(p.lines) > 0 && len(p.lines[len(p.lines)-1]) > 0 {
		p.lines = append(p.lines, styled.Line{})
	}
}

func (p *page) add(first, rest string, spans ...styled.Span) {
	p.lines = append(p.lines, styled.Wrap(spans, styled.Wrapping{Width: p.opts.Width, First: first, Rest: rest, Break: p.opts.Screen})...)
}

func (p *page) headline() {
	sign, role := signOf(p.e)
	p.add("", "  ", styled.Span{Text: sign + " ", Role: role}, span(styled.Strong, p.e.Message))
}

// Headline is the sign of an answer, its verdict and its message.
func Headline(e *explain.Explanation) string {
	sign, _ := signOf(e)
	return sign + " " + string(e.Verdict) + ": " + e.Message
}

// signOf is the sign of an answer: yes, no, not quite or not known.
func signOf(e *explain.Explanation) (sign string, role styled.Role) {
	switch l := e.Lifecycle; {
	case l != nil && l.Outcome == explain.Failing, e.Verdict == explain.Invalid:
		return "✗", styled.Bad
	case e.Verdict == explain.Unsatisfiable && e.Queue != nil && e.Queue.Verdict == explain.Unknown: // what kube-scheduler does next may help
		return "?", styled.Warn
	case e.Verdict == explain.Unsatisfiable:
		return "✗", styled.Bad
	case e.Verdict == explain.Allocated && l != nil && l.Outcome == explain.Waiting:
		return "!", styled.Warn
	case e.Queue != nil && (e.Queue.Verdict == explain.Unsatisfiable || e.Queue.Verdict == explain.Invalid):
		return "✗", styled.Bad
	case e.Queue != nil && e.Queue.Verdict != explain.Allocatable && e.Queue.Verdict != explain.Allocated:
		return "?", styled.Warn
	case e.Verdict == explain.Allocated, e.Verdict == explain.Allocatable:
		return "✓", styled.Good
	}
	return "?", styled.Warn
}

// workload says which pod was asked about, if it is one of an object that has several.
func (p *page) workload() {
	w := p.e.Workload
	if w == nil {
		return
	}
	of := w.Kind + " " + w.Name + " (" + w.Path + ")"
	var text string
	switch {
	case w.EachNode:
		text = "one pod of " + of + ", which wants one on each node"
	case w.Pods == nil:
		text = "one pod of " + of + ", which does not say how many it wants"
	case *w.Pods == 0:
		text = "one pod of " + of + ", which wants none at present"
	case *w.Pods == 1:
		text = "the pod of " + of
	default:
		text = fmt.Sprintf("one pod of %d of %s, asked about alone", *w.Pods, of)
	}
	if p.e.Admission != nil && w.Kind != "Deployment" { // which is about all
		text = strings.TrimSuffix(text, ", asked about alone")
	}
	p.add("  ", "  ", span(styled.Dim, text))
}

func (p *page) allocation() {
	a := p.e.Allocation
	if a == nil || len(a.Devices) == 0 {
		return
	}
	p.blank()
	p.add("", "  ", span(styled.Strong, devicesHeading(p.e)))
	claims := map[inspect.ClaimRef]bool{}
	for _, d := range a.Devices {
		claims[d.Claim] = true
	}
	names := make([]string, len(a.Devices))
	width := 0
	for i, d := range a.Devices {
		names[i] = d.Request
		if len(claims) > 1 {
			names[i] = d.Claim.Name + ": " + d.Request
		}
		names[i] = inspect.Sanitize(names[i])
		width = max(width, styled.Width(names[i]))
	}
	for i, d := range a.Devices {
		first := "  " + styled.Pad(names[i], width) + "  "
		spans := []styled.Span{span(styled.Name, d.ID.String())}
		if d.Admin {
			spans = append(spans, styled.Span{Text: " (admin access)"})
		}
		if len(d.Consumed) > 0 {
			spans = append(spans, span(styled.Plain, " takes "+amounts(d)))
		}
		p.add(first, strings.Repeat(" ", styled.Width(first)), spans...)
		for _, report := range p.reports(&a.Devices[i]) {
			indent := strings.Repeat(" ", styled.Width(first)+2)
			p.add(indent, indent+"  ", span(styled.Dim, report))
		}
	}
}

func devicesHeading(e *explain.Explanation) string {
	switch a := e.Allocation; {
	case e.Verdict != explain.Allocated && a.Node != "":
		return "On node " + string(a.Node) + " the scheduler would pick"
	case e.Verdict != explain.Allocated:
		return "The scheduler would pick"
	}
	return "Devices"
}

// search warns of a search that the scheduler may not end in time.
func (p *page) search() {
	s := p.e.Search
	if s == nil || s.Risk == explain.NoTimeout {
		return
	}
	p.heading("Timeout", span(styled.Warn, "  "+s.Message))
}

// preemptionHelps reports whether the scheduler ends other pods.
func (p *page) preemptionHelps() bool {
	e := p.e.Preemption
	return e != nil && (e.Outcome == explain.PreemptionPossible || e.Outcome == explain.PreemptionUnderway)
}

// preemption says whether the scheduler would end other pods.
func (p *page) preemption() {
	if p.e.Preemption == nil {
		return
	}
	p.heading("Preemption", span(styled.Plain, "  "+p.e.Preemption.Message))
}

func amounts(d explain.Device) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(d.Consumed)) {
		q := d.Consumed[name]
		parts = append(parts, q.String()+" of "+string(name))
	}
	return strings.Join(parts, ", ")
}

func waitsHeading(v explain.Verdict) string {
	switch v {
	case explain.Allocated:
		return "About it"
	case explain.Allocatable:
		return "It waits for"
	}
	return "Besides"
}

func (p *page) notes(heading string, notes []explain.Note) {
	if no := p.e.Verdict == explain.Unsatisfiable || p.e.Verdict == explain.Invalid; no && !p.opts.Verbose {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n explain.Note) bool { return n.Aside })
	}
	if len(notes) == 0 {
		return
	}
	p.heading(heading)
	for _, n := range notes {
		what := strings.ToLower(n.Kind) + " " + n.Name
		if n.Namespace != p.e.Subject.Namespace {
			what = strings.ToLower(n.Kind) + " " + n.Namespace + "/" + n.Name
		}
		if n.Kind == p.e.Subject.Kind && n.Name == p.e.Subject.Name && n.Namespace == p.e.Subject.Namespace {
			p.add("  ", "  ", span(styled.Plain, p.said(&n)))
			continue
		}
		p.add("  ", "    ", span(styled.Name, what), span(styled.Plain, ": "+p.said(&n)))
	}
}

// said is what a note says, without what is of interest only to those who ask for everything.
func (p *page) said(n *explain.Note) string {
	if p.opts.Verbose || n.Brief == "" {
		return n.Message
	}
	return n.Brief
}

func (p *page) footer() {
	if len(p.e.Partial) > 0 {
		p.blank()
	}
	p.doubts(p.e.Partial)
	p.blank()
	b := p.e.Basis
	basis := fmt.Sprintf("Decided as kube-scheduler %s does (%s allocator; %s).", b.Version, b.Variant, b.Source)
	if p.e.Verdict == explain.Allocated || b.Usual && !p.opts.Verbose {
		basis = ""
	}
	if basis != "" {
		p.add("", "", span(styled.Dim, basis))
	}
	if !b.AsOf.IsZero() {
		p.add("", "", span(styled.Dim, "As of "+b.AsOf.UTC().Format(time.RFC3339)+"."))
	}
	for _, r := range b.Remarks {
		p.add("", "", span(styled.Dim, "Note: "+r+"."))
	}
	for len(p.lines) > 0 && len(p.lines[len(p.lines)-1]) == 0 {
		p.lines = p.lines[:len(p.lines)-1]
	}
}
