package priority

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a priority level. Its texts are safe to show.
type row struct {
	name    string
	level   flowcontrol.Level
	figures flowcontrol.Figures
	load    *flowcontrol.Load // nil if there are no metrics
	rates   rates
	use     []float64
	schemas string
	// dangling are the FlowSchemas that lead to no level at all; the same in every row.
	dangling []flowcontrol.Dangling
	// current is why the limit of this moment is what it is; nil if that is not known.
	current *flowcontrol.Current
	widest  flowcontrol.Widest
	// actors are those of DRA who ask at the level.
	actors []flowcontrol.Actor
	// seats is the server concurrency limit, shares the sum over all levels.
	seats, shares int
	source        flowcontrol.ConcurrencySource
	exact         bool
	// unread says why there are no live figures. It is empty if there are.
	unread string
	// differs says that the server has other limits than those computed.
	differs bool
}

// build makes the rows: levels where something waits or is rejected come first, then those with most
// seats in use, then those with most seats.
func build(s *inspect.Snapshot, seats int, past history) []row {
	if len(s.PriorityLevels()) == 0 {
		return nil // nothing is known of any level, not even of those that a server makes up
	}
	last, asked := past.last()
	limits := flowcontrol.Resolve(s.PriorityLevels(), seats, last.reading.Metrics)
	schemas := schemasOf(s, &limits.Limits)
	var dangling []flowcontrol.Dangling
	if s.Health(inspect.PriorityLevels).Complete() {
		dangling = flowcontrol.DanglingSchemas(s.Objects().FlowSchemas, &limits.Limits)
	}
	differing := last.reading.Metrics.Disagreements(limits.Limits)
	current := last.reading.Metrics.CurrentLimits(&limits.Limits, last.reading.Dump)
	actors := flowcontrol.DRAActors(s)
	var rows []row
	for _, level := range limits.Levels {
		r := row{
			name: inspect.Sanitize(level.Name), level: level, figures: last.reading.Level(level.Name),
			rates: past.rates(level.Name), use: past.use(level.Name), schemas: inspect.Sanitize(strings.Join(schemas[level.Name], ", ")),
			dangling: dangling,
			seats:    limits.ServerConcurrency, shares: limits.Shares, source: limits.Source, exact: limits.Exact,
			differs: slices.Contains(differing, level.Name), unread: unread(last.reading, asked),
		}
		r.widest = flowcontrol.WidestOf(&level, true)
		if m := last.reading.Metrics; m != nil {
			r.load, r.widest = m.Levels[level.Name], flowcontrol.WidestOf(&level, m.Sized)
		}
		if i := slices.IndexFunc(current, func(c flowcontrol.Current) bool { return c.Level == level.Name }); i >= 0 {
			r.current = &current[i]
		}
		for i := range actors {
			if slices.Contains(actors[i].Levels(), level.Name) {
				r.actors = append(r.actors, actors[i])
			}
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(value(b.figures.Queued), value(a.figures.Queued)),
			cmp.Compare(b.rates.rejected, a.rates.rejected),
			cmp.Compare(value(b.figures.ExecutingSeats), value(a.figures.ExecutingSeats)),
			cmp.Compare(b.level.Nominal, a.level.Nominal),
		)
	})
	return rows
}

// schemasOf are the names of the FlowSchemas that lead to each level, those that the server makes up among them.
func schemasOf(s *inspect.Snapshot, limits *flowcontrol.Limits) map[string][]string {
	objects := s.Objects().FlowSchemas
	if len(objects) == 0 || !s.Health(inspect.FlowSchemas).Complete() {
		return flowcontrol.SchemasOf(objects) // whether one is made up is not known
	}
	out := map[string][]string{}
	for _, f := range flowcontrol.Schemas(objects, limits) {
		name, level := f.Object.Name, f.Object.Spec.PriorityLevelConfiguration.Name
		if f.Assumed {
			name += " (made up)"
		}
		out[level] = append(out[level], name)
	}
	return out
}

// unread says why there are no live figures.
func unread(r flowcontrol.Reading, asked bool) string {
	switch {
	case r.Metrics != nil:
		return ""
	case !asked:
		return "no server was asked: what is shown follows from the objects alone"
	case r.Dump != nil:
		return inspect.Sanitize(r.MetricsHealth.Message) + ": current limits and seats are missing"
	}
	return inspect.Sanitize(r.MetricsHealth.Message)
}

// value is a figure, or -1 when it is not known.
func value(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

func number(n *int, role styled.Role) styled.Line {
	switch {
	case n == nil:
		return styled.Text(styled.Dim, "–")
	case *n == 0:
		return styled.Text(styled.Dim, "0")
	}
	return styled.Text(role, strconv.Itoa(*n))
}

// barWidth is the width of the bar of seats in use, historyWidth that of its past.
const (
	barWidth     = 10
	historyWidth = 12
)

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "LEVEL", Min: 17, Max: 32}, Cell: nameCell},
	{Column: widget.Column{Title: "TYPE", Rank: 8}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, typeText(r)) }},
	intColumn("SHARES", 7, func(r *row) int { return r.level.Shares }),
	intColumn("NOMINAL", 2, func(r *row) int { return r.level.Nominal }),
	{
		Column: widget.Column{Title: "RANGE", Right: true, Rank: 6}, Cell: rangeCell,
		Compare: func(a, b *row) int { return cmp.Compare(a.level.Upper, b.level.Upper) },
	},
	{
		Column: widget.Column{Title: "NOW", Right: true, Rank: 3}, Cell: nowCell,
		Compare: func(a, b *row) int { return cmp.Compare(value(a.figures.Current), value(b.figures.Current)) },
	},
	{
		Column: widget.Column{Title: "IN USE", Right: true}, Cell: func(r *row) styled.Line { return number(r.figures.ExecutingSeats, styled.Used) },
		Compare: func(a, b *row) int {
			return cmp.Compare(value(a.figures.ExecutingSeats), value(b.figures.ExecutingSeats))
		},
		Amount: func(r *row) (float64, bool) { return known(r.figures.ExecutingSeats) },
	},
	{
		Column: widget.Column{Title: "", Rank: 4}, Cell: barCell, Text: func(*row) string { return "" },
		Compare: func(a, b *row) int { return cmp.Compare(a.share(), b.share()) },
	},
	{
		Column: widget.Column{Title: "QUEUED", Right: true}, Cell: func(r *row) styled.Line { return number(r.figures.Queued, styled.Warn) },
		Compare: func(a, b *row) int { return cmp.Compare(value(a.figures.Queued), value(b.figures.Queued)) },
		Amount:  func(r *row) (float64, bool) { return known(r.figures.Queued) },
	},
	{
		Column: widget.Column{Title: "REJECTED", Right: true}, Cell: rejectedCell,
		Compare: func(a, b *row) int { return cmp.Compare(value(a.figures.Rejected), value(b.figures.Rejected)) },
		Amount:  func(r *row) (float64, bool) { return known(r.figures.Rejected) },
	},
	{
		Column: widget.Column{Title: "HISTORY", Rank: 5}, Cell: historyCell, Text: func(*row) string { return "" },
		Compare: func(a, b *row) int { return cmp.Compare(a.share(), b.share()) },
	},
}

// nameCell marks a level that there is no object of.
func nameCell(r *row) styled.Line {
	line := styled.Text(styled.Name, r.name)
	if r.level.Assumed {
		return append(line, styled.Span{Text: " made up", Role: styled.Dim})
	}
	return line
}

func intColumn(title string, rank int, of func(*row) int) listing.Column[row] {
	return listing.Column[row]{
		Column:  widget.Column{Title: title, Right: true, Rank: rank},
		Cell:    func(r *row) styled.Line { return styled.Text(styled.Plain, strconv.Itoa(of(r))) },
		Compare: func(a, b *row) int { return cmp.Compare(of(a), of(b)) },
		Amount:  func(r *row) (float64, bool) { return float64(of(r)), true },
	}
}

// known is a figure, and whether it was read.
func known(n *int) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}

// typeText says in a word what becomes of a request for which there is no seat.
func typeText(r *row) string {
	switch {
	case r.level.Type == flowcontrolv1.PriorityLevelEnablementExempt:
		return "exempt"
	case r.level.Queuing != nil:
		return "queues"
	}
	return "rejects"
}

func rangeCell(r *row) styled.Line {
	if r.level.Borrowing == nil {
		// The second number is what the server's metrics have, and kubectl dra get: all its seats, which is no limit.
		return styled.Text(styled.Dim, fmt.Sprintf("%d–%d (∞)", r.level.Lower, r.level.Upper))
	}
	return styled.Text(styled.Dim, fmt.Sprintf("%d–%d", r.level.Lower, r.level.Upper))
}

// nowCell shows the limit that holds now, with what is borrowed or lent.
func nowCell(r *row) styled.Line {
	if r.figures.Current == nil {
		return styled.Text(styled.Dim, "–")
	}
	line := styled.Text(styled.Plain, strconv.Itoa(*r.figures.Current))
	switch d := *r.figures.Current - r.level.Nominal; {
	case d > 0:
		return append(line, styled.Span{Text: fmt.Sprintf(" ↑%d", d), Role: styled.Good})
	case d < 0:
		return append(line, styled.Span{Text: fmt.Sprintf(" ↓%d", -d), Role: styled.Dim})
	}
	return line
}

func (r *row) exempt() bool { return r.level.Type == flowcontrolv1.PriorityLevelEnablementExempt }

// share is the part of its seats that a level uses now.
func (r *row) share() float64 {
	if r.figures.ExecutingSeats == nil || r.figures.Current == nil {
		return 0
	}
	return share(*r.figures.ExecutingSeats, *r.figures.Current)
}

func barCell(r *row) styled.Line {
	switch {
	case r.exempt():
		return styled.Text(styled.Dim, "no limit")
	case r.figures.ExecutingSeats == nil || r.figures.Current == nil:
		return styled.Text(styled.Dim, "")
	}
	role := styled.Used
	if r.share() >= 1 {
		role = styled.Warn
	}
	return widget.Bar(r.share(), barWidth, role)
}

func rejectedCell(r *row) styled.Line {
	line := number(r.figures.Rejected, styled.Warn)
	if r.rates.rejected > 0 {
		return append(line, styled.Span{Text: fmt.Sprintf(" +%s/s", perSecond(r.rates.rejected)), Role: styled.Bad})
	}
	return line
}

func historyCell(r *row) styled.Line {
	if r.exempt() {
		return styled.Text(styled.Dim, "")
	}
	return styled.Text(styled.Used, widget.Sparkline(r.use, historyWidth))
}

// perSecond prints a rate with two digits that count.
func perSecond(rate float64) string {
	if rate >= 10 {
		return fmt.Sprintf("%.0f", rate)
	}
	return fmt.Sprintf("%.2g", rate)
}

var groupings = []listing.Grouping[row]{{Name: "type", Of: typeText}}
