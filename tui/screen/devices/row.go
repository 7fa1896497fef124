package devices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// row is a device. Its texts are made when they are drawn: there may be very many devices.
type row struct {
	ref    screen.Ref
	status *inspect.DeviceStatus
	pool   *inspect.PoolStatus
	// all is what the device is one of.
	all *inspect.Inventory
}

func build(ctx context.Context, w *screen.World) ([]row, error) {
	all := w.Inventory()
	n := 0
	for _, stock := range all.Stocks {
		n += len(stock.Devices)
	}
	rows := make([]row, 0, n)
	for _, stock := range all.Stocks {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for i := range stock.Devices {
			d := &stock.Devices[i]
			rows = append(rows, row{ref: screen.DeviceRef(d.ID), status: d, pool: &stock.Pool, all: all})
		}
		if of := rows[len(rows)-len(stock.Devices):]; !slices.IsSortedFunc(of, compareNames) {
			slices.SortStableFunc(of, compareNames)
		}
	}
	return rows, nil
}

// compareNames puts gpu-2 before gpu-10.
func compareNames(a, b row) int { return words.CompareNames(a.status.ID.Device, b.status.ID.Device) }

var columns = []listing.Column[row]{
	{Column: widget.Column{Title: "DEVICE", Min: 16, Max: 40}, Cell: func(r *row) styled.Line { return styled.Text(styled.Name, inspect.Sanitize(r.status.ID.Device)) }},
	{Column: widget.Column{Title: "POOL", Min: 8, Max: 40, Rank: 2}, ToldBy: []string{"pool"}, Cell: func(r *row) styled.Line { return styled.Text(styled.Plain, inspect.Sanitize(r.status.ID.Pool)) }},
	{Column: widget.Column{Title: "DRIVER", Min: 6, Max: 16, Rank: 5}, ToldBy: []string{"pool", "driver"}, Cell: func(r *row) styled.Line { return styled.Text(styled.Dim, screen.ShortDriver(r.status.ID.Driver)) }, Text: func(r *row) string { return r.status.ID.Driver }},
	{Column: widget.Column{Title: "NODE", Min: 8, Max: 32, Rank: 6}, ToldBy: []string{"node"}, Cell: func(r *row) styled.Line { return listing.OrDash(inspect.Sanitize(string(r.status.Node))) }, Text: func(r *row) string { return string(r.status.Node) }},
	{Column: widget.Column{Title: "MODEL", Min: 14, Max: 28, Rank: 3}, ToldBy: []string{"model"}, Cell: func(r *row) styled.Line { return listing.OrDash(inspect.Sanitize(inspect.ModelOf(r.status.Device))) }},
	{Column: widget.Column{Title: "STATE"}, Cell: stateCell, Compare: func(a, b *row) int { return cmp.Compare(rank(a.status.State), rank(b.status.State)) }},
	{Column: widget.Column{Title: "USED", Rank: 4, Min: 8, Max: 24}, Cell: usedCell},
	{Column: widget.Column{Title: "HOLDER", Min: 22, Max: 80, Rank: 1}, Cell: holderCell},
}

func stateCell(r *row) styled.Line {
	look := screen.LookOf(r.status.State)
	return styled.Text(look.Role, look.Mark+" "+strings.ToLower(string(r.status.State)))
}

func rank(s inspect.DeviceState) int {
	return slices.Index([]inspect.DeviceState{inspect.DeviceFree, inspect.DevicePartial, inspect.DeviceAllocated, inspect.DeviceBlocked, inspect.DeviceTainted, inspect.DeviceUnreachable}, s)
}

// usedCell is a bar of the capacity that is used up most.
func usedCell(r *row) styled.Line {
	best, name := -1.0, resourcev1.QualifiedName("")
	for n := range r.status.Used {
		if share := screen.ShareUsed(r.status, n); share > best || share == best && share >= 0 && n < name {
			best, name = share, n
		}
	}
	if best < 0 {
		return nil
	}
	used, total := r.status.Used[name], r.status.Device.Capacity[name].Value
	return append(widget.Bar(best, 8, styled.Shared), styled.Span{Text: fmt.Sprintf(" %s/%s", used.String(), total.String())})
}

// holderCell is who holds the device, and otherwise why it cannot be had.
func holderCell(r *row) styled.Line {
	line := r.holders(func(h inspect.Holder) string { return inspect.Sanitize(h.Claim.String()) })
	for i := range r.status.Device.Taints {
		line = append(line, styled.Span{Text: sep(line) + inspect.Sanitize(words.FormatTaint(&r.status.Device.Taints[i])), Role: styled.Warn})
	}
	if r.status.Note != "" {
		line = append(line, styled.Span{Text: sep(line) + inspect.Sanitize(r.status.Note), Role: styled.Dim})
	}
	if line == nil {
		return styled.Text(styled.Dim, "–")
	}
	return line
}

// holders lists who holds the device; those with admin access, who take nothing from others, come last.
func (r *row) holders(name func(inspect.Holder) string) styled.Line {
	all := slices.Clone(r.status.Holders)
	slices.SortStableFunc(all, func(a, b inspect.Holder) int { return words.Btoi(a.Admin()) - words.Btoi(b.Admin()) })
	var line styled.Line
	for _, h := range all {
		text := sep(line) + name(h)
		if h.Admin() {
			text += " (admin)"
		}
		line = append(line, styled.Span{Text: text})
	}
	return line
}

// panel says of the selected device what has no room in its row: which it is, and who has it, with pods.
func (r *row) panel(w *screen.World) []styled.Line {
	id := r.status.ID
	first := styled.Line{{Text: "  " + inspect.Sanitize(id.String()), Role: styled.Name}}
	if node := string(r.status.Node); node != "" && node != id.Pool {
		first = append(first, styled.Span{Text: "  on " + inspect.Sanitize(node)})
	}
	if m := inspect.ModelOf(r.status.Device); m != "" {
		first = append(first, styled.Span{Text: "  " + inspect.Sanitize(m)})
	}
	first = append(first, styled.Span{Text: "  "})
	first = append(first, stateCell(r)...)
	held := r.holders(func(h inspect.Holder) string { return holderText(w, h) })
	if held != nil {
		held = append(styled.Line{{Text: "  held by ", Role: styled.Dim}}, held...)
	}
	for i := range r.status.Device.Taints {
		held = append(held, styled.Span{Text: "  taint " + inspect.Sanitize(screen.TaintText(w.AsItIs(), r.status.ID, &r.status.Device.Taints[i])), Role: styled.Warn})
	}
	if r.status.Note != "" {
		held = append(held, styled.Span{Text: "  " + inspect.Sanitize(r.status.Note), Role: styled.Dim})
	}
	if held == nil {
		held = styled.Text(styled.Dim, "  nobody holds it")
	}
	return []styled.Line{first, held}
}

// holderText is a claim, since when it has the device, and the pods that use it.
func holderText(w *screen.World, h inspect.Holder) string {
	text := inspect.Sanitize(h.Claim.String()) + screen.HeldFor(w, h.Claim)
	for i, pod := range w.Snapshot.PodsOf(h.Claim) {
		if i == 0 {
			text += ", pod"
		}
		text += " " + inspect.Sanitize(pod.Name)
	}
	return text
}

func sep(line styled.Line) string {
	if len(line) == 0 {
		return ""
	}
	return ", "
}

// extra is what filters see besides the columns: attributes, as name=value.
func (r *row) extra() string {
	var b strings.Builder
	for name, a := range r.status.Device.Attributes {
		b.WriteString(string(name) + "=" + selector.PlainAttribute(&a) + "\n")
	}
	return b.String()
}

var groupings = []listing.Grouping[row]{
	{Name: "pool", Of: func(r *row) string { return r.status.ID.PoolID().String() }, Heading: heading},
	{Name: "node", Of: func(r *row) string { return string(r.status.Node) }, Heading: heading},
	{Name: "driver", Of: func(r *row) string { return r.status.ID.Driver }, Heading: heading},
	{Name: "model", Of: func(r *row) string { return inspect.ModelOf(r.status.Device) }, Heading: heading},
	{Name: "counters", Of: (*row).set, Heading: setHeading},
	{Name: "state", Of: func(r *row) string { return strings.ToLower(string(r.status.State)) }, Heading: heading},
}

// widestGroup is how many columns the name of a group takes at most, so that what is free of it is in sight.
const widestGroup = 56

// heading sums up a group: how much of it is free.
func heading(group string, rows []*row) styled.Line {
	count := rows[0].all.Count(func(yield func(*inspect.DeviceStatus) bool) {
		for _, r := range rows {
			if !yield(r.status) {
				return
			}
		}
	})
	if group == "" {
		group = "none"
	}
	line := styled.Line{{Text: styled.Cut(inspect.Sanitize(group), widestGroup) + "  ", Role: styled.Strong}}
	line = append(line, widget.CountBar(count.Used, count.Unusable(), count.Total, 10)...)
	return append(line, styled.Span{Text: "  " + words.FreeOf(count), Role: styled.Dim})
}
