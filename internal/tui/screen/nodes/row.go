package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// row is a node, or several that look alike.
type row struct {
	name  string // of the first
	count int    // of nodes
	// supposed says that the node is there only under a what-if.
	supposed bool
	// drivers have the devices that are tied to the node, sorted by name.
	drivers []panel
	// devices counts those that reach the node or are tied to it.
	devices inspect.DeviceCount
	// plugins are what device plugins have on the node, sorted by resource.
	plugins []offer
}

// panel is the devices of one driver on a node, in groups that belong together.
type panel struct {
	driver string
	place  string // the attribute that makes the groups, or "" if there is none
	groups []group
	count  inspect.DeviceCount
}

// group is devices with the same value of an attribute of place, such as the NUMA node.
type group struct {
	value string
	cells string // one character a device, as in cells
	free  int
}

// cell is how a device is drawn.
type cell struct {
	key   byte
	mark  string
	name  string
	role  styled.Role
	state inspect.DeviceState
}

var cells = []cell{
	{'a', "■", "used", styled.Used, inspect.DeviceAllocated},
	{'p', "◧", "shared", styled.Shared, inspect.DevicePartial},
	{'f', "□", "free", styled.Good, inspect.DeviceFree},
	{'b', "·", "blocked", styled.Dim, inspect.DeviceBlocked},
	{'t', "▨", "tainted", styled.Warn, inspect.DeviceTainted},
	{'u', "✗", "unreachable", styled.Bad, inspect.DeviceUnreachable},
}

func cellOf(state inspect.DeviceState) cell {
	return cells[max(0, slices.IndexFunc(cells, func(c cell) bool { return c.state == state }))]
}

// places are attributes that say where in a node a device is, the one that divides most first.
var places = []string{"numa", "numanode", "pcieroot"}

// placeOf returns where in its node a device is, with the name of the attribute that says so. Both are empty if none does.
func placeOf(d *inspect.DeviceStatus) (name, value string) {
	at := len(places)
	for attribute, a := range d.Device.Attributes {
		short := strings.ToLower(string(attribute))
		short = short[strings.LastIndexByte(short, '/')+1:]
		if i := slices.Index(places, short); i >= 0 && i < at {
			at, value = i, selector.PlainAttribute(&a)
		}
	}
	if at == len(places) {
		return "", ""
	}
	return places[at], value
}

func build(ctx context.Context, w *screen.World) ([]row, error) {
	statuses := w.Nodes()
	if w.Snapshot.NodesAssumed() && len(statuses) == 1 && statuses[0].Name == inspect.PseudoNode {
		return nil, nil
	}
	rows := make([]row, len(statuses))
	index := make(map[inspect.NodeName]int, len(statuses))
	for i, n := range statuses {
		rows[i] = row{name: string(n.Name), count: 1, devices: n.Devices, supposed: w.Supposes(n.Name)}
		index[n.Name] = i
	}
	devices := w.Devices() // sorted by driver first, so panels come in order
	tied := make([][]*inspect.DeviceStatus, len(rows))
	for i := range devices {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if at, ok := index[devices[i].Node]; ok {
			rows[at].add(&devices[i])
			tied[at] = append(tied[at], &devices[i])
		}
	}
	for i := range rows {
		rows[i].settle(w.Inventory(), tied[i])
	}
	addPlugins(w, rows, index)
	return rows, nil
}

func (r *row) add(d *inspect.DeviceStatus) {
	if n := len(r.drivers); n == 0 || r.drivers[n-1].driver != d.ID.Driver {
		r.drivers = append(r.drivers, panel{driver: d.ID.Driver})
	}
	p := &r.drivers[len(r.drivers)-1]
	place, value := placeOf(d)
	p.place = cmp.Or(p.place, place)
	at := slices.IndexFunc(p.groups, func(g group) bool { return g.value == value })
	if at < 0 {
		at = len(p.groups)
		p.groups = append(p.groups, group{value: value})
	}
	g := &p.groups[at]
	g.cells += string(cellOf(d.State).key)
	if d.State == inspect.DeviceFree {
		g.free++
	}
}

// settle puts groups in order and counts the devices that are tied to the node, which are sorted by driver.
func (r *row) settle(all *inspect.Inventory, tied []*inspect.DeviceStatus) {
	for i := range r.drivers {
		n := 0
		for n < len(tied) && tied[n].ID.Driver == r.drivers[i].driver {
			n++
		}
		r.drivers[i].count = all.Count(slices.Values(tied[:n]))
		tied = tied[n:]
		slices.SortFunc(r.drivers[i].groups, func(a, b group) int { return cmp.Compare(a.value, b.value) })
	}
}

// merge takes rows together that look alike, those of which there are most first.
func merge(rows []row) []row {
	at := map[string]int{}
	var kinds []row
	for _, r := range rows {
		look := r.look()
		if i, ok := at[look]; ok {
			kinds[i].count++
			continue
		}
		at[look] = len(kinds)
		kinds = append(kinds, r)
	}
	slices.SortStableFunc(kinds, func(a, b row) int { return cmp.Compare(b.count, a.count) })
	return kinds
}

// look is the same for nodes that are drawn in the same way; which devices of a group are taken does not
// matter, only how many.
func (r *row) look() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d %t", r.devices.Free, r.devices.Total, r.supposed)
	for _, p := range r.drivers {
		b.WriteString("|" + p.driver)
		var groups []string
		for _, g := range p.groups {
			states := []byte(g.cells)
			slices.Sort(states)
			groups = append(groups, string(states))
		}
		slices.Sort(groups)
		b.WriteString(" " + strings.Join(groups, " "))
	}
	fmt.Fprintf(&b, "|%v", r.plugins)
	return b.String()
}

// panelOf returns the devices of a driver.
func (r *row) panelOf(driver string) *panel {
	for i := range r.drivers {
		if r.drivers[i].driver == driver {
			return &r.drivers[i]
		}
	}
	return nil
}

// picture draws the devices of a driver, groups apart.
func (p *panel) picture() styled.Line {
	if p == nil {
		return nil
	}
	var line styled.Line
	for i, g := range p.groups {
		if i > 0 {
			line = append(line, styled.Span{Text: " "})
		}
		for from := 0; from < len(g.cells); {
			to := from
			for to < len(g.cells) && g.cells[to] == g.cells[from] {
				to++
			}
			c := cells[slices.IndexFunc(cells, func(c cell) bool { return c.key == g.cells[from] })]
			line = append(line, styled.Span{Text: strings.Repeat(c.mark, to-from), Role: c.role})
			from = to
		}
	}
	return line
}

// together is how many free devices one place has at most.
func (p *panel) together() int {
	most := 0
	for _, g := range p.groups {
		most = max(most, g.free)
	}
	return most
}

// stranded is how many free devices are in other places than most of them, although one place could have more.
func (p *panel) stranded() int {
	size := 0
	for _, g := range p.groups {
		size = max(size, len(g.cells))
	}
	return max(0, min(p.count.Free, size)-p.together())
}

// fragmented says how free devices are spread over places although one place could have more of them, as
// "2+2 by numa", or is "".
func (p *panel) fragmented() string {
	if p.stranded() == 0 {
		return ""
	}
	var parts []int
	for _, g := range p.groups {
		if g.free > 0 {
			parts = append(parts, g.free)
		}
	}
	slices.SortFunc(parts, func(a, b int) int { return b - a })
	texts := make([]string, 0, mostParts)
	for i, n := range parts {
		if i == mostParts {
			texts = append(texts, "…")
			break
		}
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, "+") + " by " + p.place
}

// mostParts is how many places a remark tells of.
const mostParts = 4

// stranded orders nodes by how fragmented they are.
func (r *row) stranded() int {
	n := 0
	for i := range r.drivers {
		n += r.drivers[i].stranded()
	}
	return n
}

func (r *row) remark() string {
	var parts []string
	for i := range r.drivers {
		p := &r.drivers[i]
		if c := p.count; c.AtOnce < c.Free {
			parts = append(parts, fmt.Sprintf("%s %d at once", screen.ShortDriver(p.driver), c.AtOnce))
		}
		if text := p.fragmented(); text != "" {
			parts = append(parts, screen.ShortDriver(p.driver)+" "+text)
		}
	}
	return strings.Join(parts, "; ")
}

// sentence says of the selected row what the picture shows, in words.
func (r *row) sentence() styled.Line {
	who := inspect.Sanitize(r.name)
	if r.count > 1 {
		who += fmt.Sprintf(" and %d more like it", r.count-1)
	}
	line := styled.Line{{Text: "  " + who, Role: styled.Name}, {Text: "  "}}
	own := 0
	for i := range r.drivers {
		p := &r.drivers[i]
		own += p.count.Total
		line = append(line, styled.Span{Text: screen.ShortDriver(p.driver) + " " + words.FreeOf(p.count)})
		if text := p.fragmented(); text != "" {
			line = append(line, styled.Span{Text: ", " + text, Role: styled.Warn})
		}
		line = append(line, styled.Span{Text: "  "})
	}
	for i := range r.plugins {
		line = append(line, styled.Span{Text: inspect.Sanitize(r.plugins[i].resource) + " " + r.plugins[i].numbers() + "  "})
	}
	if r.devices.Total > own {
		line = append(line, styled.Span{Text: fmt.Sprintf("%d shared with other nodes", r.devices.Total-own), Role: styled.Dim})
	}
	return line
}

// base are the columns that are always there; adapt puts those of the drivers between them.
var base = []listing.Column[row]{
	{Column: widget.Column{Title: "NODE", Min: 10, Max: 40}, Cell: nameCell},
	{Column: widget.Column{Title: "FREE", Right: true}, Cell: freeCell, Compare: func(a, b *row) int { return cmp.Compare(a.devices.Free, b.devices.Free) }, Amount: func(r *row) (float64, bool) { return float64(r.devices.Free), true }},
	{Column: widget.Column{Title: "REMARK", Min: 12, Max: 60, Rank: 9}, Cell: func(r *row) styled.Line { return styled.Text(styled.Warn, r.remark()) }, Compare: func(a, b *row) int { return cmp.Compare(a.stranded(), b.stranded()) }},
}

func nameCell(r *row) styled.Line {
	role := styled.Name
	if r.supposed {
		role = styled.Supposed
	}
	line := styled.Text(role, inspect.Sanitize(r.name))
	if r.count > 1 {
		line = append(line, styled.Span{Text: fmt.Sprintf(" +%d", r.count-1), Role: styled.Strong})
	}
	return line
}

func freeCell(r *row) styled.Line {
	role := styled.Good
	if r.devices.Free == 0 {
		role = styled.Dim
	}
	return styled.Text(role, fmt.Sprintf("%d/%d", r.devices.Free, r.devices.Total))
}

// adapt makes a column for each driver, those with most devices first.
func adapt(rows []row) []listing.Column[row] {
	count := map[string]int{}
	for i := range rows {
		for _, p := range rows[i].drivers {
			for _, g := range p.groups {
				count[p.driver] += len(g.cells)
			}
		}
	}
	drivers := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	wide := map[string]int{}
	for i := range rows {
		for j := range rows[i].drivers {
			p := &rows[i].drivers[j]
			wide[p.driver] = min(widestPicture, max(wide[p.driver], p.width()))
		}
	}
	columns := []listing.Column[row]{base[0]}
	for i, driver := range drivers {
		columns = append(columns, listing.Column[row]{
			Column:  widget.Column{Title: strings.ToUpper(screen.ShortDriver(driver)), Min: max(6, wide[driver]), Rank: 1 + i},
			Cell:    func(r *row) styled.Line { return r.panelOf(driver).picture() },
			Compare: func(a, b *row) int { return cmp.Compare(a.panelOf(driver).freeCount(), b.panelOf(driver).freeCount()) },
			Amount:  func(r *row) (float64, bool) { n := r.panelOf(driver).freeCount(); return float64(n), n >= 0 },
		})
	}
	return slices.Concat(columns, pluginColumns(rows), base[1:])
}

// widestPicture is how much of the devices of a driver is shown at least, if the column is shown.
const widestPicture = 24

// width is the number of columns of the picture.
func (p *panel) width() int {
	n := len(p.groups) - 1
	for _, g := range p.groups {
		n += len(g.cells)
	}
	return n
}

// freeCount is how many devices are free. It is -1 if the node has no devices at all.
func (p *panel) freeCount() int {
	if p == nil {
		return -1
	}
	return p.count.Free
}

var groupings = []listing.Grouping[row]{
	{Name: "free devices", Of: func(r *row) string {
		switch r.devices.Free {
		case 0:
			return "none free"
		case r.devices.Total:
			return "all free"
		}
		return "some free"
	}},
	{Name: "drivers", Of: func(r *row) string {
		var names []string
		for _, p := range r.drivers {
			names = append(names, screen.ShortDriver(p.driver))
		}
		return strings.Join(names, " ")
	}},
}
