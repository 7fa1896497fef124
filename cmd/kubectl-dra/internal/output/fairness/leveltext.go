package fairness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Write writes the explanation for people.
func (e *PriorityLevelExplanation) Write(p *output.Page) {
	l, exempt := e.Level, e.Level.Type == "Exempt"
	text := fmt.Sprintf("priority level %s: ", l.Name)
	switch {
	case exempt:
		text += "exempt, its requests are executed at once"
	case l.Current != nil:
		text += fmt.Sprintf("%s now, %d nominally", words.Count(*l.Current, "seat"), l.Nominal)
	default:
		text += words.Count(l.Nominal, "seat") + " nominally"
	}
	p.Paragraph("", "  ", text)
	if l.Assumed {
		p.Paragraph("", "  ", "There is no such object: the server makes it up.")
	}
	p.WriteString("\n")
	e.writeLimits(p, exempt)
	if !exempt {
		e.writeFull(p)
	}
	e.writeLoad(p)

	if len(e.FlowSchemas) == 0 {
		p.Field("From", "no FlowSchema leads here")
	} else {
		p.Field("From", "%s:", words.Count(len(e.FlowSchemas), "FlowSchema"))
		p.Rows(words.Each(e.FlowSchemas, (*FlowSchema).row))
	}
	if len(e.Actors) > 0 {
		p.Field("Of DRA", "these ask here:")
		var rows [][]string
		for i := range e.Actors {
			name, text := e.Actors[i].name(), e.Actors[i].text(l.Name)
			if last := len(rows) - 1; last >= 0 && rows[last][1] == text {
				rows[last][0] += ", " + strings.TrimPrefix(name, "driver ")
				continue
			}
			rows = append(rows, []string{name, text})
		}
		for _, row := range rows {
			p.Paragraph("  ", "    ", row[0]+" "+row[1])
		}
	}
}

// writeLimits says how the limits come about, by the names of the API.
func (e *PriorityLevelExplanation) writeLimits(p *output.Page, exempt bool) {
	l, seats := e.Level, e.ServerConcurrency.Limit
	p.Field("NominalCL", "%d = ⌈%d × %d shares ÷ %d⌉: what it has while nobody lends or borrows", l.Nominal, seats, l.Shares, e.TotalShares)
	p.Field("LendableCL", "%d: what of it others may borrow, which leaves at least %d", l.Lendable, l.Lower)
	switch {
	case exempt:
		p.Field("BorrowingCL", "without limit: it takes what it needs")
	case l.Borrowing == nil:
		p.Field("BorrowingCL", "without limit of its own: up to %s, which is NominalCL and all %d seats of the server", upperText(l), seats)
	default:
		p.Field("BorrowingCL", "%d: what it may borrow, so up to %d", *l.Borrowing, l.Upper)
	}
	switch c := e.Current; {
	case c == nil:
	case l.Current != nil && c.Computed != *l.Current:
		p.Field("CurrentCL", "%d; by the demand of this moment it would be %s", *l.Current, c.Message)
	default:
		p.Field("CurrentCL", "%s", c.Message)
	}
	for _, c := range e.Conditions {
		p.Field("Condition", "%s %s %s", c.Type, c.Status, c.Message)
	}
}

// writeFull says when requests wait and when they are rejected.
func (e *PriorityLevelExplanation) writeFull(p *output.Page) {
	q := e.Level.Queuing
	if q == nil {
		p.Field("When full", "a request is rejected (429) if the seats in use and its own exceed CurrentCL; one that is wider runs only while nothing else does")
		return
	}
	p.Field("When full", "requests wait once CurrentCL seats are in use, each flow in %d of %d queues, for at most a quarter of their time-out (15 s of the usual 60 s, never more than 1 min); "+
		"one is rejected (429) if the queue that it comes to has %s already, and when it has waited too long", q.HandSize, q.Queues, words.Count(q.QueueLengthLimit, "request"))
}

// writeLoad says what the level is doing.
func (e *PriorityLevelExplanation) writeLoad(p *output.Page) {
	l := e.Level
	text := l.loadText()
	if text == "" {
		return
	}
	if len(l.RejectedBy) > 0 {
		var reasons []string
		for _, reason := range slices.Sorted(maps.Keys(l.RejectedBy)) {
			reasons = append(reasons, fmt.Sprintf("%d %s", l.RejectedBy[reason], reason))
		}
		text += " (" + strings.Join(reasons, ", ") + ")"
	}
	if l.MeanWait != "" {
		text += "; waits are " + l.MeanWait + " on average"
	}
	p.Field("Now", "%s", text)
}

// loadText says what a level is doing, or "" if that is not known.
func (p *PriorityLevel) loadText() string {
	if p.Executing == nil {
		return ""
	}
	return fmt.Sprintf("%s executing on %s, %d waiting, %d rejected since the server started",
		words.Count(*p.Executing, "request"), words.Count(*p.ExecutingSeats, "seat"), *p.Queued, *p.Rejected)
}

// mostNamed is how many names a list has at most.
const mostNamed = 5

// row says whose requests a FlowSchema leads to its level.
func (f *FlowSchema) row() []string {
	text := "for " + words.Shorten(f.Subjects, mostNamed)
	switch f.DistinguisherMethod {
	case "ByUser":
		text += ", each user a flow"
	case "ByNamespace":
		text += ", each namespace a flow"
	}
	if f.Assumed {
		text += "; made up by the server"
	}
	return []string{fmt.Sprint(f.MatchingPrecedence), f.Name, text}
}

// name is who an actor is.
func (a *DRAActor) name() string {
	switch a.Role {
	case "Driver":
		return "driver " + a.Driver
	case "ClaimController":
		return "claim controller"
	case "Scheduler":
		return "kube-scheduler"
	}
	return "kubelets"
}

// text says as whom an actor asks at a level, and how it fares.
func (a *DRAActor) text(level string) string {
	text := a.asText()
	for _, ask := range a.Asks {
		if ask.PriorityLevel == level && ask.Rejected != nil && *ask.Queued+*ask.Rejected > 0 {
			text += fmt.Sprintf("; of FlowSchema %s %d wait and %d were rejected", ask.FlowSchema, *ask.Queued, *ask.Rejected)
			break
		}
	}
	if a.Crowded {
		text += "; every pod of the cluster can crowd this level"
	}
	return text
}

// upperText is the upper limit of a level, told the same way everywhere.
func upperText(p *PriorityLevel) string {
	if p.Borrowing == nil {
		return fmt.Sprintf("%d (∞)", p.Upper)
	}
	return fmt.Sprint(p.Upper)
}
