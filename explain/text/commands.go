package text

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// FixLines lays out one fix of an explanation.
func FixLines(e *explain.Explanation, i int, opts Options) []styled.Line {
	p := newPage(e, opts)
	f := &e.Fixes[i]
	spans := []styled.Span{
		{Text: fmt.Sprintf("Fix %d of %d", i+1, len(e.Fixes)), Role: styled.Strong},
		layout.Span(styled.Plain, " for "+e.Subject.FullName()+", up to "+actorsText(f.Actors(e.Subject))+": "+f.Message),
	}
	if where := fixWhere(f); where != "" {
		spans = append(spans, layout.Span(styled.Good, " → "+where))
	}
	p.Add("", "  ", spans...)
	for j := range f.OtherBlockers {
		p.beside(&f.OtherBlockers[j])
	}
	p.carriedOut(f)
	return p.Lines
}

// CauseFixLines lays out one fix of a cause.
func CauseFixLines(c *explain.Cause, i int, opts Options) []styled.Line {
	f := &c.Fixes[i]
	p := newPage(&explain.Explanation{Subject: f.Of}, opts)
	message := f.Message
	if len(f.Loses) > 0 {
		message += "; then " + words.Shorten(fullNames(f.Loses), maxSubjects) + " no longer " + words.Plural(len(f.Loses), "fits", "fit")
	}
	p.Add("", "  ", styled.Span{Text: fmt.Sprintf("Fix %d of %d", i+1, len(c.Fixes)), Role: styled.Strong},
		layout.Span(styled.Plain, ", up to "+actorsText(f.Actors(f.Of))+": "+message+" → "), layout.Span(styled.Good, freesText(f)))
	p.carriedOut(&f.Fix)
	return p.Lines
}

// carriedOut shows what a fix changes, and the commands.
func (p *page) carriedOut(f *explain.Fix) {
	p.changes(f.Changes)
	p.Blank()
	if len(f.Commands) == 0 {
		p.Add("", "  ", styled.Span{Text: "Commands", Role: styled.Strong}, styled.Span{Text: "  none"})
	} else {
		p.Add("", "  ", styled.Span{Text: "Commands", Role: styled.Strong})
	}
	p.Commands(f.Commands, "    ")
	for _, r := range f.Remarks {
		p.Add("  ", "  ", layout.Span(styled.Dim, r))
	}
}

// changes shows what becomes of objects.
func (p *page) changes(changes []explain.ObjectChange) {
	for _, c := range changes {
		name := c.Name
		if c.Namespace != "" {
			name = c.Namespace + "/" + name
		}
		p.Blank()
		p.Add("", "  ", styled.Span{Text: "Change", Role: styled.Strong}, layout.Span(styled.Plain, "  "+changeVerb(c)+c.Kind+" "), layout.Span(styled.Name, name))
		for _, op := range c.Patch {
			spans := []styled.Span{layout.Span(styled.Plain, op.Op+" "), layout.Span(styled.Dim, op.Path)}
			if op.Op != "remove" {
				spans = append(spans, layout.Span(styled.Plain, " "+valueText(op.Value)))
			}
			p.Add("    ", "      ", spans...)
		}
	}
}

func changeVerb(c explain.ObjectChange) string {
	if c.Creates {
		return "create "
	}
	return ""
}

// valueText is a value of a patch, in JSON.
func valueText(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Sprint(value)
	}
	return strings.TrimSpace(b.String())
}

// howTo shows how a fix of the list is carried out: with Verbose all commands, else the first one of the
// first fix that has any.
func (p *page) howTo(i int) {
	f := &p.e.Fixes[i]
	first := slices.IndexFunc(p.e.Fixes, func(f explain.Fix) bool { return len(f.Commands) > 0 })
	switch {
	case p.Verbose:
		p.Commands(f.Commands, "       ")
	case i != first:
		return
	default:
		p.Commands(f.Commands[:1], "       ")
		if len(f.Commands) > 1 {
			rest := "; --fix shows all"
			if p.Screen {
				rest = p.Hint("shows all")
			}
			p.Add("     ", "     ", styled.Span{Text: "then " + words.Count(len(f.Commands)-1, "more command") + rest, Role: styled.Dim})
		}
	}
	for _, r := range f.Remarks {
		p.Add("     ", "     ", layout.Span(styled.Dim, r))
	}
}
