package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxProblems = 3 // shown without Verbose
	maxEvents   = 5
	maxSaid     = 400 // bytes of what others say
)

// problems shows what keeps the pod from running, who can do something about it, and where to look.
func (p *page) problems() {
	l := p.e.Lifecycle
	if l == nil || len(l.Problems) == 0 {
		return
	}
	p.Heading(p.problemsHeading(l))
	limit := p.Limit(maxProblems, len(l.Problems))
	for i := range l.Problems[:limit] {
		p.problem(&l.Problems[i])
	}
	if more := len(l.Problems) - limit; more > 0 {
		p.Add("  ", "  ", styled.Span{Text: fmt.Sprintf("and %s%s", words.Count(more, "more problem"), p.Hint("shows all")), Role: styled.Dim})
	}
}

func (p *page) problemsHeading(l *explain.Lifecycle) string {
	switch {
	case len(l.Failing()) == 0:
		return "It waits for"
	case len(l.Pods) == 1 && l.Pods[0].Stage == explain.Starting && p.e.Subject.Kind == "Pod":
		return "Why it does not run"
	}
	return "What is wrong"
}

func (p *page) problem(pr *explain.Problem) {
	message := pr.Message
	if pr.Object.Kind == "Pod" && pr.Object != p.e.Subject && pr.Code != explain.DriverMissing && pr.Code != explain.Evicting {
		message = "pod " + pr.Object.Name + ": " + message
	}
	p.Add("  ", "    ", layout.Span(styled.Plain, message))
	if pr.Said != "" {
		p.Add("    ", "      ", layout.Span(styled.Warn, p.short(pr.Said)))
	}
	p.Add("    ", "      ", layout.Span(styled.Dim, "Who acts: "+who(pr)))
	p.Commands(pr.Commands, "      ")
}

// who is the person who can do something about a problem.
func who(p *explain.Problem) string {
	if p.Actor == explain.DriverAdmin && p.Driver != "" {
		return actorNames[p.Actor] + " (" + p.Driver + ")"
	}
	return cmp.Or(actorNames[p.Actor], "you")
}

// short is what others say, on one line.
func (p *page) short(said string) string {
	said = words.OneLine(said)
	if p.Verbose {
		return said
	}
	return inspect.SanitizeShort(said, maxSaid)
}

// reports returns what is reported of an allocated device, to be shown below it.
func (p *page) reports(d *explain.Device) []string {
	if p.e.Lifecycle == nil {
		return nil
	}
	var out []string
	for i := range p.e.Lifecycle.Devices {
		state := &p.e.Lifecycle.Devices[i]
		if state.ID != d.ID || state.Claim != d.Claim {
			continue
		}
		if n := state.Network; n != nil {
			parts := slices.Concat([]string{n.Interface}, n.Addresses, []string{n.Hardware})
			out = append(out, "network: "+strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", "))
		}
		for _, c := range state.Conditions {
			text := c.Type + " is " + string(c.Status)
			if why := strings.TrimPrefix(joinNonEmpty(": ", c.Reason, c.Message), ": "); why != "" && (c.Status != "True" || p.Verbose) {
				text += " (" + p.short(why) + ")"
			}
			out = append(out, text)
		}
		switch state.Health {
		case explain.Healthy:
			out = append(out, "healthy")
		case explain.Unhealthy:
			out = append(out, joinNonEmpty(": ", "unhealthy", p.short(state.HealthSaid)))
		}
	}
	return out
}

func joinNonEmpty(with string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), with)
}

// containers shows the containers of the pod that do not run, unless that is shown as a problem, or they are
// just being made.
func (p *page) containers() {
	l := p.e.Lifecycle
	if l == nil || p.e.Subject.Kind != "Pod" {
		return
	}
	var shown []explain.Container
	for _, c := range l.Containers {
		told := slices.ContainsFunc(l.Problems, func(q explain.Problem) bool { return q.Container == c.Name && q.Object.Name == c.Pod.Name })
		if p.Verbose || !told && c.Exit != nil && c.Stage != explain.ContainerRunning {
			shown = append(shown, c)
		}
	}
	if len(shown) == 0 {
		return
	}
	p.Heading("Containers")
	for _, c := range shown {
		text := strings.ToLower(string(c.Stage))
		if c.Reason != "" {
			text += ", " + c.Reason
		}
		if c.Restarts > 0 {
			text += ", " + words.Count(c.Restarts, "restart")
		}
		p.Add("  ", "    ", layout.Span(styled.Name, c.Name), layout.Span(styled.Plain, ": "+text))
	}
}

// events shows what happened, the newest first, as far as it is not said elsewhere.
func (p *page) events() {
	l := p.e.Lifecycle
	if l == nil {
		return
	}
	shown := slices.DeleteFunc(slices.Clone(l.Events), func(e inspect.Event) bool { return !p.Verbose && p.toldAlready(l, &e) })
	if len(shown) == 0 {
		return
	}
	p.Heading("Events")
	limit := maxEvents
	if p.Verbose {
		limit = len(shown)
	}
	for i := range shown[:min(limit, len(shown))] {
		p.event(l, &shown[i])
	}
	if more := len(shown) - limit + l.MoreEvents; more > 0 {
		text := words.Count(more, "older kind") + " of events"
		if !p.Verbose {
			text += p.Hint("shows more")
		}
		p.Add("  ", "  ", styled.Span{Text: text, Role: styled.Dim})
	}
}

// toldAlready reports whether an Event is behind a problem, or is the scheduler's message, which are shown in
// full.
func (p *page) toldAlready(l *explain.Lifecycle, e *inspect.Event) bool {
	return e.Reason == "FailedScheduling" && len(p.e.Scheduler) > 0 ||
		slices.ContainsFunc(l.Problems, func(q explain.Problem) bool {
			return q.Reason == e.Reason && q.Object.Name == e.Name && q.Object.Kind == e.Kind && q.Last.Equal(e.Last)
		})
}

func (p *page) event(l *explain.Lifecycle, e *inspect.Event) {
	role := styled.Plain
	if e.Warning() {
		role = styled.Warn
	}
	first := "  " + styled.Pad(words.Age(e.Last, l.At), 5) + " "
	spans := []styled.Span{layout.Span(role, e.Reason)}
	if about := (explain.Subject{Kind: e.Kind, Namespace: e.Namespace, Name: e.Name}); about != p.e.Subject {
		spans = append(spans, layout.Span(styled.Name, " "+kindInWords(e.Kind)+" "+e.Name))
	}
	if e.Count > 1 {
		spans = append(spans, layout.Span(styled.Dim, fmt.Sprintf(" (%d times%s)", e.Count, over(e.First, e.Last))))
	}
	if e.Message != "" {
		spans = append(spans, layout.Span(styled.Plain, ": "+p.short(e.Message)))
	}
	p.Add(first, strings.Repeat(" ", styled.Width(first)+2), spans...)
}

// over says how long something went on.
func over(first, last time.Time) string {
	if age := words.Age(first, last); age != "" && last.Sub(first) >= time.Second {
		return " over " + age
	}
	return ""
}
