package text

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
)

// maxQueued is how many holders and how many of those in front are shown without Verbose.
const maxQueued = 5

// stageSigns are the signs and roles of results.
var stageSigns = map[explain.StageResult]styled.Span{
	explain.Passes: {Text: "✓", Role: styled.Good}, explain.Refuses: {Text: "✗", Role: styled.Bad}, explain.StageUnknown: {Text: "?", Role: styled.Warn},
}

// admission shows what the pod has to pass before it runs, who holds the quota that is missing, and who is in
// front.
func (p *page) admission() {
	a := p.e.Admission
	if a == nil {
		return
	}
	if passed := !slices.ContainsFunc(a.Stages, func(s explain.AdmissionStage) bool { return s.Result != explain.Passes }); passed && !p.Verbose {
		p.Add("  ", "  ", layout.Span(styled.Dim, a.Stages[0].Message))
		return
	}
	queue := "  LocalQueue " + a.LocalQueue
	if a.Workload != nil {
		queue += ", Workload " + a.Workload.Name
	}
	p.Heading("Stages", layout.Span(styled.Dim, queue))
	for _, s := range a.Stages {
		sign := stageSigns[s.Result]
		name := styled.Pad(string(s.Stage), len(explain.SchedulerStage))
		message := s.Message
		switch {
		case s.Result == explain.Refuses && strings.Contains(p.e.Message, message):
			message = "refuses, as said above"
		case s.Supposed && s.Stage == explain.SchedulerStage:
			message = "once admitted: " + message
		}
		p.Add("  ", strings.Repeat(" ", 2+2+len(explain.SchedulerStage)+2), styled.Span{Text: sign.Text + " ", Role: sign.Role}, layout.Span(styled.Name, name), layout.Span(styled.Plain, "  "+message))
	}
	if !a.NotBefore.IsZero() {
		p.Add("  ", "  ", layout.Span(styled.Dim, "Kueue considers it again at "+a.NotBefore.UTC().Format(time.RFC3339)+"."))
	}
	p.flavors(a.Flavors)
	p.quotaHolders("Held by", a.Holders)
	p.ahead("In front of it", a.Ahead)
}

// flavors says of each flavor what refuses there: quota, devices or both.
func (p *page) flavors(all []explain.FlavorAnswer) {
	if len(all) == 0 {
		return
	}
	p.Heading("Flavors", layout.Span(styled.Dim, "  on the nodes of each, by itself"))
	width := 0
	for i := range all {
		width = max(width, styled.Width(all[i].Flavor))
	}
	for i := range all {
		f := &all[i]
		name, quota := styled.Pad(f.Flavor, width), f.QueueMessage
		if f.Queue == explain.Passes {
			quota = "there is quota"
		}
		for _, half := range []struct {
			result  explain.StageResult
			message string
		}{{f.Queue, quota}, {f.Scheduler, f.SchedulerMessage}} {
			sign := stageSigns[half.result]
			p.Add("  ", styled.Blanks(2+width+2+2), layout.Span(styled.Name, name), styled.Span{Text: "  " + sign.Text + " ", Role: sign.Role}, layout.Span(styled.Plain, half.message))
			name = styled.Blanks(width)
		}
	}
}

// WorkloadName is what people call a workload: what it was made for.
func WorkloadName(workload explain.Subject, of *explain.Subject) string {
	if of == nil {
		return "workload " + workload.FullName()
	}
	return strings.ToLower(of.Kind) + " " + of.FullName()
}

// quotaHolders lists who holds quota.
func (p *page) quotaHolders(heading string, all []explain.QuotaHolder) {
	if len(all) == 0 {
		return
	}
	p.Heading(heading)
	limit := p.Limit(maxQueued, len(all))
	for i := range all[:limit] {
		h := &all[i]
		text := fmt.Sprintf("  %s %s of flavor %s, by ClusterQueue %s", h.Amount, h.Resource, h.Flavor, h.ClusterQueue)
		if !h.Runs {
			text += ", waiting for admission checks"
		}
		p.Add("  ", "      ", layout.Span(styled.Name, WorkloadName(h.Workload, h.Of)), layout.Span(styled.Plain, text))
	}
	p.moreOf(len(all) - limit)
}

// ahead lists who is in front.
func (p *page) ahead(heading string, all []explain.Ahead) {
	if len(all) == 0 {
		return
	}
	p.Heading(heading)
	limit := p.Limit(maxQueued, len(all))
	for i := range all[:limit] {
		w := &all[i]
		text := fmt.Sprintf("  priority %d, ", w.Priority)
		switch {
		case w.Message == "":
			text += "goes"
		case w.Outcome == "Unknown":
			text += "may go or not: " + w.Message
		case w.Blocks:
			text += "does not go, and nobody behind it: " + w.Message
		default:
			text += "does not go: " + w.Message
		}
		p.Add(fmt.Sprintf("  %d  ", i+1), "       ", layout.Span(styled.Name, WorkloadName(w.Workload, w.Of)), layout.Span(styled.Plain, text))
	}
	p.moreOf(len(all) - limit)
}

func (p *page) moreOf(n int) {
	if n > 0 {
		p.Add("  ", "  ", layout.Span(styled.Dim, fmt.Sprintf("and %d more%s", n, p.Hint("shows all"))))
	}
}

// QueueLines lays out what a queue has, who holds it, and who waits.
func QueueLines(q *explain.QueueState, opts Options) []styled.Line {
	p := newPage(&explain.Explanation{}, opts)
	sign := layout.Good
	switch {
	case q.Inactive != "":
		sign = layout.Bad
	case len(q.Waiting) > 0:
		sign = layout.Mixed
	}
	name := q.Name
	if q.Namespace != "" {
		name = q.Namespace + "/" + q.Name
	}
	p.Add("", "  ", sign, layout.Span(styled.Strong, q.Kind+" "+name+" "+q.Message))
	var about []string
	for _, one := range [][2]string{{"ClusterQueue", q.ClusterQueue}, {"cohort", q.Cohort}, {"strategy", q.Strategy}} {
		if one[1] != "" {
			about = append(about, one[0]+" "+one[1])
		}
	}
	if len(about) > 0 {
		p.Add("  ", "  ", layout.Span(styled.Dim, strings.Join(about, ", ")))
	}
	if len(q.Quotas) > 0 {
		p.Heading("Quota")
	}
	for i := range q.Quotas {
		f := &q.Quotas[i]
		p.Add("  ", "      ", layout.Span(styled.Name, f.Resource), layout.Span(styled.Plain, " of flavor "+f.Flavor+":  "+QuotaSentence(f)))
	}
	p.quotaHolders("Held by", q.Holders)
	p.ahead("Waiting", q.Waiting)
	if len(q.Partial) > 0 {
		p.Blank()
	}
	p.Doubts(q.Partial)
	return p.Lines
}

// QuotaSentence says how much of a quota is used, could be had, is borrowed and lent.
func QuotaSentence(f *explain.Quota) string {
	text := fmt.Sprintf("%s of %s used, %s available", f.Used, f.Nominal, f.Available)
	for _, part := range [][2]string{{"borrowed", f.Borrowed}, {"lent", f.Lent}} {
		if part[1] != "0" {
			text += ", " + part[1] + " " + part[0]
		}
	}
	for _, part := range [][2]string{{"may borrow", f.BorrowingLimit}, {"lends", f.LendingLimit}} {
		if part[1] != "" {
			text += ", " + part[0] + " at most " + part[1]
		}
	}
	return text
}
