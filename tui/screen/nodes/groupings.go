package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// groupings are those that are always there.
var groupings = []listing.Grouping[row]{
	{Name: "rack", Of: func(r *row) string {
		return r.label(func(key string) bool { return strings.Contains(strings.ToLower(key), rackWord) })
	}, Heading: heading(rackWord)},
	{Name: "zone", Of: func(r *row) string { return r.label(func(key string) bool { return key == zoneLabel }) }, Heading: heading("zone")},
	{Name: "model", Of: models, Heading: heading("")},
}

// byLabel groups by a label of nodes.
func byLabel(key string) listing.Grouping[row] {
	of := func(r *row) string { return r.label(func(k string) bool { return k == key }) }
	return listing.Grouping[row]{Name: "label " + inspect.Sanitize(key), Of: of, Heading: heading(inspect.Sanitize(key[strings.LastIndexByte(key, '/')+1:]))}
}

// models are what kinds of devices a node has.
func models(r *row) string {
	seen := map[string]bool{}
	for i := range r.drivers {
		p := &r.drivers[i]
		if p.place == counterPlace { // their models are those of partitions
			seen[screen.ShortDriver(p.driver)] = true
			continue
		}
		for _, d := range p.devices {
			seen[inspect.Sanitize(inspect.ModelOf(d.Device))] = true
		}
	}
	delete(seen, "")
	return strings.Join(slices.Sorted(maps.Keys(seen)), ", ")
}

// headingBar is the width of the bar of a heading.
const headingBar = 12

// heading sums up the devices of a group of nodes. What stands before the name of the group says what it is.
func heading(what string) func(string, []*row) styled.Line {
	return func(group string, rows []*row) styled.Line {
		if group == "" {
			group = "none"
		}
		name := strings.TrimSpace(what + " " + group)
		counts, nodes := map[inspect.DeviceState]int{}, 0
		for _, r := range rows {
			nodes += r.count
			for i := range r.drivers {
				for _, c := range screen.Looks {
					counts[c.State] += r.count * r.drivers[i].drawn(c.State)
				}
			}
		}
		line := styled.Line{{Text: name + "  ", Role: styled.Strong}}
		line = append(line, stacked(counts, headingBar)...)
		line = append(line, styled.Span{Text: "  " + words.Count(nodes, "node"), Role: styled.Dim})
		for _, c := range screen.Looks {
			if n := counts[c.State]; n > 0 {
				line = append(line, styled.Span{Text: fmt.Sprintf("  %s %d", c.Mark, n), Role: c.Role}, styled.Span{Text: " " + c.Name, Role: styled.Dim})
			}
		}
		return line
	}
}

// stacked draws how many devices are in which state as a bar. What is there at all has a column of its own,
// if there is room: tainted devices are neither used nor free.
func stacked(counts map[inspect.DeviceState]int, width int) styled.Line {
	total := 0
	for _, n := range counts {
		total += n
	}
	var line styled.Line
	done, drawn := 0, 0
	for _, c := range screen.Looks {
		if counts[c.State] == 0 {
			continue
		}
		done += counts[c.State]
		to := max(drawn+1, done*width/total)
		line = append(line, styled.Span{Text: strings.Repeat(c.Mark, max(0, min(to, width)-drawn)), Role: c.Role})
		drawn = min(to, width)
	}
	return append(line, styled.Span{Text: styled.Blanks(width - drawn)})
}
