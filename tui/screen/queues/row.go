package queues

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a ClusterQueue. Its texts are not safe to show.
type row struct {
	*explain.QueueState
	// runs is how many workloads hold quota.
	runs int
	// fullest is the quota of which the largest part is gone, or nil.
	fullest *explain.Quota
}

func rowOf(q *explain.QueueState) row {
	r := row{QueueState: q, runs: len(admission.Workloads(q.Holders))}
	for i := range q.Quotas {
		if f := &q.Quotas[i]; r.fullest == nil || gone(f) > gone(r.fullest) {
			r.fullest = f
		}
	}
	return r
}

// unlimited stands for a quota without bounds.
const unlimited = 1e30

// amount is a number of a quota, for drawing and sorting alone.
func amount(text string) float64 {
	q, err := quantity.Parse(text)
	if err != nil {
		return unlimited // which Kueue writes in words
	}
	return min(max(0, q.AsApproximateFloat64()), unlimited)
}

// gone is which part of a nominal quota is used, by whomever. It is more than 1 for a queue that borrows.
func gone(f *explain.Quota) float64 {
	if taken := amount(f.Used) + amount(f.Lent); taken > 0 {
		return taken / max(amount(f.Nominal), 1e-9)
	}
	return 0
}

const barWidth = 10

// bar draws what a queue uses of its own quota, what it borrows, and what it lends.
func bar(f *explain.Quota) styled.Line {
	used, borrowed, lent := amount(f.Used), amount(f.Borrowed), amount(f.Lent)
	return widget.Stack([]widget.Part{
		{Amount: used - borrowed, Cell: "█", Role: styled.Used}, {Amount: borrowed, Cell: "▓", Role: styled.Shared}, {Amount: lent, Cell: "▒", Role: styled.Warn},
		{Amount: amount(f.Nominal) - (used - borrowed) - lent, Cell: "·", Role: styled.Dim},
	}, barWidth)
}

// title is what the row is about.
func (r *row) title() styled.Line {
	line := styled.Line{{Text: inspect.Sanitize(r.Name), Role: styled.Name}}
	if r.Cohort != "" {
		line = append(line, styled.Span{Text: "  cohort " + inspect.Sanitize(r.Cohort), Role: styled.Dim})
	}
	return append(line, styled.Span{Text: "  █ used ▓ borrowed ▒ lent · free", Role: styled.Dim})
}

// mostBars is how many quotas are drawn.
const mostBars = 6

// bars are the quotas, the fullest first.
func (r *row) bars() []styled.Line {
	all := slices.Clone(r.Quotas)
	slices.SortStableFunc(all, func(a, b explain.Quota) int { return cmp.Compare(gone(&b), gone(&a)) })
	first := all[:min(len(all), mostBars)]
	wide := widget.Widest(first, func(f explain.Quota) string { return inspect.Sanitize(f.Resource) })
	var lines []styled.Line
	for i := range first {
		f := &first[i]
		line := styled.Line{{Text: "  " + styled.Pad(inspect.Sanitize(f.Resource), wide) + " "}}
		line = append(append(line, bar(f)...), styled.Span{Text: " " + inspect.Sanitize(text.QuotaSentence(f))}, styled.Span{Text: "  " + inspect.Sanitize(f.Flavor), Role: styled.Dim})
		lines = append(lines, line)
	}
	if n := len(all) - mostBars; n > 0 {
		lines = append(lines, styled.Text(styled.Dim, fmt.Sprintf("  and %d more", n)))
	}
	return lines
}

// panel tells what the table has no room for.
func (r *row) panel(width int) []styled.Line {
	lines := r.bars()
	for _, line := range styled.WrapText("it "+inspect.Sanitize(r.Message), max(20, width-4)) {
		lines = append(lines, styled.Text(styled.Plain, "  "+line))
	}
	return lines
}

// aside is the same, and who waits and who holds quota.
func (r *row) aside(width int) []styled.Line {
	rest := *r.QueueState
	rest.Quotas = nil // they are drawn
	return append(append(r.bars(), nil), text.QueueLines(&rest, text.Options{Width: width, Screen: true})...)
}

// mostExtra is how many workloads filters see of a row at most.
const mostExtra = 200

// extra is what filters see besides the columns: workloads.
func (r *row) extra() string {
	var b strings.Builder
	for i := range r.Waiting[:min(len(r.Waiting), mostExtra)] {
		b.WriteString(text.WorkloadName(r.Waiting[i].Workload, r.Waiting[i].Of) + "\n")
	}
	for i := range r.Holders[:min(len(r.Holders), mostExtra)] {
		b.WriteString(text.WorkloadName(r.Holders[i].Workload, r.Holders[i].Of) + "\n")
	}
	return b.String()
}

// first is who is in front.
func (r *row) first() string {
	if len(r.Waiting) == 0 {
		return ""
	}
	return text.WorkloadName(r.Waiting[0].Workload, r.Waiting[0].Of)
}

// why is why the queue admits nothing, or why the first one does not go.
func (r *row) why() styled.Line {
	switch {
	case r.Inactive != "":
		return styled.Text(styled.Bad, inspect.Sanitize(r.Inactive))
	case len(r.Waiting) == 0:
		return styled.Text(styled.Dim, "–")
	}
	switch first := &r.Waiting[0]; {
	case first.Message == "":
		return styled.Text(styled.Good, "it goes")
	case first.Outcome == string(kueue.Unknown):
		return styled.Text(styled.Plain, "not known: "+inspect.Sanitize(first.Message))
	default:
		return styled.Text(styled.Plain, inspect.Sanitize(first.Message))
	}
}

func (r *row) usedCell() styled.Line {
	if r.fullest == nil {
		return styled.Text(styled.Dim, "–")
	}
	f := r.fullest
	line := append(bar(f), styled.Span{Text: inspect.Sanitize(fmt.Sprintf(" %s/%s %s", f.Used, f.Nominal, f.Resource))})
	if n := len(r.Quotas) - 1; n > 0 {
		line = append(line, styled.Span{Text: fmt.Sprintf(" +%d", n), Role: styled.Dim})
	}
	return line
}

// sumColumn is a column of how much is borrowed or lent of the fullest quota.
func sumColumn(title string, of func(*explain.Quota) string) listing.Column[row] {
	number := func(r *row) float64 {
		if r.fullest == nil {
			return 0
		}
		return amount(of(r.fullest))
	}
	return listing.Column[row]{
		Column: widget.Column{Title: title, Right: true, Rank: 3},
		Cell: func(r *row) styled.Line {
			if number(r) == 0 {
				return styled.Text(styled.Dim, "–")
			}
			return styled.Text(styled.Plain, inspect.Sanitize(of(r.fullest)))
		},
		Compare: func(a, b *row) int { return cmp.Compare(number(a), number(b)) },
		Amount:  func(r *row) (float64, bool) { return number(r), true },
	}
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "QUEUE", Min: 10, Max: 48}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(r.Name)) }},
	{Column: widget.Column{Title: "COHORT", Min: 8, Max: 32, Rank: 5}, Cell: func(r *row) styled.Line { return listing.OrDash(inspect.Sanitize(r.Cohort)) }, ToldBy: []string{"cohort"}},
	{
		Column: widget.Column{Title: "USED", Min: 22, Max: 60}, Cell: (*row).usedCell,
		Compare: func(a, b *row) int { return cmp.Compare(a.share(), b.share()) }, Amount: func(r *row) (float64, bool) { return 100 * r.share(), true },
	},
	sumColumn("BORROWED", func(f *explain.Quota) string { return f.Borrowed }),
	sumColumn("LENT", func(f *explain.Quota) string { return f.Lent }),
	listing.NumberColumn("WAIT", 0, func(r *row) int { return len(r.Waiting) }, func(r *row) styled.Line { return listing.Number(len(r.Waiting), styled.Warn) }),
	listing.NumberColumn("RUN", 4, func(r *row) int { return r.runs }, func(r *row) styled.Line { return listing.Number(r.runs, styled.Plain) }),
	{Column: widget.Column{Title: "FIRST", Min: 16, Max: 60, Rank: 2}, Cell: func(r *row) styled.Line { return listing.OrDash(inspect.Sanitize(r.first())) }},
	{Column: widget.Column{Title: "WHY IT WAITS", Min: 24, Max: 120, Rank: 1}, Cell: (*row).why},
}

// share is which part of the fullest quota is gone.
func (r *row) share() float64 {
	if r.fullest == nil {
		return 0
	}
	return gone(r.fullest)
}
