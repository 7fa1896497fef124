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
	load    *flowcontrol.Load // nil if it is not known
	rates   rates
	use     []float64
	schemas string
	// dangling are the FlowSchemas that lead to no level at all; the same in every row.
	dangling []flowcontrol.Dangling
	// current is why the limit of this moment is what it is; nil if that is not known.
	current *flowcontrol.Current
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
	current := last.reading.Metrics.CurrentLimits(&limits.Limits)
	actors := flowcontrol.DRAActors(s)
	rows := make([]row, len(limits.Levels))
	for i, level := range limits.Levels {
		r := row{
			name: inspect.Sanitize(level.Name), level: level, load: last.reading.Level(level.Name),
			rates: past.rates(level.Name), use: past.use(level.Name), schemas: inspect.Sanitize(strings.Join(schemas[level.Name], ", ")),
			dangling: dangling,
			seats:    limits.ServerConcurrency, shares: limits.Shares, source: limits.Source, exact: limits.Exact,
			differs: slices.Contains(differing, level.Name), unread: unread(last.reading, asked),
		}
		if current != nil {
			r.current = &current[i]
		}
		for i := range actors {
			if slices.Contains(actors[i].Levels(), level.Name) {
				r.actors = append(r.actors, actors[i])
			}
		}
		rows[i] = r
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(
			cmp.Compare(b.live(queued), a.live(queued)),
			cmp.Compare(b.rates.rejected, a.rates.rejected),
			cmp.Compare(b.live(inUse), a.live(inUse)),
			cmp.Compare(b.level.Nominal, a.level.Nominal),
		)
	})
	return rows
}

// schemasOf are the names of the FlowSchemas that lead to each level, those that the server makes up among
// them.
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
	}
	return inspect.Sanitize(r.Health.Message)
}

func inUse(c *flowcontrol.Counts) int    { return c.ExecutingSeats }
func queued(c *flowcontrol.Counts) int   { return c.QueuedRequests }
func rejected(c *flowcontrol.Counts) int { return c.RejectedRequests() }

// live is a count of the level's requests or seats, or -1 where it is not known.
func (r *row) live(of func(*flowcontrol.Counts) int) int {
	if r.load == nil {
		return -1
	}
	return of(&r.load.Total)
}

// now is the limit that holds now, or -1 where it is not known.
func (r *row) now() int {
	if r.load == nil || r.load.Current == nil {
		return -1
	}
	return *r.load.Current
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
		Compare: func(a, b *row) int { return cmp.Compare(a.now(), b.now()) },
	},
	liveColumn("IN USE", inUse, func(r *row) styled.Line { return listing.Number(r.live(inUse), styled.Used) }),
	{
		Column: widget.Column{Title: "", Rank: 4}, Cell: barCell, Text: func(*row) string { return "" },
		Compare: func(a, b *row) int { return cmp.Compare(a.share(), b.share()) },
	},
	liveColumn("QUEUED", queued, func(r *row) styled.Line { return listing.Number(r.live(queued), styled.Warn) }),
	liveColumn("REJECTED", rejected, rejectedCell),
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
	return listing.NumberColumn(title, rank, of, func(r *row) styled.Line { return styled.Text(styled.Plain, strconv.Itoa(of(r))) })
}

func liveColumn(title string, of func(*flowcontrol.Counts) int, cell func(*row) styled.Line) listing.Column[row] {
	return listing.NumberColumn(title, 0, func(r *row) int { return r.live(of) }, cell)
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
	return styled.Text(styled.Dim, fmt.Sprintf("%d–%s", r.level.Lower, r.upper()))
}

// upper is the upper limit. Without a limit to borrowing it is what the server's metrics have, and kubectl
// dra get: all its seats, which is no limit.
func (r *row) upper() string {
	if r.level.Borrowing == nil {
		return fmt.Sprintf("%d (∞)", r.level.Upper)
	}
	return strconv.Itoa(r.level.Upper)
}

// nowCell shows the limit that holds now, with what is borrowed or lent.
func nowCell(r *row) styled.Line {
	if r.now() < 0 {
		return styled.Text(styled.Dim, "–")
	}
	line := styled.Text(styled.Plain, strconv.Itoa(r.now()))
	switch d := r.now() - r.level.Nominal; {
	case d > 0:
		return append(line, styled.Span{Text: fmt.Sprintf(" ↑%d", d), Role: styled.Good})
	case d < 0:
		return append(line, styled.Span{Text: fmt.Sprintf(" ↓%d", -d), Role: styled.Dim})
	}
	return line
}

func (r *row) exempt() bool { return r.level.Type == flowcontrolv1.PriorityLevelEnablementExempt }

// share is the part of its seats that a level uses now.
func (r *row) share() float64 { return max(0, share(r.load)) }

func barCell(r *row) styled.Line {
	switch {
	case r.exempt():
		return styled.Text(styled.Dim, "no limit")
	case r.now() < 0:
		return styled.Text(styled.Dim, "")
	}
	role := styled.Used
	if r.share() >= 1 {
		role = styled.Warn
	}
	return widget.Bar(r.share(), barWidth, role)
}

func rejectedCell(r *row) styled.Line {
	line := listing.Number(r.live(rejected), styled.Warn)
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
