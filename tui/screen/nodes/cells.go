package nodes

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// cell is how a device is drawn.
type cell struct {
	mark  string
	name  string
	role  styled.Role
	state inspect.DeviceState
}

var cells = []cell{
	{"■", "used", styled.Used, inspect.DeviceAllocated},
	{"◧", "shared", styled.Shared, inspect.DevicePartial},
	{"□", "free", styled.Good, inspect.DeviceFree},
	{"·", "blocked", styled.Dim, inspect.DeviceBlocked},
	{"▨", "tainted", styled.Warn, inspect.DeviceTainted},
	{"✗", "unreachable", styled.Bad, inspect.DeviceUnreachable},
}

func cellOf(state inspect.DeviceState) cell {
	return cells[max(0, slices.IndexFunc(cells, func(c cell) bool { return c.state == state }))]
}

// tile is a piece of the picture of a driver's devices.
type tile struct {
	text string
	role styled.Role
	at   int // the number of the device in the panel, or -1
}

// tiles draw the devices of a driver, groups apart. The one with the number chosen, or none if that is -1, is
// put into brackets.
func (p *panel) tiles(chosen int) []tile {
	if p == nil {
		return nil
	}
	var out []tile
	at := 0
	for i, g := range p.groups {
		if i > 0 {
			out = append(out, tile{" ", styled.Plain, -1})
		}
		for end := at + g.size; at < end; at++ {
			c := cellOf(p.devices[at].State)
			one := tile{c.mark, c.role, at}
			if t := p.tags[at]; t != nil {
				one.text, one.role = t.letter, t.role
			}
			if at == chosen {
				out = append(out, tile{"[", styled.Accent, -1}, one, tile{"]", styled.Accent, -1})
			} else {
				out = append(out, one)
			}
		}
	}
	return out
}

// holderName is the claim that holds a device, with a plus if there are more. Who has admin access takes
// nothing.
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
func (p *panel) picture(chosen int) styled.Line {
	var line styled.Line
	for _, t := range p.tiles(chosen) {
		line = line.With(styled.Span{Text: t.text, Role: t.role})
	}
	return line
}

// cellAt returns the number of the device that is drawn at a column of the picture, or -1.
func (p *panel) cellAt(column, chosen int) int {
	for _, t := range p.tiles(chosen) {
		w := styled.Width(t.text)
		if column < w {
			return t.at
		}
		column -= w
	}
	return -1
}

// device returns the device with a number, or nil.
func (p *panel) device(at int) *inspect.DeviceStatus {
	if at < 0 || at >= len(p.devices) {
		return nil
	}
	return p.devices[at]
}
