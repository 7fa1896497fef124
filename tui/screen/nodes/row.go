package nodes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// row is a node, or several that look alike.
type row struct {
	name  string // of the first
	count int    // of nodes
	// supposed says that the node is there only under a what-if.
	supposed bool
	// drivers have the devices that are tied to the node, sorted by name.
	drivers []panel
	// lost says what is gone of drivers that have no other devices tied to the node.
	lost []string
	// devices counts those that reach the node or are tied to it.
	devices inspect.DeviceCount
	// plugins are what device plugins have on the node, sorted by resource.
	plugins []offer
	// node is nil if there is no Node object.
	node  *corev1.Node
	chart *chart
	// why is what keeps what the map is about from the node, if it is about anything.
	why string
}

// chart is what all rows have in common. It is not written after it was built.
type chart struct {
	all   *inspect.Inventory
	nodes int
	// tags are those with most devices first, and picked says that the user wants to see them, or none.
	tags   []*tag
	picked bool
	// states counts the devices that are drawn as a state, and names and remarks are how wide the longest
	// name and the longest remark are.
	states map[inspect.DeviceState]int
	// about is what the map was asked to be about, aim what it says of that, or nil, and usable how many of
	// the devices that are drawn it could use.
	about          screen.Ref
	aim            *aim
	usable         int
	names, remarks int
	// bands are the drivers with their widest pictures, those with most devices first; resources are those of
	// device plugins, those of which there are most first.
	bands     []band
	resources []string
}

// band is the devices of a driver on all nodes.
type band struct {
	driver string
	// widths are how many columns the widest picture takes, by the scale.
	widths [scales]int
}

// panel is the devices of one driver on a node, in groups that belong together.
type panel struct {
	driver string
	place  string // the attribute that makes the groups, or "" if there is none
	groups []group
	// devices are those of the first group, then those of the next; tags are theirs, each of which may be
	// nil. All are if marks show the state.
	devices []*inspect.DeviceStatus
	tags    []*tag
	// parts are, of partitions, how much each takes of what it is cut from. They are nil for other devices.
	parts []float64
	// fits says which of the devices could be used by what the map is about. It is nil if that is nothing.
	fits  []bool
	count inspect.DeviceCount
}

// group is devices with the same value of an attribute of place, such as the NUMA node.
type group struct{ size, free int }

// places are attributes that say where in a node a device is, the one that divides most first.
var places = []string{"numa", "numanode", "pcieroot"}

// counterPlace is the place of partitions.
const counterPlace = "counters"

// placeOf returns where in its node a device is, with the name of the attribute that says so. Both are empty
// if none does. Partitions are where the counters are that they draw on, which is most often a physical
// device.
func placeOf(d *inspect.DeviceStatus) (name, value string) {
	if consumed := d.Device.ConsumesCounters; len(consumed) > 0 {
		return counterPlace, consumed[0].CounterSet
	}
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

func build(ctx context.Context, w *screen.World, by meaning, picked bool, about screen.Ref) ([]row, error) {
	statuses := w.Nodes()
	if w.Snapshot.NodesAssumed() && len(statuses) == 1 && statuses[0].Name == inspect.PseudoNode {
		return nil, nil
	}
	rows := make([]row, len(statuses))
	index := make(map[inspect.NodeName]int, len(statuses))
	for i, n := range statuses {
		rows[i] = row{name: string(n.Name), count: 1, devices: n.Devices, supposed: w.Supposes(n.Name)}
		rows[i].node, _ = w.Snapshot.Node(n.Name)
		index[n.Name] = i
	}
	devices := w.Devices() // sorted by driver first, so panels come in order
	tied := make([][]*inspect.DeviceStatus, len(rows))
	for i := range devices {
		if i%1000 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if at, ok := index[devices[i].Node]; ok {
			tied[at] = append(tied[at], &devices[i])
		}
	}
	cuts := &cuts{all: w.Inventory(), totals: map[inspect.PoolID]map[[2]string]float64{}}
	for i := range rows {
		if !slices.IsSortedFunc(tied[i], compareDevices) {
			slices.SortStableFunc(tied[i], compareDevices)
		}
		rows[i].fill(w.Inventory(), cuts, tied[i], statuses[i].Drivers)
	}
	addPlugins(w, rows, index)
	slices.SortStableFunc(rows, func(a, b row) int { return words.CompareNames(a.name, b.name) })
	c := &chart{all: w.Inventory(), nodes: len(rows), tags: mark(rows, by, w), picked: picked, bands: bands(rows), resources: resources(rows), states: map[inspect.DeviceState]int{}}
	if c.about = about; about.Kind != screen.None {
		var err error
		if c.aim, err = newAim(ctx, w, about, rows); err != nil {
			return nil, err
		}
		if c.aim != nil {
			c.aim.mark(rows)
		}
	}
	for i := range rows {
		rows[i].chart = c
		c.names = max(c.names, nameCell(&rows[i]).Width())
		c.remarks = max(c.remarks, styled.Width(rows[i].remark()))
		for j := range rows[i].drivers {
			p := &rows[i].drivers[j]
			for k, d := range p.devices {
				c.states[d.State]++
				if p.fits != nil && p.fits[k] {
					c.usable++
				}
			}
		}
	}
	return rows, nil
}

// compareDevices puts the devices of a node in the order of their cells: gpu-2 before gpu-10, as who counts
// them expects.
func compareDevices(a, b *inspect.DeviceStatus) int {
	return cmp.Or(strings.Compare(a.ID.Driver, b.ID.Driver), words.CompareNames(a.ID.Pool, b.ID.Pool), words.CompareNames(a.ID.Device, b.ID.Device))
}

// bands returns the drivers that have devices on nodes.
func bands(rows []row) []band {
	at := map[string]int{}
	var out []band
	var count []int
	for i := range rows {
		for j := range rows[i].drivers {
			p := &rows[i].drivers[j]
			k, known := at[p.driver]
			if !known {
				k = len(out)
				at[p.driver], out, count = k, append(out, band{driver: p.driver}), append(count, 0)
			}
			count[k] += len(p.devices)
			for scale := range out[k].widths {
				out[k].widths[scale] = max(out[k].widths[scale], p.width(scale))
			}
		}
	}
	slices.SortFunc(out, func(a, b band) int {
		return cmp.Or(cmp.Compare(count[at[b.driver]], count[at[a.driver]]), strings.Compare(a.driver, b.driver))
	})
	return out
}

// fill adds the devices that are tied to the node, which are sorted by driver.
func (r *row) fill(all *inspect.Inventory, cuts *cuts, tied []*inspect.DeviceStatus, drivers map[string]inspect.DeviceCount) {
	for len(tied) > 0 {
		n := 1
		for n < len(tied) && tied[n].ID.Driver == tied[0].ID.Driver {
			n++
		}
		r.drivers = append(r.drivers, panelWith(all, cuts, tied[:n], drivers[tied[0].ID.Driver].Gone))
		tied = tied[n:]
	}
	for _, driver := range slices.Sorted(maps.Keys(drivers)) {
		if c := drivers[driver]; c.Gone > 0 && r.panelOf(driver) == nil {
			r.lost = append(r.lost, fmt.Sprintf("%s: %s", screen.ShortDriver(driver), words.Unusable(c)))
		}
	}
}

// panelWith puts devices of a driver into groups.
func panelWith(all *inspect.Inventory, cuts *cuts, devices []*inspect.DeviceStatus, gone int) panel {
	p := panel{driver: devices[0].ID.Driver, count: all.Count(slices.Values(devices)), tags: make([]*tag, len(devices))}
	p.count.Gone = gone
	type placed struct {
		value  string
		device *inspect.DeviceStatus
	}
	sorted := make([]placed, len(devices))
	for i, d := range devices {
		place, value := placeOf(d)
		p.place, sorted[i] = cmp.Or(p.place, place), placed{value, d}
	}
	slices.SortStableFunc(sorted, func(a, b placed) int { return cmp.Compare(a.value, b.value) })
	for i, d := range sorted {
		if i == 0 || d.value != sorted[i-1].value {
			p.groups = append(p.groups, group{})
		}
		g := &p.groups[len(p.groups)-1]
		if g.size++; d.device.State == inspect.DeviceFree {
			g.free++
		}
		p.devices = append(p.devices, d.device)
	}
	if p.place == counterPlace {
		p.parts = cuts.of(p.devices)
	}
	return p
}

// merge takes rows together that look alike, those of which there are most first.
func merge(rows []row, label string) []row {
	at := map[string]int{}
	var kinds []row
	for _, r := range rows {
		look := r.look() + "|" + r.label(func(key string) bool { return key == label })
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
	fmt.Fprintf(&b, "%d/%d %t %v", r.devices.Free, r.devices.Total, r.supposed, r.lost)
	b.WriteString(r.why)
	for i := range r.drivers {
		p := &r.drivers[i]
		fmt.Fprintf(&b, "|%s %d", p.driver, p.count.Gone)
		var groups []string
		at := 0
		for _, g := range p.groups {
			var names []string
			for end := at + g.size; at < end; at++ {
				if t := p.tags[at]; t != nil && r.chart.picked {
					names = append(names, t.name)
				} else {
					names = append(names, string(p.devices[at].State))
				}
				if p.fits != nil && p.fits[at] {
					names[len(names)-1] += usable
				}
			}
			slices.Sort(names)
			groups = append(groups, strings.Join(names, ","))
		}
		slices.Sort(groups)
		b.WriteString(" " + strings.Join(groups, " "))
	}
	fmt.Fprintf(&b, "|%v", r.plugins)
	for _, g := range groupings { // a row that stands for several nodes must be in one group
		b.WriteString("|" + g.Of(r))
	}
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

// together is how many free devices one place has at most.
func (p *panel) together() int {
	most := 0
	for _, g := range p.groups {
		most = max(most, g.free)
	}
	return most
}

// stranded is how many free devices are in other places than most of them, although one place could have
// more. Of partitions that says nothing: they overlap.
func (p *panel) stranded() int {
	if p.place == counterPlace {
		return 0
	}
	size := 0
	for _, g := range p.groups {
		size = max(size, g.size)
	}
	return max(0, min(p.count.Free, size)-p.together())
}

// fragmented says how free devices are spread over places although one place could have more of them, in the
// order in which they are drawn, as "2+2 by numa", or is "". Of many places those without are left out.
func (p *panel) fragmented() string {
	if p.stranded() == 0 {
		return ""
	}
	var texts []string
	for _, g := range p.groups {
		if g.free > 0 || len(p.groups) <= mostParts {
			texts = append(texts, strconv.Itoa(g.free))
		}
	}
	if len(texts) > mostParts {
		texts = append(texts[:mostParts], "…")
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

// kept says how many devices nobody has and nobody can get, as "7 tainted", or is "". A node of which all is
// tainted is not full. Which partitions are blocked is seen in the picture.
func (p *panel) kept() string {
	return words.Unusable(inspect.DeviceCount{Tainted: p.count.Tainted, Unreachable: p.count.Unreachable, Gone: p.count.Gone})
}

// drawn counts the devices that are drawn as a state.
func (p *panel) drawn(state inspect.DeviceState) int {
	switch state { // of those that claims hold, some are drawn so too, but they count as used
	case inspect.DeviceTainted:
		return p.count.Tainted
	case inspect.DeviceUnreachable:
		return p.count.Unreachable
	case inspect.DevicePartial:
		return p.count.Used - p.drawn(inspect.DeviceAllocated)
	}
	n := 0
	for _, d := range p.devices {
		if d.State == state {
			n++
		}
	}
	return n
}

func (r *row) remark() string {
	if r.why != "" {
		return r.why
	}
	var parts []string
	for i := range r.drivers {
		p := &r.drivers[i]
		if c := p.count; c.AtOnce < c.Free {
			parts = append(parts, fmt.Sprintf("%s %d at once", screen.ShortDriver(p.driver), c.AtOnce))
		}
		if text := p.fragmented(); text != "" {
			parts = append(parts, screen.ShortDriver(p.driver)+" "+text)
		}
		if text := p.kept(); text != "" {
			parts = append(parts, screen.ShortDriver(p.driver)+": "+text) // "gpu 1 tainted" would name a device
		}
	}
	return strings.Join(append(parts, r.lost...), "; ")
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

// freeCount is how many devices are free. It is -1 if the node has no devices at all.
func (p *panel) freeCount() int {
	if p == nil {
		return -1
	}
	return p.count.Free
}
