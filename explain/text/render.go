package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Options say how much to show, and where.
type Options = layout.Options

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
	return p.Lines
}

// page is a page about an explanation.
type page struct {
	layout.Page
	e *explain.Explanation
}

// newPage returns an empty page about an explanation, or about what has the same basis.
func newPage(e *explain.Explanation, opts Options) *page { return &page{layout.NewPage(opts), e} }

func (p *page) headline() {
	sign, role := signOf(p.e)
	p.Add("", "  ", styled.Span{Text: sign + " ", Role: role}, layout.Span(styled.Strong, p.e.Message))
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
	p.Add("  ", "  ", layout.Span(styled.Dim, text))
}

func (p *page) allocation() {
	a := p.e.Allocation
	if a == nil || len(a.Devices) == 0 {
		return
	}
	p.Blank()
	p.Add("", "  ", layout.Span(styled.Strong, devicesHeading(p.e)))
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
		spans := []styled.Span{layout.Span(styled.Name, d.ID.String())}
		if d.Admin {
			spans = append(spans, styled.Span{Text: " (admin access)"})
		}
		if len(d.Consumed) > 0 {
			spans = append(spans, layout.Span(styled.Plain, " takes "+amounts(d)))
		}
		p.Add(first, strings.Repeat(" ", styled.Width(first)), spans...)
		for _, report := range p.reports(&a.Devices[i]) {
			indent := strings.Repeat(" ", styled.Width(first)+2)
			p.Add(indent, indent+"  ", layout.Span(styled.Dim, report))
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
	p.Heading("Timeout", layout.Span(styled.Warn, "  "+s.Message))
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
	p.Heading("Preemption", layout.Span(styled.Plain, "  "+p.e.Preemption.Message))
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

// notes shows notes, without those of which only who asks for everything wants to know where the answer is
// no.
func (p *page) notes(heading string, notes []explain.Note) {
	if no := p.e.Verdict == explain.Unsatisfiable || p.e.Verdict == explain.Invalid; no && !p.Verbose {
		notes = slices.DeleteFunc(slices.Clone(notes), func(n explain.Note) bool { return n.Aside })
	}
	p.Notes(heading, notes, p.e.Subject)
}

func (p *page) footer() { p.Footer(p.e.Partial, p.e.Basis, p.e.Verdict != explain.Allocated) }
