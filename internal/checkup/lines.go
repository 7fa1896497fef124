package checkup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Layout says how a report is laid out as text.
type Layout struct {
	// Width is the number of columns that lines may take.
	Width int
	// All shows every finding and all evidence. Otherwise of many of the same code only the first are shown.
	All bool
	// More is what shows every finding: a key of a screen. If it is empty, that is the flag of the command.
	More string
	// Link, if not nil, is the link to an object, or "" if there is none; see styled.Span.
	Link func(inspect.ObjectRef) string
}

// link is the link of a finding: to the first of its objects that there is one to.
func (l *Layout) link(f *Finding) string {
	if l.Link == nil {
		return ""
	}
	for _, o := range f.Objects {
		if link := l.Link(o); link != "" {
			return link
		}
	}
	return ""
}

// maxTold is how many findings of one code are told, unless all are.
const maxTold = 5

// roles are the roles of severities.
var roles = map[Severity]styled.Role{Error: styled.Bad, Warning: styled.Warn, Note: styled.Accent}

// Lines lays a report out: code by code what it means, what has it, and what to do. It is safe to show.
func (r *Report) Lines(l Layout) []styled.Line {
	p := &page{layout: l}
	for from := 0; from < len(r.Findings); {
		to := from + 1
		for to < len(r.Findings) && r.Findings[to].Code == r.Findings[from].Code && r.Findings[to].Severity == r.Findings[from].Severity {
			to++
		}
		if from > 0 {
			p.lines = append(p.lines, nil)
		}
		p.group(r.Findings[from:to])
		from = to
	}
	if len(r.Findings) > 0 {
		p.lines = append(p.lines, nil)
	}
	if r.Unchanged != "" {
		p.text("", "", styled.Text(styled.Plain, fmt.Sprintf("Nothing changes from Kubernetes %s to %s.", r.Unchanged, r.Target)))
	}
	p.text("", "", styled.Text(styled.Strong, r.Summary()))
	p.skipped(r.Skipped)
	return p.lines
}

// Summary is the report in one line.
func (r *Report) Summary() string {
	counts := map[Severity]int{}
	for _, f := range r.Findings {
		counts[f.Severity]++
	}
	var parts []string
	for _, s := range Severities() {
		if counts[s] > 0 {
			parts = append(parts, words.Count(counts[s], string(s)))
		}
	}
	known := ""
	if r.Known > 0 {
		known = fmt.Sprintf(", besides %d of the baseline", r.Known)
	}
	if len(parts) == 0 {
		return fmt.Sprintf("Nothing found by %s%s.", words.Count(r.Asked, "check"), known)
	}
	return fmt.Sprintf("%s found by %s%s.", words.And(parts), words.Count(r.Asked, "check"), known)
}

// page collects lines.
type page struct {
	layout Layout
	lines  []styled.Line
}

// text adds a text, broken into lines. Quotes of the cluster are made safe.
func (p *page) text(first, rest string, line styled.Line) {
	for i := range line {
		line[i].Text = collapse(inspect.Sanitize(line[i].Text))
	}
	p.lines = append(p.lines, styled.Wrap(line, styled.Wrapping{Width: p.layout.Width, First: first, Rest: rest})...)
}

// collapse makes one blank of every run of white space.
func collapse(s string) string {
	text := strings.Join(strings.Fields(s), " ")
	if strings.HasPrefix(s, " ") {
		text = " " + text
	}
	if strings.HasSuffix(s, " ") && text != " " {
		text += " "
	}
	return text
}

// group lays out the findings of one code.
func (p *page) group(findings []*Finding) {
	first := findings[0]
	p.text("", "  ", styled.Line{
		{Text: string(first.Severity) + " ", Role: roles[first.Severity]}, {Text: string(first.Code) + ": ", Role: styled.Strong}, {Text: first.rule.About},
	})
	for i, f := range findings {
		if i == maxTold && !p.layout.All && len(findings) > maxTold+1 {
			p.text("  ", "    ", styled.Text(styled.Dim, fmt.Sprintf("and %d more (%s shows all)", len(findings)-i, cmp.Or(p.layout.More, "-v"))))
			break
		}
		p.text("  ", "    ", styled.Line{{Text: f.Subject, Role: styled.Name, Link: p.layout.link(f)}, {Text: ": "}, {Text: f.Detail}})
		if p.layout.All {
			for _, e := range f.Evidence {
				p.text("    ", "    ", styled.Text(styled.Dim, e))
			}
		}
		if f.Remedy != first.rule.Remedy {
			p.text("    → ", "      ", styled.Text(styled.Plain, f.Remedy))
		}
	}
	if slices.ContainsFunc(findings, func(f *Finding) bool { return f.Remedy == first.rule.Remedy }) {
		p.text("  → ", "    ", styled.Text(styled.Plain, first.rule.Remedy))
	}
}

// skipped says what could not be looked for, those with the same reason together.
func (p *page) skipped(skipped []Skipped) {
	var order []string
	by := map[string][]string{}
	for _, s := range skipped {
		if by[s.Why] == nil {
			order = append(order, s.Why)
		}
		by[s.Why] = append(by[s.Why], string(s.Code))
	}
	for _, why := range order {
		p.text("! ", "  ", styled.Text(styled.Warn, fmt.Sprintf("Not wholly decided, since %s: %s", why, strings.Join(by[why], ", "))))
	}
}
