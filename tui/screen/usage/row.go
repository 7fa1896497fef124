package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a user of devices. Its texts are not safe to show.
type row struct {
	*usage.Row
	report *usage.Report
	ref    screen.Ref
	place  int // from 1, the largest first
	// idle and refused are for how long.
	idle, refused screen.Age
	// atLeast says that idle is only for how long the program has watched.
	atLeast bool
	// queued says that there are queues of Kueue to count by. quotas are those of the row.
	queued bool
	quotas []explain.Quota
}

// builder counts by something.
func builder(by usage.By) func(context.Context, *screen.World) ([]row, error) {
	return func(_ context.Context, w *screen.World) ([]row, error) {
		counts := func(c *resourcev1.ResourceClaim) bool { return w.InNamespace(c.Namespace) }
		if w.Namespace == "" {
			counts = nil
		}
		var report *usage.Report
		var quotas map[string][]explain.Quota
		if by == usage.Queue || by == usage.Cohort {
			u := admission.UsageOf(w.Snapshot, w.Inventory(), by, counts)
			report, quotas = u.Report, u.Quotas
		} else {
			report = usage.Of(w.Snapshot, w.Inventory(), by, counts)
		}
		queued := admission.Here(w.Snapshot)
		rows := make([]row, len(report.Rows))
		for i := range report.Rows {
			u := &report.Rows[i]
			rows[i] = row{Row: u, report: report, ref: refOf(by, u), place: i + 1, refused: w.Age(u.RefusedSince), queued: queued, quotas: quotas[u.Name]}
			rows[i].findIdle(w)
		}
		return rows, nil
	}
}

// findIdle sets the longest idle time of the claims. Where no object tells it, it is at least as long as
// the program has watched.
func (r *row) findIdle(w *screen.World) {
	for i := range r.Claims {
		if r.Claims[i].State != usage.Idle {
			continue
		}
		if age, atLeast := idleFor(w, &r.Claims[i]); age.Length() > r.idle.Length() {
			r.idle, r.atLeast = age, atLeast
		}
	}
}

// idleFor is for how long a claim is idle, or at least so long.
func idleFor(w *screen.World, c *usage.Claim) (age screen.Age, atLeast bool) {
	if !c.Since.IsZero() {
		return w.Age(c.Since), false
	}
	if at := w.History.IdleSince(screen.Ref{Kind: screen.Claim, Namespace: c.Ref.Namespace, Name: c.Ref.Name}); !at.IsZero() {
		return w.Age(at), false
	}
	if start := w.History.Start(); !start.IsZero() && w.Now.Sub(start) >= time.Second {
		return w.Age(start), true
	}
	return screen.Age{}, false
}

// refOf is what keys such as Enter are about. A workload of which there is no page stands for its claim that
// needs a look most.
func refOf(by usage.By, u *usage.Row) screen.Ref {
	switch {
	case by == usage.Namespace:
		return screen.Ref{Kind: screen.Namespace, Name: u.Namespace}
	case by == usage.Class && u.Name != "":
		return screen.Ref{Kind: screen.Class, Name: u.Name}
	case by == usage.Driver && u.Name != "":
		return screen.Ref{Kind: screen.Driver, Name: u.Name}
	case by == usage.Queue && u.Name != "":
		return screen.Ref{Kind: screen.ClusterQueue, Name: u.Name}
	case by == usage.Workload && u.Kind == "Pod":
		return screen.Ref{Kind: screen.Pod, Namespace: u.Namespace, Name: u.Name}
	case len(u.Claims) == 0:
		return screen.Ref{}
	}
	return claimRef(&u.Claims[0])
}

func claimRef(c *usage.Claim) screen.Ref {
	return screen.Ref{Kind: screen.Claim, Namespace: c.Ref.Namespace, Name: c.Ref.Name}
}

// title is what the row is about.
func (r *row) title() styled.Line {
	name, what := r.Name, ""
	switch r.report.By {
	case usage.Namespace:
		name = r.Namespace
	case usage.Class:
		name = cmp.Or(r.Name, "a request that is gone")
	case usage.Queue, usage.Cohort:
		name = cmp.Or(r.Name, "no "+string(r.report.By))
	case usage.Workload:
		name, what = r.Namespace+"/"+r.Name, r.Kind
	case usage.Driver:
		name, what = cmp.Or(r.Name, "not allocated"), r.Model
		if r.Name != "" {
			name = screen.ShortDriver(r.Name)
		}
	}
	line := styled.Line{{Text: inspect.Sanitize(name), Role: styled.Name}}
	if what != "" {
		line = append(line, styled.Span{Text: " " + inspect.Sanitize(what), Role: styled.Dim})
	}
	return line
}

// rank says how large the row is.
func (r *row) rank() string {
	return fmt.Sprintf("%d of %d, %d of %d held devices", r.place, len(r.report.Rows), r.Devices, r.report.Total.Devices)
}

// mostExtra is how many claims filters see of a row at most.
const mostExtra = 200

// extra is what filters see besides the columns: claims, and full names.
func (r *row) extra() string {
	var b strings.Builder
	b.WriteString(r.Kind + "/" + r.Name)
	for _, d := range r.Drivers {
		b.WriteString("\n" + d.Driver)
	}
	for i := range r.Claims[:min(len(r.Claims), mostExtra)] {
		b.WriteString("\n" + r.Claims[i].Ref.String())
	}
	return b.String()
}

const barWidth = 10

// columnsFor are the columns of rows by something.
func columnsFor(by usage.By) []listing.Column[row] {
	out := slices.Clone(columns)
	out[0].Title = strings.ToUpper(string(by))
	return out
}

var columns = []listing.Column[row]{
	{Column: widget.Column{Min: 16, Max: 56}, Cell: func(r *row) styled.Line { return r.title() }},
	listing.NumberColumn("HELD", 0, func(r *row) int { return r.Devices }, func(r *row) styled.Line { return count(r.Devices, styled.Plain) }),
	{
		Column: widget.Column{Title: "OF ALL HELD", Short: "", Rank: 3}, Cell: shareCell,
		Text: func(*row) string { return "" }, Compare: func(a, b *row) int { return cmp.Compare(a.Devices, b.Devices) },
	},
	{Column: widget.Column{Title: "DRIVERS", Min: 12, Max: 48, Rank: 1}, Cell: driversCell},
	{
		Column: widget.Column{Title: "IDLE"}, Cell: func(r *row) styled.Line { return troubled(r.Idle, r.idle, r.atLeast, styled.Warn) },
		Compare: func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.Idle, b.Idle), cmp.Compare(a.idle.Length(), b.idle.Length()))
		},
		Amount: func(r *row) (float64, bool) { return float64(r.Idle), true },
	},
	{
		Column: widget.Column{Title: "REFUSED"}, Cell: func(r *row) styled.Line { return troubled(r.Refused, r.refused, false, styled.Bad) },
		Compare: func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.Refused, b.Refused), cmp.Compare(a.refused.Length(), b.refused.Length()))
		},
		Amount: func(r *row) (float64, bool) { return float64(r.Refused), true },
	},
	listing.NumberColumn("WANTED", 2, func(r *row) int { return r.Wanted }, func(r *row) styled.Line { return count(r.Wanted, styled.Plain) }),
	{Column: widget.Column{Title: "AS", Max: 48, Rank: 5}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, r.kinds()) }},
	listing.NumberColumn("CLAIMS", 4, func(r *row) int { return len(r.Claims) }, func(r *row) styled.Line { return count(len(r.Claims), styled.Dim) }),
}

// count is a number, and nothing to see where there is none.
func count(n int, role styled.Role) styled.Line {
	if n == 0 {
		return styled.Text(styled.Dim, "–")
	}
	return styled.Text(role, strconv.Itoa(n))
}

// troubled is a number of things and for how long some claims have been so, as "2 for 14h".
func troubled(n int, age screen.Age, atLeast bool, role styled.Role) styled.Line {
	if n == 0 {
		return styled.Text(styled.Dim, "–")
	}
	return styled.Line{{Text: strconv.Itoa(n), Role: role}, {Text: forText(age, atLeast), Role: styled.Plain}}
}

// forText is " for 14h", " for at least 14h" shortened, or nothing if that is not known.
func forText(age screen.Age, atLeast bool) string {
	switch {
	case age.Length() < 0:
		return ""
	case atLeast:
		return " for ≥" + age.String()
	}
	return " for " + age.String()
}

// shareCell is the part of all held devices.
func shareCell(r *row) styled.Line {
	if r.Devices == 0 {
		return nil
	}
	share := float64(r.Devices) / float64(max(1, r.report.Total.Devices))
	return append(widget.Bar(share, barWidth, styled.Used), styled.Span{Text: fmt.Sprintf(" %3.0f%%", 100*share)})
}

func driversCell(r *row) styled.Line {
	parts := words.Each(r.Drivers, func(d usage.DriverAmount) string {
		return fmt.Sprintf("%s %d", screen.ShortDriver(d.Driver), d.Devices)
	})
	return listing.OrDash(strings.Join(parts, ", "))
}

// kinds says how the devices are held, as "16 whole, 3 shared (1.95), 7 partitions".
func (r *row) kinds() string {
	var parts []string
	if r.Whole > 0 {
		parts = append(parts, fmt.Sprintf("%d whole", r.Whole))
	}
	if r.Shared > 0 {
		parts = append(parts, fmt.Sprintf("%.2f of %d shared", r.Shares, r.Shared))
	}
	if r.Partitions > 0 {
		parts = append(parts, words.Count(r.Partitions, "partition"))
	}
	if r.Gone > 0 {
		parts = append(parts, fmt.Sprintf("%d gone", r.Gone))
	}
	return strings.Join(parts, ", ")
}
