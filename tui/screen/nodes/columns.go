package nodes

import (
	"cmp"
	"strings"
	"sync/atomic"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// spot is the cell under the cursor: a device of a driver on a node. It is read by work in the background
// too, so it is replaced and never written.
type spot struct {
	node, driver string
	at           int
}

// chosen is the number of the device under the cursor among those of a driver on a node, or -1.
func (s *spot) chosen(r *row, driver string) int {
	if s == nil || s.node != r.name || s.driver != driver {
		return -1
	}
	return s.at
}

// width is how many columns the widest picture of a band takes, with room for brackets.
func (b *band) width() int {
	return max(styled.Width(b.title())+2, b.cells+b.groups-1+len("[]")) // with the mark of the sort order
}

// title is that of the column.
func (b *band) title() string { return strings.ToUpper(screen.ShortDriver(b.driver)) }

// base are the columns that are always there; those of the drivers come between them.
var base = []listing.Column[row]{
	{Column: widget.Column{Title: "NODE", Min: 10, Max: 40}, Cell: nameCell},
	{Column: widget.Column{Title: "FREE", Right: true}, Cell: freeCell, Compare: func(a, b *row) int { return cmp.Compare(a.devices.Free, b.devices.Free) }, Amount: func(r *row) (float64, bool) { return float64(r.devices.Free), true }},
	{Column: widget.Column{Title: "REMARK", Min: 12, Max: 60, Rank: 9}, Cell: func(r *row) styled.Line { return styled.Text(styled.Warn, r.remark()) }, Compare: func(a, b *row) int { return cmp.Compare(a.stranded(), b.stranded()) }},
}

// adapter returns how columns are chosen: one for each driver, those with most devices first, then those of
// device plugins.
func adapter(cursor *atomic.Pointer[spot]) func(rows []row) []listing.Column[row] {
	return func(rows []row) []listing.Column[row] {
		if len(rows) == 0 {
			return base
		}
		c := rows[0].chart
		columns := []listing.Column[row]{base[0]}
		for i := range c.bands {
			columns = append(columns, driverColumn(&c.bands[i], i, cursor))
		}
		return append(append(columns, pluginColumns(c.resources)...), base[1:]...)
	}
}

// widestPicture is how much of the devices of a driver is shown at least, if the column is shown.
const widestPicture = 24

func driverColumn(b *band, number int, cursor *atomic.Pointer[spot]) listing.Column[row] {
	driver, room := b.driver, b.width()
	return listing.Column[row]{
		Column: widget.Column{Title: b.title(), Min: max(6, min(widestPicture, room)), Rank: 1 + number},
		Cell: func(r *row) styled.Line {
			line := r.panelOf(driver).picture(cursor.Load().chosen(r, driver))
			return append(line, styled.Span{Text: styled.Blanks(room - line.Width())})
		},
		Text:    func(*row) string { return "" }, // marks are nothing to look for, and letters would be found everywhere
		Compare: func(a, b *row) int { return cmp.Compare(a.panelOf(driver).freeCount(), b.panelOf(driver).freeCount()) },
		Amount:  func(r *row) (float64, bool) { n := r.panelOf(driver).freeCount(); return float64(n), n >= 0 },
	}
}

// driverAt returns the driver of a column, or "".
func (c *chart) driverAt(column int) string {
	if column < 1 || column > len(c.bands) {
		return ""
	}
	return c.bands[column-1].driver
}

// attributes of nodes that say where a node is.
const (
	zoneLabel = "topology.kubernetes.io/zone"
	rackWord  = "rack"
)

// labels are those of the node, as filters see them.
func (r *row) labels() string {
	if r.node == nil {
		return ""
	}
	var b strings.Builder
	for key, value := range r.node.Labels {
		b.WriteString(key + "=" + value + "\n")
	}
	return b.String()
}

// label returns the value of the first label whose key, in order, is wanted.
func (r *row) label(wanted func(key string) bool) string {
	if r.node == nil {
		return ""
	}
	best, found := "", false
	for key := range r.node.Labels {
		if wanted(key) && (!found || key < best) {
			best, found = key, true
		}
	}
	return inspect.Sanitize(r.node.Labels[best])
}
