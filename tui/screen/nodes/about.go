package nodes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// What is told of the device or node under the cursor: lines, the answer first, each of which stands for
// itself, since there may be room for one only.

// aboutDevice tells of a device: whose it is and since when, what keeps it from being had, and how it is.
func aboutDevice(w *screen.World, all *inspect.Inventory, d *inspect.DeviceStatus) []styled.Line {
	c := screen.LookOf(d.State)
	head := styled.Line{screen.LinkTo(screen.DeviceRef(d.ID), d.ID.Device), {Text: "  " + c.Mark + " " + c.Name, Role: c.Role}}
	lines := []styled.Line{head}
	for i, h := range d.Holders {
		line := holder(w, h)
		if i == 0 {
			lines[0] = append(head, line...)
			continue
		}
		lines = append(lines, append(styled.Line{{Text: "and"}}, line...))
	}
	for i := range d.Device.Taints {
		lines = append(lines, append(styled.Line{{Text: "taint ", Role: styled.Warn}}, screen.TaintLine(w, d.ID, &d.Device.Taints[i])...))
	}
	if d.Note != "" {
		lines = append(lines, styled.Text(styled.Warn, inspect.Sanitize(d.Note)))
	}
	for _, h := range d.Holders {
		lines = append(lines, screen.HealthLines(w.Snapshot, h.Claim, d.ID)...)
	}
	lines = append(lines, draws(all, d)...)
	lines = append(lines, shares(d)...)
	return append(lines, whatItIs(d))
}

// holder is since when who holds a device: the claim, for which pod and workload.
func holder(w *screen.World, h inspect.Holder) styled.Line {
	line := styled.Line{
		{Text: screen.HeldFor(w, h.Claim) + " by "},
		screen.LinkTo(screen.Ref{Kind: screen.Claim, Namespace: h.Claim.Namespace, Name: h.Claim.Name}, h.Claim.String()),
	}
	if h.Admin() {
		line = append(line, styled.Span{Text: " (admin access, takes nothing)", Role: styled.Dim})
	}
	pods := w.Snapshot.PodsOf(h.Claim)
	if len(pods) == 0 {
		return append(line, styled.Span{Text: "  no pod uses it", Role: styled.Warn})
	}
	line = append(line, styled.Span{Text: "  pod "}, screen.LinkTo(screen.Ref{Kind: screen.Pod, Namespace: pods[0].Namespace, Name: pods[0].Name}, pods[0].Name))
	if len(pods) > 1 {
		line = append(line, styled.Span{Text: fmt.Sprintf(" and %d more", len(pods)-1)})
	}
	if of := ownerOf(w.Snapshot, h.Claim); of.Kind != screen.None && of.Kind != screen.Pod {
		line = append(line, styled.Span{Text: "  of " + strings.ToLower(inspect.Sanitize(string(of.Kind))) + " " + inspect.Sanitize(of.Name), Role: styled.Dim})
	}
	return line
}

// listed is a device in a list of those of a node.
func listed(w *screen.World, d *inspect.DeviceStatus) styled.Line {
	c := screen.LookOf(d.State)
	line := styled.Line{{Text: c.Mark + " ", Role: c.Role}, screen.LinkTo(screen.DeviceRef(d.ID), d.ID.Device)}
	for _, h := range d.Holders {
		if h.Admin() {
			continue
		}
		return append(line, styled.Span{Text: "  " + inspect.Sanitize(h.Claim.Namespace+"/"+holderName(d)) + screen.HeldFor(w, h.Claim)})
	}
	if d.Note != "" {
		return append(line, styled.Span{Text: "  " + inspect.Sanitize(d.Note), Role: styled.Dim})
	}
	return append(line, styled.Span{Text: "  " + c.Name, Role: styled.Dim})
}

// draws is what a device takes of counters, and the lane of the counter set that it takes most from.
func draws(all *inspect.Inventory, d *inspect.DeviceStatus) []styled.Line {
	var lines []styled.Line
	for i := range d.Device.ConsumesCounters {
		c := &d.Device.ConsumesCounters[i]
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(c.Counters)) {
			amount := c.Counters[name].Value
			parts = append(parts, amount.String()+" "+name)
		}
		lines = append(lines, styled.Text(styled.Plain, inspect.Sanitize("takes "+strings.Join(parts, ", ")+" of "+c.CounterSet)))
	}
	if lines == nil {
		return nil
	}
	for _, set := range all.CounterSets(d.ID.PoolID()) {
		if set.Set == d.Device.ConsumesCounters[0].CounterSet {
			lines = append(append(lines, lane(&set)), laneDetails(&set)...)
		}
	}
	return lines
}

// shares is how much of its capacities claims hold of a device that they share.
func shares(d *inspect.DeviceStatus) []styled.Line {
	var lines []styled.Line
	for _, name := range slices.Sorted(maps.Keys(d.Used)) {
		share := screen.ShareUsed(d, name)
		if share < 0 {
			continue
		}
		used, total := d.Used[name], d.Device.Capacity[name]
		lines = append(lines, append(widget.Bar(share, 10, styled.Shared), styled.Span{
			Text: inspect.Sanitize(fmt.Sprintf(" %s of %s %s", used.String(), total.Value.String(), name)),
		}))
	}
	return lines
}

// whatItIs names a device in full, with its model and its place.
func whatItIs(d *inspect.DeviceStatus) styled.Line {
	line := styled.Text(styled.Dim, inspect.Sanitize(d.ID.String()))
	if m := inspect.ModelOf(d.Device); m != "" {
		line = append(line, styled.Span{Text: "  " + inspect.Sanitize(m)})
	}
	if name, value := placeOf(d); value != "" {
		line = append(line, styled.Span{Text: "  " + name + " " + inspect.Sanitize(value), Role: styled.Dim})
	}
	return line
}
