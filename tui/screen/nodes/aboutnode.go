package nodes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// aboutNode tells of a node, or of several that look alike: what is free, where partitions are, who is there,
// and what the node is.
func (r *row) aboutNode() []styled.Line {
	lines := append([]styled.Line{r.sentence()}, r.lanes()...)
	if r.count > 1 {
		return lines
	}
	if line := r.tenants(); line != nil {
		lines = append(lines, line)
	}
	if line := r.whereItIs(); line != nil {
		lines = append(lines, line)
	}
	return lines
}

// sentence says what the picture shows, in words.
func (r *row) sentence() styled.Line {
	line := styled.Line{screen.LinkTo(screen.Ref{Kind: screen.Node, Name: r.name}, r.name)}
	if r.count > 1 {
		line = append(line, styled.Span{Text: fmt.Sprintf(" and %d more like it", r.count-1), Role: styled.Name})
	}
	line = append(line, styled.Span{Text: "  "})
	own := 0
	for i := range r.drivers {
		p := &r.drivers[i]
		own += p.count.Total
		line = append(line, styled.Span{Text: screen.ShortDriver(p.driver) + " " + words.FreeOf(p.count)})
		if text := p.fragmented(); text != "" {
			line = append(line, styled.Span{Text: ", " + text, Role: styled.Warn})
		}
		if p.place == counterPlace {
			for _, pool := range p.pools() {
				if status := r.chart.all.Pool(pool); status != nil {
					line = append(line, styled.Span{Text: ", still fits "}, styled.Span{Text: inspect.Sanitize(words.Fits(status.Fits)), Role: styled.Good})
				}
			}
		}
		line = append(line, styled.Span{Text: "  "})
	}
	for _, text := range r.lost {
		line = append(line, styled.Span{Text: inspect.Sanitize(text) + "  ", Role: styled.Warn})
	}
	for i := range r.plugins {
		line = append(line, styled.Span{Text: inspect.Sanitize(r.plugins[i].resource) + " " + r.plugins[i].numbers() + "  "})
	}
	if r.devices.Total > own {
		line = append(line, styled.Span{Text: fmt.Sprintf("%d shared with other nodes", r.devices.Total-own), Role: styled.Dim})
	}
	return line
}

// lanes are the physical devices of the node that are cut into partitions: each with what still fits, and
// then in detail.
func (r *row) lanes() []styled.Line {
	var lines, details []styled.Line
	for i := range r.drivers {
		p := &r.drivers[i]
		if p.place != counterPlace {
			continue
		}
		for _, pool := range p.pools() {
			for _, set := range r.chart.all.CounterSets(pool) {
				lines, details = append(lines, lane(&set)), append(details, laneDetails(&set)...)
			}
		}
	}
	return append(lines, details...)
}

// pools are those of the devices, in the order of the devices.
func (p *panel) pools() []inspect.PoolID {
	var out []inspect.PoolID
	for _, d := range p.devices {
		if id := d.ID.PoolID(); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// laneBar is the width of the bar of a counter in a lane.
const laneBar = 8

// lane draws a physical device: its partitions, what still fits, and how many are blocked by those that are
// held.
func lane(set *inspect.CounterSetStatus) styled.Line {
	line := styled.Line{{Text: inspect.Sanitize(set.Set) + " ", Role: styled.Strong}}
	blocked := 0
	for _, d := range set.Devices {
		c := screen.LookOf(d.State)
		line = line.With(styled.Span{Text: c.Mark, Role: c.Role})
		if d.State == inspect.DeviceBlocked {
			blocked++
		}
	}
	line = append(line, styled.Span{Text: "  still fits "}, styled.Span{Text: inspect.Sanitize(words.Fits(set.Fits)), Role: styled.Good})
	if blocked > 0 {
		line = append(line, styled.Span{Text: fmt.Sprintf("  %d blocked", blocked), Role: styled.Dim})
	}
	return line
}

// laneDetails are the counters of a physical device, and which of its partitions are held.
func laneDetails(set *inspect.CounterSetStatus) []styled.Line {
	name := styled.Span{Text: inspect.Sanitize(set.Set), Role: styled.Dim}
	counters, held := styled.Line{name}, styled.Line{name, {Text: " held:", Role: styled.Dim}}
	for i := range set.Counters {
		c := &set.Counters[i]
		counters = append(counters, styled.Span{Text: "  "})
		counters = append(counters, widget.Bar(c.Used(), laneBar, styled.Used)...)
		counters = append(counters, styled.Span{Text: inspect.Sanitize(" " + c.Counter + " " + words.Left(c) + " left")})
	}
	for _, d := range set.Devices {
		if d.Held() {
			text := " " + inspect.Sanitize(strings.TrimSpace(inspect.ModelOf(d.Device)+" by "+holderName(d)))
			held = append(held, styled.Span{Text: "  "}, screen.LinkTo(screen.DeviceRef(d.ID), d.ID.Device), styled.Span{Text: text, Role: styled.Used})
		}
	}
	if len(held) == 2 {
		return []styled.Line{counters}
	}
	return []styled.Line{counters, held}
}

// tenants counts the devices of the node that each namespace holds, the most first.
func (r *row) tenants() styled.Line {
	count := map[string]int{}
	var names []string
	for i := range r.drivers {
		for _, d := range r.drivers[i].devices {
			seen := ""
			for _, h := range d.Holders {
				if h.Admin() || h.Claim.Namespace == seen {
					continue
				}
				if seen = h.Claim.Namespace; count[seen] == 0 {
					names = append(names, seen)
				}
				count[seen]++
			}
		}
	}
	if names == nil {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b)) })
	line := styled.Text(styled.Dim, "held by")
	for i, name := range names {
		if i > 0 {
			line = append(line, styled.Span{Text: ","})
		}
		line = append(line, styled.Span{Text: " "}, screen.LinkTo(screen.Ref{Kind: screen.Namespace, Name: name}, name), styled.Span{Text: fmt.Sprintf(" %d", count[name])})
	}
	return line
}

// whereItIs are the labels of the node by which rows are grouped, and what keeps pods off it.
func (r *row) whereItIs() styled.Line {
	if r.node == nil {
		return nil
	}
	var line styled.Line
	add := func(text string, role styled.Role) {
		if line != nil {
			text = "  " + text
		}
		line = append(line, styled.Span{Text: inspect.Sanitize(text), Role: role})
	}
	for _, g := range groupings {
		if value := g.Of(r); value != "" {
			add(g.Name+" "+value, styled.Dim)
		}
	}
	if r.node.Spec.Unschedulable {
		add("cordoned", styled.Warn)
	}
	for i := range r.node.Spec.Taints {
		add("node taint "+r.node.Spec.Taints[i].ToString(), styled.Warn)
	}
	return line
}
