package diffs

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxFlips is how many flips are shown as text unless all are, and maxSubjects how many names in a line.
	maxFlips, maxSubjects = 40, 4
	// shownFields is how many fields of a changed object are named in a line.
	shownFields = 3
)

// diffPage is a comparison that is being laid out.
type diffPage struct {
	lines []styled.Line
	opts  text.Options
}

// DiffLines lays out what changed between two moments. It is safe to print.
func DiffLines(d *flip.Diff, from, to Moment, opts text.Options) []styled.Line {
	p := &diffPage{opts: opts}
	p.sentence(styled.Dim, "from  "+momentLine(from))
	p.sentence(styled.Dim, "to    "+momentLine(to))
	p.blank()
	p.sentence(styled.Strong, diffHeadline(len(d.Flips), len(d.Step.Changes), len(d.Partial)+len(d.Undecided) == 0))
	shown := d.Flips
	if !opts.Verbose {
		shown = shown[:min(len(shown), maxFlips)]
	}
	for i := range shown {
		p.flip(&shown[i])
	}
	if n := len(d.Flips) - len(shown); n > 0 {
		p.sentence(styled.Dim, fmt.Sprintf("and %d more; -v shows them all", n))
	}
	p.crowd("New", d.Made, func(f *flip.Flip) explain.Verdict { return f.After })
	p.crowd("Gone", d.Gone, func(f *flip.Flip) explain.Verdict { return f.Before })
	p.counts(d.Step.Changes, d.Counts)
	if n := len(d.Undecided); n > 0 {
		p.blank()
		p.sentence(styled.Warn, fmt.Sprintf("! %s not decided about, because too many wait: %s", words.Plural(n, "1 claim or pod was", fmt.Sprintf("%d claims and pods were", n)), words.Shorten(subjectNames(d.Undecided), maxSubjects)))
	}
	for i, text := range d.Partial {
		if i == 0 {
			p.blank()
		}
		p.sentence(styled.Warn, "! "+text)
	}
	return p.lines
}

func momentLine(m Moment) string {
	return fmt.Sprintf("%s  %s", m.Time.UTC().Format(time.RFC3339), m.Source)
}

// add adds a line, wrapped, and safe. Those that follow the first are indented by two columns more, unless it
// is a sentence.
func (p *diffPage) add(indent string, line styled.Line) { p.wrap(indent, indent+"  ", line) }

func (p *diffPage) sentence(role styled.Role, text string) { p.wrap("", "", styled.Text(role, text)) }

func (p *diffPage) wrap(first, rest string, line styled.Line) {
	safe := slices.Clone(line)
	for i := range safe {
		safe[i].Text = inspect.Sanitize(safe[i].Text)
	}
	p.lines = append(p.lines, styled.Wrap(safe, styled.Wrapping{Width: p.opts.Width, First: first, Rest: rest, Break: true})...)
}

func (p *diffPage) blank() { p.lines = append(p.lines, nil) }

// diffHeadline says in a few words what comes of a comparison. Where not everything could be read, or not
// everything was decided, it says no more than is known.
func diffHeadline(flips, changes int, certain bool) string {
	switch {
	case flips > 0:
		return words.Plural(flips, "1 claim or pod has", fmt.Sprintf("%d claims and pods have", flips)) + " another verdict, or other devices"
	case changes == 0 && certain:
		return "Nothing changed"
	case changes == 0:
		return "Nothing is known to have changed"
	case certain:
		return "No verdict flipped"
	}
	return "No verdict is known to have flipped"
}

// verdictRoles are the colours of verdicts. Others are a warning.
var verdictRoles = map[explain.Verdict]styled.Role{
	explain.Allocated: styled.Good, explain.Allocatable: styled.Good, explain.Unsatisfiable: styled.Bad, explain.Invalid: styled.Bad,
}

func verdictRole(v explain.Verdict) styled.Role {
	if role, ok := verdictRoles[v]; ok {
		return role
	}
	return styled.Warn
}

// flip tells of one subject: what held, what holds, and what did it.
func (p *diffPage) flip(f *flip.Flip) {
	line := styled.Line{{Text: kindOf(f.Subject) + " "}, {Text: f.Subject.FullName(), Role: styled.Name}, {Text: ": "}}
	if f.Before == f.After {
		line = append(line, styled.Span{Text: "moved from "}, styled.Span{Text: whereabouts(f.Had, f.From)}, styled.Span{Text: " to "}, styled.Span{Text: whereabouts(f.Has, f.To)})
	} else {
		line = append(line, styled.Span{Text: string(f.Before), Role: verdictRole(f.Before)}, styled.Span{Text: " → "}, styled.Span{Text: string(f.After), Role: verdictRole(f.After)})
		if at := whereabouts(f.Has, f.To); at != "" {
			line = append(line, styled.Span{Text: " (" + at + ")"})
		} else if had := whereabouts(f.Had, f.From); had != "" {
			line = append(line, styled.Span{Text: " (had " + had + ")"})
		}
	}
	p.add("", line)
	for _, l := range CulpritLines(&f.By, flip.Fits(f.After)) {
		p.add("    ", l)
	}
}

func whereabouts(devices []inspect.DeviceID, node inspect.NodeName) string {
	if len(devices) == 0 {
		return string(node)
	}
	return words.Shorten(output.DeviceNames(devices), maxSubjects)
}

// CulpritLines say what flipped a verdict, a line for each change. Whether undoing them is enough does not
// matter if the verdict is a yes.
func CulpritLines(c *flip.Culprits, yes bool) []styled.Line {
	if len(c.Changes) == 0 {
		return []styled.Line{styled.Text(styled.Dim, "by what was not found out: too much changed")}
	}
	var out []styled.Line
	for i := range c.Changes {
		lead := "by "
		if i > 0 {
			lead = "and "
		}
		out = append(out, append(styled.Line{{Text: lead, Role: styled.Dim}}, changeText(&c.Changes[i])...))
	}
	if !c.Undoing && !yes {
		out = append(out, styled.Text(styled.Dim, "to undo that would not be enough: something else that changed is in the way too"))
	}
	return out
}

// changeText says what became of an object.
func changeText(c *flip.Change) styled.Line {
	if c.Change == nil {
		return styled.Text(styled.Plain, "another release or features of the scheduler, or other objects that could be read")
	}
	o := c.Object()
	name := o.GetName()
	if c.Kind.Namespaced {
		name = o.GetNamespace() + "/" + name
	}
	line := styled.Line{{Text: c.Kind.Name + " "}, {Text: name, Role: styled.Name}}
	switch {
	case c.Before == nil:
		return append(line, styled.Span{Text: ", which is new"})
	case c.After == nil:
		return append(line, styled.Span{Text: ", which is gone"})
	}
	fields, more := c.Fields(shownFields)
	text := strings.Join(fields, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return append(line, styled.Span{Text: ": " + text})
}

// crowd sums up claims and pods that are only in one of the moments.
func (p *diffPage) crowd(title string, flips []flip.Flip, verdict func(*flip.Flip) explain.Verdict) {
	if len(flips) == 0 {
		return
	}
	names := map[explain.Verdict][]explain.Subject{}
	for i := range flips {
		v := verdict(&flips[i])
		names[v] = append(names[v], flips[i].Subject)
	}
	p.blank()
	p.sentence(styled.Strong, fmt.Sprintf("%s: %s", title, words.Plural(len(flips), "1 claim or pod", fmt.Sprintf("%d claims and pods", len(flips)))))
	for _, v := range []explain.Verdict{explain.Allocated, explain.Allocatable, explain.Unsatisfiable, explain.Invalid, explain.Unknown} {
		if n := len(names[v]); n > 0 {
			p.add("  ", styled.Line{{Text: string(v), Role: verdictRole(v)}, {Text: fmt.Sprintf(" %d: ", n)}, {Text: words.Shorten(subjectNames(names[v]), maxSubjects)}})
		}
	}
}

func subjectNames(subjects []explain.Subject) []string {
	return words.Each(subjects, func(s explain.Subject) string { return kindOf(s) + "/" + s.FullName() })
}

func kindOf(s explain.Subject) string {
	if s.Kind == "Pod" {
		return "pod"
	}
	return "claim"
}

// counts says in a line how many objects changed.
func (p *diffPage) counts(changes []flip.Change, counts []flip.Count) {
	if len(changes) == 0 {
		return
	}
	var parts []string
	for _, c := range counts {
		text := fmt.Sprintf("%d %s", c.Made+c.Gone+c.Changed, c.Kind.Resource)
		var of []string
		for _, n := range []struct {
			n    int
			what string
		}{{c.Made, "new"}, {c.Gone, "gone"}} {
			if n.n > 0 {
				of = append(of, fmt.Sprintf("%d %s", n.n, n.what))
			}
		}
		if len(of) > 0 {
			text += " (" + strings.Join(of, ", ") + ")"
		}
		parts = append(parts, text)
	}
	if changes[0].Change == nil {
		parts = append(parts, "the release or features of the scheduler, or what could be read")
	}
	p.blank()
	p.sentence(styled.Dim, "Changed: "+strings.Join(parts, ", "))
}
