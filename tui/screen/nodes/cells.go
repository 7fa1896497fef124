package nodes

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

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

// narrow is the width of a cell that is only a mark. Wider ones tell behind it who holds the device.
const narrow = 1

// tile is a piece of the picture of a driver's devices.
type tile struct {
	text string
	role styled.Role
	at   int // the number of the device in the panel, or -1
}

// tiles draw the devices of a driver, groups apart. Cells are wide columns, and the one with the number chosen, or none if
// that is -1, is put into brackets.
func (p *panel) tiles(wide, chosen int) []tile {
	if p == nil {
		return nil
	}
	var out []tile
	between := func(text string) {
		role := styled.Accent
		if text == " " {
			role = styled.Plain
		}
		out = append(out, tile{text, role, -1})
	}
	at := 0
	for i := range p.groups {
		g := &p.groups[i]
		for k := range g.cells {
			switch {
			case wide == narrow && at == chosen:
				between("[")
			case wide > narrow:
				between(bracket(at, chosen))
			}
			text, role := p.cell(g, k, wide)
			out = append(out, tile{text, role, at})
			if wide == narrow && at == chosen {
				between("]")
			}
			at++
		}
		last := i == len(p.groups)-1
		if wide > narrow && (last || at-1 == chosen) {
			between(bracket(at, chosen))
		} else if !last {
			between(" ")
		}
	}
	return out
}

// bracket is what stands before a cell that is more than a mark: the end of the bracket around the one before it, perhaps.
func bracket(at, chosen int) string {
	switch at {
	case chosen:
		return "["
	case chosen + 1:
		if chosen >= 0 {
			return "]"
		}
	}
	return " "
}

// cell is what is drawn of a device.
func (p *panel) cell(g *group, k, wide int) (string, styled.Role) {
	c := cells[slices.IndexFunc(cells, func(c cell) bool { return c.key == g.cells[k] })]
	mark, role, label := c.mark, c.role, ""
	switch tagged := len(g.tags) > 0 && g.tags[k] != nil; {
	case tagged && wide == narrow:
		mark, role = g.tags[k].letter, g.tags[k].role
	case tagged:
		role, label = g.tags[k].role, g.tags[k].name
	case wide > narrow && !p.several:
		label = holderName(g.devices[k])
	}
	if wide == narrow {
		return mark, role
	}
	return styled.Pad(mark+styled.Cut(inspect.Sanitize(label), wide-1), wide), role
}

// holderName is the claim that holds a device, with a plus if there are more. Who has admin access takes nothing.
func holderName(d *inspect.DeviceStatus) string {
	name := ""
	for _, h := range d.Holders {
		if h.Admin() {
			continue
		}
		if name != "" {
			return name + "+"
		}
		name = h.Claim.Name
	}
	return name
}

// picture draws the devices of a driver.
func (p *panel) picture(wide, chosen int) styled.Line {
	var line styled.Line
	for _, t := range p.tiles(wide, chosen) {
		line = line.With(styled.Span{Text: t.text, Role: t.role})
	}
	return line
}

// cellAt returns the number of the device that is drawn at a column of the picture, or -1.
func (p *panel) cellAt(column, wide, chosen int) int {
	for _, t := range p.tiles(wide, chosen) {
		w := styled.Width(t.text)
		if column < w {
			return t.at
		}
		column -= w
	}
	return -1
}

// size is the number of devices.
func (p *panel) size() int {
	n := 0
	for i := range p.groups {
		n += len(p.groups[i].cells)
	}
	return n
}

// device returns the device with a number, or nil.
func (p *panel) device(at int) *inspect.DeviceStatus {
	for i := range p.groups {
		g := &p.groups[i]
		if at < 0 {
			return nil
		}
		if at < len(g.devices) {
			return g.devices[at]
		}
		at -= len(g.devices)
	}
	return nil
}

// numberOf returns the number of a device, or -1.
func (p *panel) numberOf(id inspect.DeviceID) int {
	n := 0
	for i := range p.groups {
		for _, d := range p.groups[i].devices {
			if d.ID == id {
				return n
			}
			n++
		}
	}
	return -1
}
