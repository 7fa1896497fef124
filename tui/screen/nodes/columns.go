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

// spot is the cell under the cursor, a device of a driver on a node, and how large the picture is. It is read
// by work in the background too, so it is replaced and never written.
type spot struct {
	node, driver string
	at           int
	// scale has the scale of each band. There are none on a narrow screen.
	scale []int
}

// drawing is how the devices of a band are drawn on a row.
func (s *spot) drawing(r *row, number int) drawing {
	how := drawing{chosen: -1, tags: r.chart.picked}
	if s == nil {
		return how
	}
	if s.node == r.name && s.driver == r.chart.bands[number].driver {
		how.chosen = s.at
	}
	if number < len(s.scale) {
		how.scale, how.wide, how.names = s.scale[number], true, r.count == 1 // those that look alike are of many
		how.tags = how.tags || how.names
	}
	return how
}

// width is how many columns the widest picture of a band takes on a scale, with room for brackets.
func (b *band) width(scale int) int {
	return max(styled.Width(b.title())+2, b.widths[scale]+len("[]")) // with the mark of the sort order
}

// sized is how many columns the picture of a band takes as it is drawn now, and how many it needs at least:
// what has names in it is not cut.
func (s *spot) sized(b *band, number int) (natural, least int) {
	if s == nil || number >= len(s.scale) || s.scale[number] == 0 {
		natural = b.width(0)
		return natural, min(widestPicture, natural)
	}
	natural = b.width(s.scale[number])
	return natural, natural
}

// title is that of the column.
func (b *band) title() string { return strings.ToUpper(screen.ShortDriver(b.driver)) }

// base are the columns that are always there; those of the drivers come between them.
var base = []listing.Column[row]{
	{Column: widget.Column{Title: "NODE", Min: 10, Max: 40}, Cell: nameCell},
	{Column: widget.Column{Title: "FREE", Right: true}, Cell: freeCell, Compare: func(a, b *row) int { return cmp.Compare(a.devices.Free, b.devices.Free) }, Amount: func(r *row) (float64, bool) { return float64(r.devices.Free), true }},
	{Column: widget.Column{Title: "REMARK", Min: 12, Max: widestRemark, Rank: 9}, Cell: func(r *row) styled.Line { return styled.Text(styled.Warn, r.remark()) }, Compare: func(a, b *row) int { return cmp.Compare(a.stranded(), b.stranded()) }},
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
	driver := b.driver
	return listing.Column[row]{
		Column: widget.Column{Title: b.title(), Rank: 1 + number, Sized: func() (natural, least int) { return cursor.Load().sized(b, number) }},
		Cell: func(r *row) styled.Line {
			at := cursor.Load()
			line := r.panelOf(driver).picture(at.drawing(r, number))
			natural, _ := at.sized(b, number)
			return append(line, styled.Span{Text: styled.Blanks(natural - line.Width())})
		},
		Text:    func(*row) string { return "" }, // marks are nothing to look for, and letters would be found everywhere
		Compare: func(a, b *row) int { return cmp.Compare(a.panelOf(driver).freeCount(), b.panelOf(driver).freeCount()) },
		Amount:  func(r *row) (float64, bool) { n := r.panelOf(driver).freeCount(); return float64(n), n >= 0 },
	}
}

// leastMap is how wide a screen is at least on which cells are larger than a mark, and leastRemark what is
// left to remarks there. On one of leastWhyWide they have leastWhy where they say what is in the way.
const leastMap, leastRemark, leastWhyWide, leastWhy = 120, 16, 190, 32

// widestRemark is how wide the column of remarks becomes.
const widestRemark = 60

// readable is the first scale on which devices have room for some letters of a name.
const readable = 2

// slack is how many columns the remarks may be cut by, so that pictures are larger. They stay as wide as the
// names of nodes, for what is missing is taken from the widest column.
func (c *chart) slack(width int) int {
	least := max(leastRemark, c.names)
	if c.aim != nil && width >= leastWhyWide {
		least = max(least, leastWhy)
	}
	return max(0, min(c.remarks, widestRemark)-least)
}

// fitted returns the scales of the bands for so many columns: first the largest bands are made as large as
// names need to be read, then all of them larger.
func (c *chart) fitted(room int) []int {
	out := make([]int, len(c.bands))
	for i := range c.bands {
		room -= c.bands[i].width(0)
	}
	for least := readable; least < scales; least++ {
		for i := range c.bands {
			b := &c.bands[i]
			for ; out[i] < least && b.width(out[i]+1)-b.width(out[i]) <= room; out[i]++ {
				room -= b.width(out[i]+1) - b.width(out[i])
			}
		}
	}
	return out
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
