package changes

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a change. Its texts are not safe to show.
type row struct {
	event screen.Event
	age   screen.Age
	today bool // it was on the day that is
}

// builder makes the rows of what was seen and of what objects and Events tell.
func builder(events inspect.Events) func(context.Context, *screen.World) ([]row, error) {
	return func(_ context.Context, w *screen.World) ([]row, error) {
		all := merged(w.History.All(), fromObjects(w.Snapshot), fromEvents(w.Snapshot, events.List))
		rows := make([]row, 0, len(all))
		for i := range all {
			e := &all[i]
			if e.Ref.Namespace != "" && !w.InNamespace(e.Ref.Namespace) {
				continue
			}
			rows = append(rows, row{event: *e, age: w.Age(e.Time), today: sameDay(e.Time, w.Now)})
		}
		return rows, nil
	}
}

func sameDay(a, b time.Time) bool {
	y1, m1, d1 := a.Local().Date()
	y2, m2, d2 := b.Local().Date()
	return y1 == y2 && m1 == m2 && d1 == d2
}

func clock(at time.Time) string { return at.Local().Format("15:04:05") }

// when is the time of day, or for what is longer ago the day.
func (r *row) when() string {
	if r.today {
		return clock(r.event.Time)
	}
	return r.event.Time.Local().Format("Jan _2")
}

// roles are the looks of what has happened. What is not among them is plain.
var roles = map[screen.EventKind]styled.Role{
	screen.PodRefused: styled.Bad, screen.PodTrouble: styled.Bad, screen.DriverGone: styled.Bad, screen.NodeGone: styled.Bad, screen.NodeNotReady: styled.Bad,
	screen.PoolIncomplete: styled.Bad, screen.DeviceSick: styled.Bad, screen.LevelRejecting: styled.Bad,
	screen.DeviceTainted: styled.Warn, screen.PodEvicted: styled.Warn, screen.ClaimUnreserved: styled.Warn, screen.ClaimDeleting: styled.Warn,
	screen.ClaimAllocated: styled.Good, screen.PodPlaced: styled.Good, screen.PoolComplete: styled.Good, screen.DeviceWell: styled.Good, screen.NodeReady: styled.Good,
	screen.DeviceUntainted: styled.Good, screen.DriverCame: styled.Good, screen.NodeCame: styled.Good,
}

// what names the kind of change.
func (r *row) what() string { return string(r.event.Kind) }

// why is what is said of it, and by whom.
func (r *row) why() styled.Line {
	line := styled.Line{{Text: inspect.Sanitize(r.event.Text)}}
	if r.event.Text == r.what() { // which the column before says
		line[0].Text = ""
	}
	if r.event.By != "" {
		if line[0].Text != "" {
			line[0].Text += " "
		}
		line = append(line, styled.Span{Text: "by " + inspect.Sanitize(r.event.By), Role: styled.Dim})
	}
	if r.event.Count > 0 {
		text := " (Event)"
		if r.event.Count > 1 {
			text = fmt.Sprintf(" (Event ×%d)", r.event.Count)
		}
		line = append(line, styled.Span{Text: text, Role: styled.Dim})
	}
	return line
}

// where is the node, or else the driver.
func (r *row) where() string {
	return cmp.Or(inspect.Sanitize(string(r.event.Node)), screen.ShortDriver(r.event.Driver))
}

// object is the name of what it happened to.
func (r *row) object() string { return r.event.Ref.Short() }

var columns = []listing.Column[row]{
	{
		Column: widget.Column{Title: "TIME", Rank: 2}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, r.when()) },
		Compare: func(a, b *row) int { return a.event.Time.Compare(b.event.Time) },
	},
	listing.AgeColumn("AGE", 0, func(r *row) screen.Age { return r.age }),
	{Column: widget.Column{Title: "WHAT"}, Cell: func(r *row) styled.Line { return styled.Text(roles[r.event.Kind], r.what()) }},
	{
		Column: widget.Column{Title: "OBJECT", Min: 24, Max: 56}, Cell: func(r *row) styled.Line {
			return styled.Line{{Text: r.event.Ref.Kind.Word() + " ", Role: styled.Dim}, {Text: r.object(), Role: styled.Name}}
		},
	},
	{Column: widget.Column{Title: "WHERE", Min: 6, Max: 32, Rank: 3}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, r.where()) }},
	{Column: widget.Column{Title: "WHY", Min: 20, Max: 160, Rank: 1}, Cell: func(r *row) styled.Line { return r.why() }},
}

var groupings = []listing.Grouping[row]{
	{Name: "kind", Of: func(r *row) string { return r.what() }},
	{Name: "namespace", Of: func(r *row) string { return inspect.Sanitize(r.event.Ref.Namespace) }},
	{Name: "object", Of: func(r *row) string { return r.event.Ref.Kind.Word() + " " + r.object() }},
}

// panel tells of a change what the table has no room for.
func (r *row) panel(width int) []styled.Line {
	field := func(name, text string) styled.Line {
		return styled.Line{{Text: "  " + styled.Pad(name, 7), Role: styled.Dim}, {Text: text}}
	}
	name := field(r.event.Ref.Kind.Word(), "")
	name[1] = screen.LinkTo(r.event.Ref, r.event.Ref.String())
	when := r.event.Time.Local().Format("2006-01-02 15:04:05") + ", " + r.age.String() + " ago"
	switch {
	case r.event.Seen && r.event.Told:
		when += ", seen and told"
	case r.event.Seen:
		when += ", seen"
	case r.event.Count > 0:
		when += ", told by an Event"
	default:
		when += ", told by the object"
	}
	if where := r.where(); where != "" {
		when += "; " + where
	}
	lines := []styled.Line{name, field("when", when)}
	why := r.why()
	if why.Width() == 0 {
		return lines
	}
	return append(lines, widget.Hang(field("why", "")[:1], styled.Wrap(why, styled.Wrapping{Width: max(20, width-10), Break: true}))...)
}
