package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

const (
	maxSubjects = 6 // named of one cause without Verbose
	maxPhrases  = 3 // different messages shown of one cause without Verbose
	maxFreeing  = 3 // fixes shown of one cause without Verbose
)

// RenderTriage writes a triage as text.
func RenderTriage(w io.Writer, t *explain.Triage, opts Options) error {
	return Write(w, TriageLines(t, opts), opts.Color)
}

// TriageLines lays out a triage: how much is stuck, then cause by cause what frees most, and last what is not known.
func TriageLines(t *explain.Triage, opts Options) []styled.Line {
	if opts.Width == 0 {
		opts.Width = 80
	}
	p := &page{opts: opts, e: &explain.Explanation{Basis: t.Basis, Partial: t.Partial}}
	p.stuckHeadline(t)
	if best := BestChange(t); best != "" {
		p.add("  ", "  ", span(styled.Good, best))
	}
	for i := range t.Causes {
		p.blank()
		p.lines = append(p.lines, CauseLines(t, i, opts)...)
	}
	if n := len(t.NotLookedInto); n > 0 {
		p.blank()
		p.add("! ", "  ", span(styled.Warn, fmt.Sprintf("%s %s not looked into, and may be stuck too: %s",
			subjectCount(t.NotLookedInto), words.Plural(n, "was", "were"), words.Shorten(fullNames(t.NotLookedInto), maxSubjects))))
	}
	for _, name := range slices.Sorted(maps.Keys(t.OtherSchedulers)) {
		waiting := t.OtherSchedulers[name]
		p.blank()
		p.add("! ", "  ", span(styled.Warn, fmt.Sprintf("%s %s for the scheduler %s, which is not decided about here", subjectCount(waiting), words.Plural(len(waiting), "waits", "wait"), name)))
	}
	p.footer()
	return p.lines
}

func (p *page) stuckHeadline(t *explain.Triage) {
	sign, text := styled.Span{Text: "✓ ", Role: styled.Good}, "nothing is stuck"
	var known []explain.Subject
	causes := 0
	for i := range t.Causes {
		if t.Causes[i].Verdict != explain.Unknown {
			known = append(known, subjectsOf(&t.Causes[i])...)
			causes++
		}
	}
	switch n := len(known); {
	case n > 0:
		sign = styled.Span{Text: "✗ ", Role: styled.Bad}
		text = fmt.Sprintf("%s %s stuck", subjectCount(known), words.Plural(n, "is", "are"))
		if causes > 1 {
			text += fmt.Sprintf(", for %d different reasons", causes)
		}
	case t.Undecided() > 0 || t.Unseen:
		sign, text = styled.Span{Text: "? ", Role: styled.Warn}, "nothing is known to be stuck"
	}
	if n := t.Undecided(); n > 0 {
		text += fmt.Sprintf("; of %d %s it is not known", n, words.Plural(n, "other", "others"))
	}
	if t.Unseen {
		text += "; not everything could be read"
	}
	if len(t.Ready) > 0 {
		text += "; " + readyText(t)
	}
	p.add("", "  ", sign, span(styled.Strong, text))
}

// BestChange names the change that frees most of all that is stuck, among those that were tried. It is "" if no single one frees more
// than the others, or all that is stuck has one cause.
func BestChange(t *explain.Triage) string {
	i, f := t.Best()
	if f == nil || len(t.Causes) == 1 {
		return ""
	}
	return fmt.Sprintf("One change %s of them: %s (see %d)", freesText(f), f.Message, i+1)
}

// readyText names what the scheduler can place now.
func readyText(t *explain.Triage) string {
	noun := "pod"
	if t.Stuck()+t.Undecided() > 0 {
		noun = "more pod"
	}
	text := plural(len(t.Ready), noun) + words.Plural(len(t.Ready), " waits and fits now", " wait and fit now")
	if len(t.Ready) <= maxSubjects {
		text += " (" + words.Shorten(fullNames(t.Ready), maxSubjects) + ")"
	}
	return text
}

// CauseLines lays out one of the causes of a triage, with its number.
func CauseLines(t *explain.Triage, index int, opts Options) []styled.Line {
	if opts.Width == 0 {
		opts.Width = 80
	}
	c := &t.Causes[index]
	p := &page{opts: opts, e: &explain.Explanation{}}
	number := fmt.Sprintf("%-3d", index+1)
	indent := strings.Repeat(" ", len(number))
	p.add(number, indent, span(styled.Strong, c.Message))
	p.stuckSubjects(t, c, indent)
	p.freeing(c, indent)
	for _, command := range c.Commands {
		p.add(indent+"  ", indent+"    ", span(styled.Name, command))
	}
	return p.lines
}

// stuckSubjects names the subjects of a cause, by why each is stuck if that differs.
func (p *page) stuckSubjects(t *explain.Triage, c *explain.Cause, indent string) {
	var order []int
	groups := map[int][]explain.Subject{}
	messages := map[int]string{}
	behind := 0
	for _, s := range c.Subjects {
		if _, known := groups[s.Alike]; !known {
			order = append(order, s.Alike)
			messages[s.Alike] = s.Message
		}
		groups[s.Alike] = append(groups[s.Alike], s.Subject)
		if s.Behind {
			behind++
		}
	}
	age := ""
	if text := words.Age(c.Since, t.At); text != "" {
		age = ", " + text
	}
	limit := maxSubjects
	if p.opts.Verbose {
		limit = len(c.Subjects)
	}
	if len(order) == 1 {
		all := groups[order[0]]
		p.add(indent, indent, span(styled.Dim, subjectCount(all)+age+": "), span(styled.Name, words.Shorten(fullNames(all), limit)))
		if !c.Told {
			p.add(indent, indent+"  ", span(styled.Plain, messages[order[0]]))
		}
	} else {
		p.add(indent, indent, span(styled.Dim, subjectCount(subjectsOf(c))+age+":"))
		for i, alike := range order {
			if i == maxPhrases && !p.opts.Verbose {
				p.add(indent+"  ", "", span(styled.Dim, fmt.Sprintf("and %d more%s", len(order)-i, p.opts.more("shows all"))))
				break
			}
			p.add(indent+"  ", indent+"    ", span(styled.Name, words.Shorten(fullNames(groups[alike]), limit)), span(styled.Plain, " "+messages[alike]))
		}
	}
	if behind > 0 {
		who := "it"
		if len(c.Subjects) > 1 {
			who = fmt.Sprintf("%d of them", behind)
		}
		p.add(indent, indent, span(styled.Plain, fmt.Sprintf("now %s would fit, but not once those that come before in the scheduler's queue are placed", who)))
	}
}

// freeing shows what frees subjects, and how many.
func (p *page) freeing(c *explain.Cause, indent string) {
	for i := range c.Fixes {
		f := &c.Fixes[i]
		if i == maxFreeing && !p.opts.Verbose && !p.opts.Screen {
			p.add(indent+"  ", "", span(styled.Dim, moreFixes(len(c.Fixes)-i)+p.opts.more("shows all")))
			break
		}
		text := f.Message
		if actor := f.Actor(f.Of); actor != explain.User {
			text += "; up to " + actorNames[actor]
		}
		if others := elsewhere(c, f); len(others) > 0 {
			text += "; also " + words.Shorten(others, maxSubjects)
		}
		if len(f.Loses) > 0 {
			text += "; then " + words.Shorten(fullNames(f.Loses), maxSubjects) + " no longer " + words.Plural(len(f.Loses), "fits", "fit")
		}
		p.add(indent+"→ ", indent+"  ", span(styled.Good, freesText(f)), span(styled.Plain, "  "+text))
	}
	if len(c.Fixes) == 0 && c.Verdict != explain.Unknown && c.Actor != explain.User {
		p.add(indent, indent, span(styled.Dim, "this is up to "+actorNames[c.Actor]))
	}
}

// elsewhere names what a fix frees besides the subjects of its cause.
func elsewhere(c *explain.Cause, f *explain.CauseFix) []string {
	own := subjectsOf(c)
	var out []string
	for _, s := range f.Frees {
		if !slices.Contains(own, s) {
			out = append(out, s.FullName())
		}
	}
	return out
}

func freesText(f *explain.CauseFix) string {
	if f.AtLeast {
		return fmt.Sprintf("unblocks at least %d", len(f.Frees))
	}
	return fmt.Sprintf("unblocks %d", len(f.Frees))
}

func subjectsOf(c *explain.Cause) []explain.Subject {
	out := make([]explain.Subject, len(c.Subjects))
	for i, s := range c.Subjects {
		out[i] = s.Subject
	}
	return out
}

func fullNames(list []explain.Subject) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s.FullName()
	}
	return out
}

// subjectCount counts subjects by their kind, as "2 pods and 1 claim".
func subjectCount(list []explain.Subject) string {
	pods := 0
	for _, s := range list {
		if s.Kind == "Pod" {
			pods++
		}
	}
	switch claims := len(list) - pods; {
	case claims == 0:
		return words.Count(pods, "pod")
	case pods == 0:
		return words.Count(claims, "claim")
	default:
		return words.Count(pods, "pod") + " and " + words.Count(claims, "claim")
	}
}
