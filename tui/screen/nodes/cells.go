package nodes

import (
	"math"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// tile is a piece of the picture of a driver's devices.
type tile struct {
	text string
	role styled.Role
	at   int // the number of the device in the panel, or -1
}

// drawing is how the devices of a driver on a row are drawn.
type drawing struct {
	// chosen is the number of the device that is put into brackets, or -1.
	chosen int
	// scale is how wide cells are: with 0 each has one column and a mark.
	scale int
	// wide says that it is for a wide screen, on which some drawings are larger. There names says that used
	// devices tell who holds them, where there is room.
	wide, names bool
	// tags says that used devices have the colours and letters of their tags.
	tags bool
}

// scales is how many sizes of pictures there are.
const scales = 5

// wholePart is how many columns a partition has on the first scale that takes all that there is, and perScale
// how many more on each further one.
const wholePart, perScale = 8, 4

// cellWidth is how many columns a device takes: of a partition as many as it takes of what it is cut from.
func (p *panel) cellWidth(at, scale int) int {
	switch {
	case scale == 0:
		return 1
	case p.parts != nil:
		return max(1, int(math.Round(p.parts[at]*float64(wholePart+perScale*(scale-1)))))
	}
	return scale + 1
}

// apart is how many blanks there are between groups.
func apart(scale int) int { return min(2, scale+1) }

// width is how many columns the picture takes on a scale.
func (p *panel) width(scale int) int {
	n := (len(p.groups) - 1) * apart(scale)
	for at := range p.devices {
		n += p.cellWidth(at, scale)
	}
	return n
}

// tiles draw the devices of a driver, groups apart.
func (p *panel) tiles(how drawing) []tile {
	if p == nil {
		return nil
	}
	var out []tile
	at := 0
	for i, g := range p.groups {
		if i > 0 {
			out = append(out, tile{styled.Blanks(apart(how.scale)), styled.Plain, -1})
		}
		for end := at + g.size; at < end; {
			n := p.run(at, end, how)
			drawn := p.draw(at, n, how)
			if at == how.chosen {
				drawn = slices.Concat([]tile{{"[", styled.Accent, -1}}, drawn, []tile{{"]", styled.Accent, -1}})
			}
			out = append(out, drawn...)
			at += n
		}
	}
	return out
}

// run is how many devices from one on, before the end, are drawn as one: the same holds them.
func (p *panel) run(at, end int, how drawing) int {
	n := 1
	if how.scale == 0 || !how.names || at == how.chosen || p.devices[at].State != inspect.DeviceAllocated {
		return n
	}
	for of := p.holderOf(at, how); at+n < end && at+n != how.chosen && p.devices[at+n].State == inspect.DeviceAllocated && p.holderOf(at+n, how) == of; {
		n++
	}
	return n
}

// holderOf names who holds a device: what the tags are about, or else the claim.
func (p *panel) holderOf(at int, how drawing) string {
	if t := p.tags[at]; how.tags && t != nil {
		return t.name
	}
	return holderName(p.devices[at])
}

// leastName is how many columns are worth to begin a name in.
const leastName = 4

// markOf is how a device is marked, and whether that says that what the map is about could use it.
func (p *panel) markOf(at int, how drawing) (mark string, role styled.Role, fits bool) {
	c := screen.LookOf(p.devices[at].State)
	mark, role = c.Mark, c.Role
	if t := p.tags[at]; how.tags && t != nil {
		mark, role = t.letter, t.role
	}
	switch {
	case p.fits == nil:
	case p.fits[at]:
		return usable, styled.Accent, true
	case p.devices[at].State == inspect.DeviceFree:
		role = styled.Dim
	}
	return mark, role, false
}

// draw draws some devices that are held by the same, or one.
func (p *panel) draw(at, n int, how drawing) []tile {
	d := p.devices[at]
	c := screen.LookOf(d.State)
	mark, role, fits := p.markOf(at, how)
	widths := make([]int, n)
	width := 0
	for i := range widths {
		widths[i] = p.cellWidth(at+i, how.scale)
		width += widths[i]
	}
	if width == 1 {
		if how.wide && mark == c.Mark && !fits {
			mark = hatch(c)
		}
		return []tile{{mark, role, at}}
	}
	room := width - 1 // the last column is a blank
	if fits && d.State != inspect.DevicePartial {
		return []tile{{mark + strings.Repeat("═", room-1) + " ", role, at}}
	}
	switch d.State {
	case inspect.DeviceAllocated:
		text := inspect.Sanitize(p.holderOf(at, how))
		text = text[strings.LastIndexByte(text, '/')+1:]
		if !how.names || room < min(leastName, len(text)) || styled.Width(text) != len(text) {
			text = mark
		}
		if text == c.Mark {
			return spread([]rune(strings.Repeat(mark, room)), widths, role, at)
		}
		return spread([]rune(styled.Pad(styled.CutTo(text, room, ""), room)), widths, styled.Filled(role), at)
	case inspect.DevicePartial:
		var out []tile
		for _, span := range widget.Bar(shareOf(d), room, role) {
			out = append(out, tile{span.Text, span.Role, at})
		}
		if !fits {
			mark = " "
		}
		return append(out, tile{mark, styled.Accent, at})
	case inspect.DeviceFree:
		return []tile{{mark + strings.Repeat("╌", room-1) + " ", role, at}}
	}
	if mark != c.Mark { // somebody has what is tainted
		return []tile{{mark + strings.Repeat(c.Mark, room-1) + " ", c.Role, at}}
	}
	return []tile{{strings.Repeat(hatch(c), room) + " ", role, at}}
}

// hatch is what fills a wide cell.
func hatch(l screen.Look) string {
	if l.State == inspect.DeviceBlocked {
		return "░"
	}
	return l.Mark
}

// spread cuts a text into tiles of devices, the last of which ends with a blank.
func spread(text []rune, widths []int, role styled.Role, at int) []tile {
	var out []tile
	for i, w := range widths {
		w = min(w, len(text))
		if out, text = append(out, tile{string(text[:w]), role, at + i}), text[w:]; i == len(widths)-1 {
			out = append(out, tile{" ", styled.Plain, at + i})
		}
	}
	return out
}

// shareOf is how much is taken of the capacity of a device of which most is.
func shareOf(d *inspect.DeviceStatus) float64 {
	share := 0.0
	for name := range d.Used {
		share = max(share, screen.ShareUsed(d, name))
	}
	return min(1, share)
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
func (p *panel) picture(how drawing) styled.Line {
	var line styled.Line
	for _, t := range p.tiles(how) {
		line = line.With(styled.Span{Text: t.text, Role: t.role})
	}
	return line
}

// cellAt returns the number of the device that is drawn at a column of the picture, or -1.
func (p *panel) cellAt(column int, how drawing) int {
	for _, t := range p.tiles(how) {
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
