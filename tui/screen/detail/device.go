package detail

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func addDevice(ctx context.Context, s *sheet, w *screen.World, d *inspect.DeviceStatus) {
	s.head(styled.Line{
		{Text: inspect.Sanitize(d.ID.String()), Role: styled.Name},
		{Text: "  " + strings.ToLower(string(d.State)), Role: screen.LookOf(d.State).Role},
	})
	s.field("note", d.Note)
	s.linkField("node", nodeLink(string(d.Node)))
	s.spans("pool", screen.LinkTo(screen.PoolRef(d.ID.PoolID()), d.ID.Pool), dim("  slice "+d.Slice.Name))
	s.linkField("driver", plainLink(screen.Driver, d.ID.Driver))
	for i := range d.Device.Taints {
		s.spans("taint", screen.TaintLine(w, d.ID, &d.Device.Taints[i])...)
	}
	addSelectedBy(ctx, s, w, d)
	addHolders(s, w, d)
	if len(d.Device.Capacity) > 0 {
		s.section("Capacity")
	}
	for _, name := range sortedKeys(d.Device.Capacity) {
		total := d.Device.Capacity[name].Value
		used, shared := d.Used[name]
		if !shared {
			s.field(string(name), total.String())
			continue
		}
		s.spans(string(name), append(widget.Bar(screen.ShareUsed(d, name), 20, styled.Shared), styled.Span{Text: fmt.Sprintf(" %s of %s used", used.String(), total.String())})...)
	}
	if len(d.Device.Attributes) > 0 {
		s.section("Attributes")
	}
	for _, name := range sortedKeys(d.Device.Attributes) {
		attribute := d.Device.Attributes[name]
		s.field(string(name), selector.PlainAttribute(&attribute))
	}
	addCounters(s, w, d)
}

func addHolders(s *sheet, w *screen.World, d *inspect.DeviceStatus) {
	if len(d.Holders) == 0 {
		return
	}
	s.section("Held by")
	holders := slices.Clone(d.Holders)
	slices.SortStableFunc(holders, func(a, b inspect.Holder) int { return words.Btoi(a.Admin()) - words.Btoi(b.Admin()) }) // who takes it from others first
	for _, h := range holders {
		spans := []styled.Span{claimLink(h.Claim)}
		if claim, ok := w.Snapshot.Claim(h.Claim); ok {
			spans = append(spans, claimState(claim), dim(screen.HeldFor(w, h.Claim)))
		}
		if h.Admin() {
			spans = append(spans, dim("  admin access"))
		}
		for _, pod := range w.Snapshot.PodsOf(h.Claim) {
			spans = append(spans, dim("  pod "), podLink(pod))
		}
		s.spans("claim", spans...)
		for _, line := range screen.HealthLines(w.Snapshot, h.Claim, d.ID) {
			s.spans("", line...)
		}
	}
}

// addSelectedBy adds the classes that select a device, and those that give up on it, as the scheduler then
// does.
func addSelectedBy(ctx context.Context, s *sheet, w *screen.World, d *inspect.DeviceStatus) {
	var selecting, failing []styled.Span
	for _, c := range w.Snapshot.Objects().Classes {
		ok, err := selection(w, c)(ctx, d)
		link := plainLink(screen.Class, c.Name)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failing = append(failing, link)
		case ok:
			selecting = append(selecting, link)
		}
	}
	if len(selecting) == 0 && w.Snapshot.Health(inspect.Classes).Complete() {
		selecting = []styled.Span{dim("no class selects it")}
	}
	s.spans("classes", separated(selecting)...)
	if len(failing) > 0 {
		s.spans("", append([]styled.Span{{Text: "with an error at it: ", Role: styled.Warn}}, separated(failing)...)...)
	}
}

// separated puts commas between links.
func separated(links []styled.Span) (out []styled.Span) {
	for i, link := range links {
		if i > 0 {
			out = append(out, styled.Span{Text: ", "})
		}
		out = append(out, link)
	}
	return out
}

// addCounters adds what the device draws on when it is allocated.
func addCounters(s *sheet, w *screen.World, d *inspect.DeviceStatus) {
	if len(d.Device.ConsumesCounters) == 0 {
		return
	}
	s.section("Consumes")
	for _, c := range d.Device.ConsumesCounters {
		var parts []string
		for _, name := range sortedKeys(c.Counters) {
			q := c.Counters[name].Value
			text := name + " " + q.String()
			if left := counterOf(w.Inventory().Pool(d.ID.PoolID()), c.CounterSet, name); left != nil {
				text += " (" + words.Left(left) + " left)"
			}
			parts = append(parts, text)
		}
		s.field(c.CounterSet, strings.Join(parts, ", "))
	}
}

// counterOf finds a counter of a pool, or returns nil.
func counterOf(p *inspect.PoolStatus, set, counter string) *inspect.CounterStatus {
	if p == nil {
		return nil
	}
	i := slices.IndexFunc(p.Counters, func(c inspect.CounterStatus) bool { return c.Set == set && c.Counter == counter })
	if i < 0 {
		return nil
	}
	return &p.Counters[i]
}
