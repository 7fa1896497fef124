package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

const (
	maxSubjects = 6 // named of one cause without Verbose
	maxPhrases  = 3 // different messages shown of one cause without Verbose
	maxFreeing  = 3 // fixes shown of one cause without Verbose
)

// TriageLines lays out a triage: how much is stuck, then cause by cause what frees most, and last what is not
// known.
func TriageLines(t *explain.Triage, opts Options) []styled.Line {
	p := newPage(&explain.Explanation{Basis: t.Basis, Partial: t.Partial}, opts)
	p.stuckHeadline(t)
	if best := BestChange(t); best != "" {
		p.Add("  ", "  ", layout.Span(styled.Good, best))
	}
	for i := range t.Causes {
		p.Blank()
		p.Lines = append(p.Lines, CauseLines(t, i, opts)...)
	}
	hasCommands := func(f explain.CauseFix) bool { return len(f.Commands) > 0 }
	if !opts.Verbose && slices.ContainsFunc(t.Causes, func(c explain.Cause) bool { return slices.ContainsFunc(c.Fixes, hasCommands) }) {
		p.Blank()
		p.Add("", "", layout.Span(styled.Dim, "The commands for these changes"+opts.Hint("shows them")))
	}
	if n := len(t.NotLookedInto); n > 0 {
		p.Blank()
		p.Add("! ", "  ", layout.Span(styled.Warn, fmt.Sprintf("%s %s not looked into, and may be stuck too: %s",
			subjectCount(t.NotLookedInto), words.Plural(n, "was", "were"), words.Shorten(fullNames(t.NotLookedInto), maxSubjects))))
	}
	if n := len(t.Depends); n > 0 {
		p.Blank()
		p.Add("! ", "  ", layout.Span(styled.Warn, fmt.Sprintf("%s may find a node or not, depending on the nodes that kube-scheduler chooses for others: %s",
			subjectCount(t.Depends), words.Shorten(fullNames(t.Depends), maxSubjects))))
	}
	for _, name := range slices.Sorted(maps.Keys(t.OtherSchedulers)) {
		waiting := t.OtherSchedulers[name]
		p.Blank()
		p.Add("! ", "  ", layout.Span(styled.Warn, fmt.Sprintf("%s %s for the scheduler %s, which is not decided about here; %s", subjectCount(waiting), words.Plural(len(waiting), "waits", "wait"), name, explain.SchedulerSeen(t.SchedulerPods[name]))))
	}
	p.footer()
	return p.Lines
}

func (p *page) stuckHeadline(t *explain.Triage) {
	sign, text := layout.Good, "nothing is stuck"
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
		sign = layout.Bad
		text = fmt.Sprintf("%s %s stuck", subjectCount(known), words.Plural(n, "is", "are"))
		if t.Node != "" {
			text += fmt.Sprintf("; node %s refuses %s", t.Node, words.Plural(n, "it", "them"))
		}
		if causes > 1 {
			text += fmt.Sprintf(", for %d different reasons", causes)
		}
	case t.Undecided() > 0 || t.Unseen || t.Unsure || len(t.Binding) > 0:
		sign, text = layout.Open, "nothing is known to be stuck"
	}
	if n := t.Undecided(); n > 0 {
		text += fmt.Sprintf("; for %d more it is not known", n)
	}
	if t.Unseen {
		text += "; not everything was read"
	}
	if n := len(t.Binding); n > 0 {
		text += fmt.Sprintf("; %s %s a node and %s there for %s volumes to be made (%s)", words.Count(n, "pod"), words.Plural(n, "has", "have"),
			words.Plural(n, "waits", "wait"), words.Plural(n, "its", "their"), words.Shorten(fullNames(t.Binding), maxSubjects))
	}
	if len(t.Ready) > 0 {
		text += "; " + readyText(t)
	}
	p.Add("", "  ", sign, layout.Span(styled.Strong, text))
}

// BestChange names the change that frees most of all that is stuck, among those that were tried. It is "" if
// no single one frees more than the others, or all that is stuck has one cause.
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
	text := words.Count(len(t.Ready), noun) + words.Plural(len(t.Ready), " waits and fits now", " wait and fit now")
	if len(t.Ready) <= maxSubjects {
		text += " (" + words.Shorten(fullNames(t.Ready), maxSubjects) + ")"
	}
	return text
}

// CauseLines lays out one of the causes of a triage, with its number.
func CauseLines(t *explain.Triage, index int, opts Options) []styled.Line {
	c := &t.Causes[index]
	p := newPage(&explain.Explanation{}, opts)
	number := fmt.Sprintf("%-3d", index+1)
	indent := strings.Repeat(" ", len(number))
	message := c.Message
	if c.Wants {
		message = subjectCount(subjectsOf(c)) + " " + message
	}
	p.Add(number, indent, layout.Span(styled.Strong, message))
	p.stuckSubjects(t, c, indent)
	for j := range c.Advice {
		a := &c.Advice[j]
		p.Add(indent+"→ ", indent+"  ", layout.Span(styled.Plain, a.Message+"; up to "+actorNames[a.Actor]))
		p.Commands(a.Commands, indent+"    ")
	}
	p.freeing(c, indent)
	p.Commands(c.Commands, indent+"  ")
	return p.Lines
}

// stuckSubjects names the subjects of a cause, by why each is stuck if that differs.
func (p *page) stuckSubjects(t *explain.Triage, c *explain.Cause, indent string) {
	var order []string
	groups := map[string][]explain.StuckSubject{}
	behind := 0
	for _, s := range c.Subjects {
		if _, known := groups[s.Message]; !known {
			order = append(order, s.Message)
		}
		groups[s.Message] = append(groups[s.Message], s)
		if s.Behind {
			behind++
		}
	}
	for _, group := range groups {
		slices.SortStableFunc(group, func(a, b explain.StuckSubject) int { return words.CompareNames(a.FullName(), b.FullName()) })
	}
	count, age := subjectCount(subjectsOf(c)), ", "
	if c.Wants { // the message counts them
		count, age = "waiting", " for "
	}
	if text := waits(c, t.At); text != "" {
		count += age + text
	}
	slices.SortStableFunc(order, func(a, b string) int { return len(groups[b]) - len(groups[a]) })
	if len(order) == 1 {
		p.Add(indent, indent, layout.Span(styled.Dim, count+": "), layout.Span(styled.Name, p.stuckNames(groups[order[0]])))
		if !c.Told {
			p.Add(indent, indent+"  ", layout.Span(styled.Plain, order[0]))
		}
	} else {
		p.Add(indent, indent, layout.Span(styled.Dim, count+":"))
		for i, message := range order {
			if i == maxPhrases && !p.Verbose {
				p.Add(indent+"  ", "", layout.Span(styled.Dim, fmt.Sprintf("and %d more%s", len(order)-i, p.Hint("shows all"))))
				break
			}
			each := " "
			switch {
			case c.Verdict == explain.Unknown:
				each = ": " // these messages are sentences of their own
			case len(groups[message]) > 1:
				each = ": each "
			}
			p.Add(indent+"  ", indent+"    ", layout.Span(styled.Name, p.stuckNames(groups[message])), layout.Span(styled.Plain, each+message))
		}
	}
	if behind > 0 {
		who := "it"
		if len(c.Subjects) > 1 {
			who = fmt.Sprintf("%d of them", behind)
		}
		p.Add(indent, indent, layout.Span(styled.Plain, fmt.Sprintf("now %s would fit, but not once those that come before in the scheduler's queue are placed", who)))
	}
}

// minOwned is the number of pods from which on their owner stands for them.
const minOwned = 3

// stuckNames names some subjects, and, without Verbose, in place of many pods what made them.
func (p *page) stuckNames(list []explain.StuckSubject) string {
	owned := map[[2]string]int{}
	for _, s := range list {
		owned[[2]string{s.Namespace, s.Owner}]++
	}
	var names []string
	for _, s := range list {
		owner := [2]string{s.Namespace, s.Owner}
		switch n := owned[owner]; {
		case p.Verbose || s.Owner == "" || n > 0 && n < minOwned:
			names = append(names, s.FullName())
		case n > 0:
			kind, name, _ := strings.Cut(s.Owner, " ")
			names = append(names, fmt.Sprintf("%d of %s %s/%s", n, kind, s.Namespace, name))
			owned[owner] = 0 // named
		}
	}
	if p.Verbose {
		return words.Shorten(names, len(names))
	}
	return words.Shorten(names, maxSubjects)
}

// freeing shows what frees subjects, and how many.
func (p *page) freeing(c *explain.Cause, indent string) {
	for i := range c.Fixes {
		f := &c.Fixes[i]
		if i == maxFreeing && !p.Verbose && !p.Screen {
			p.Add(indent+"  ", "", layout.Span(styled.Dim, moreFixes(len(c.Fixes)-i)+p.Hint("shows all")))
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
		p.Add(indent+"→ ", indent+"  ", layout.Span(styled.Good, freesText(f)), layout.Span(styled.Plain, "  "+text))
		if p.Verbose {
			p.Commands(f.Commands, indent+"    ")
			for _, r := range f.Remarks {
				p.Add(indent+"  ", indent+"  ", layout.Span(styled.Dim, r))
			}
		}
	}
	if len(c.Fixes)+len(c.Advice) == 0 && c.Verdict != explain.Unknown && c.Actor != explain.User {
		p.Add(indent, indent, layout.Span(styled.Dim, "this is up to "+actorNames[c.Actor]))
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
	return words.Each(c.Subjects, func(s explain.StuckSubject) explain.Subject { return s.Subject })
}

func fullNames(list []explain.Subject) []string { return words.Each(list, explain.Subject.FullName) }

// subjectCount counts subjects by their kind, as "2 pods and 1 claim".
func subjectCount(list []explain.Subject) string {
	var pods, claims, workloads int
	for _, s := range list {
		switch s.Kind {
		case "Pod":
			pods++
		case "Workload":
			workloads++
		default:
			claims++
		}
	}
	return words.Counts(pods, claims, workloads)
}

// waits says for how long the first of the subjects waits, and, where most began long after it, for how long
// these do.
func waits(c *explain.Cause, at time.Time) string {
	text := words.Age(c.Since, at)
	var since []time.Time
	for _, s := range c.Subjects {
		if !s.Since.IsZero() && !s.Since.After(at) {
			since = append(since, s.Since)
		}
	}
	slices.SortFunc(since, time.Time.Compare)
	late := slices.IndexFunc(since, func(t time.Time) bool { return 2*at.Sub(t) < at.Sub(c.Since) })
	if n := len(since) - late; late > 0 && 2*n > len(c.Subjects) {
		text += fmt.Sprintf(", %d of them %s or less", n, words.Age(since[late], at))
	}
	return text
}
