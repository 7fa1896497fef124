package detail

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// addDriver adds what a driver publishes, by pool.
func addDriver(s *sheet, w *screen.World, name string) error {
	drivers := w.Inventory().Drivers
	at := slices.IndexFunc(drivers, func(d inspect.DriverStatus) bool { return d.Driver == name })
	if at < 0 {
		return fmt.Errorf("driver %s publishes nothing any more", name)
	}
	s.head(styled.Line{{Text: inspect.Sanitize(name), Role: styled.Name}, {Text: "  driver", Role: styled.Strong}})
	addCounted(s, &drivers[at].Devices)
	for i := range drivers[at].Counters {
		c := &drivers[at].Counters[i]
		s.spans(c.Counter, append(widget.Bar(c.Used(), 20, styled.Used), styled.Span{Text: " " + words.Left(c) + " left"})...)
	}
	s.section("Pools")
	var pools []*inspect.PoolStatus
	for _, stock := range w.Inventory().Stocks {
		if p := &stock.Pool; p.ID.Driver == name {
			pools = append(pools, p)
		}
	}
	slices.SortStableFunc(pools, func(a, b *inspect.PoolStatus) int { return strings.Compare(b.Error, a.Error) }) // broken ones first
	link := func(p *inspect.PoolStatus) styled.Span { return screen.LinkTo(screen.PoolRef(p.ID), p.ID.Pool) }
	names := widest(pools, link)
	for _, p := range pools[:min(len(pools), mostListed)] {
		name := link(p)
		spans := []styled.Span{name, names.fill(name), dim("  " + words.FreeOf(p.Devices))}
		if p.Node != "" && string(p.Node) != p.ID.Pool {
			spans = append(spans, dim("  on "), nodeLink(string(p.Node)))
		}
		s.spans("", append(spans, styled.Span{Text: trouble(p), Role: styled.Bad})...)
	}
	s.rest(len(pools), "pools")
	return nil
}

func trouble(p *inspect.PoolStatus) string {
	if p.Error == "" {
		return ""
	}
	return "  " + p.Error
}

// addCounted tells how many devices there are and what is to be had of them.
func addCounted(s *sheet, c *inspect.DeviceCount) {
	s.spans("devices", append(widget.CountBar(c.Used, c.Unusable(), c.Total, 20),
		styled.Span{Text: fmt.Sprintf(" %d used, %s", c.Used, words.FreeOf(*c))})...)
}

// addPool adds a pool with its devices.
func addPool(s *sheet, w *screen.World, ref screen.Ref) error {
	stocks := w.Inventory().Stocks
	at := slices.IndexFunc(stocks, func(s *inspect.Stock) bool { return screen.PoolRef(s.Pool.ID) == ref })
	if at < 0 {
		return fmt.Errorf("pool %s is gone", ref)
	}
	p := &stocks[at].Pool
	s.head(styled.Line{{Text: inspect.Sanitize(p.ID.Pool), Role: styled.Name}, {Text: "  pool", Role: styled.Strong}})
	s.linkField("driver", plainLink(screen.Driver, p.ID.Driver))
	s.linkField("node", nodeLink(string(p.Node)))
	s.field("slices", fmt.Sprintf("%d of %d, generation %d", p.Slices, p.SlicesWanted, p.Generation))
	if p.Error != "" {
		s.spans("trouble", styled.Span{Text: p.Error, Role: styled.Bad})
	}
	addCounted(s, &p.Devices)
	addRoom(s, p)
	s.section("Devices")
	n := 0
	for i := range w.Devices() {
		d := &w.Devices()[i]
		if d.ID.PoolID() != p.ID {
			continue
		}
		if n++; n <= mostListed {
			addDeviceLine(s, w, d)
		}
	}
	s.rest(n, "devices")
	return nil
}

// addDeviceLine adds a line about a device, with who has it.
func addDeviceLine(s *sheet, w *screen.World, d *inspect.DeviceStatus) {
	spans := []styled.Span{{Text: styled.Pad(strings.ToLower(string(d.State)), 11), Role: screen.LookOf(d.State).Role}}
	for _, h := range d.Holders {
		spans = append(spans, dim("  "), claimLink(h.Claim))
	}
	for j := range d.Device.Taints {
		spans = append(append(spans, dim("  ")), screen.TaintLine(w, d.ID, &d.Device.Taints[j])...)
	}
	s.linked(screen.DeviceRef(d.ID), d.ID.Device, append(spans, dim("  "+d.Note))...)
}

// addRule adds a DeviceTaintRule, the devices that it taints, and who has them.
func addRule(s *sheet, w *screen.World, r *resourcev1.DeviceTaintRule) {
	s.title(w, r, "device taint rule")
	t := &r.Spec.Taint
	s.spans("taint", styled.Span{Text: words.FormatTaint(t), Role: styled.Warn})
	s.field("for", screen.RuleSelects(w.Snapshot, r))
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		s.field(c.Type, strings.TrimSpace(string(c.Status)+"  "+words.OneLine(c.Message)))
	}
	if !w.Snapshot.Features().Enabled(inspect.GateDeviceTaintRules) {
		s.spans("without effect", styled.Span{Text: "the feature gate " + string(inspect.GateDeviceTaintRules) + " is off", Role: styled.Warn})
	}
	var hit []*inspect.DeviceStatus
	for i := range w.Devices() {
		if d := &w.Devices()[i]; w.Snapshot.RuleTaints(r, d.ID) {
			hit = append(hit, d)
		}
	}
	s.section("Taints %d devices", len(hit))
	devices := widest(hit, func(d *inspect.DeviceStatus) styled.Span { return deviceLink(d.ID) })
	for _, d := range hit[:min(len(hit), mostListed)] {
		spans := []styled.Span{deviceLink(d.ID)}
		if len(d.Holders) > 0 {
			spans = append(spans, devices.fill(spans[0]))
		}
		for _, h := range d.Holders {
			spans = append(spans, dim("  "), claimLink(h.Claim), dim(tolerance(w.Snapshot, h.Claim, d.ID, t)))
			for _, p := range w.Snapshot.PodsOf(h.Claim) {
				spans = append(spans, dim("  pod "), podLink(p))
			}
		}
		s.spans("", spans...)
	}
	s.rest(len(hit), "devices")
}

// tolerance says whether a claim tolerates a taint of a device that it has, as its allocation records it.
func tolerance(s *inspect.Snapshot, ref inspect.ClaimRef, id inspect.DeviceID, t *resourcev1.DeviceTaint) string {
	claim, ok := s.Claim(ref)
	if !ok || claim.Status.Allocation == nil {
		return ""
	}
	for i := range claim.Status.Allocation.Devices.Results {
		r := &claim.Status.Allocation.Devices.Results[i]
		if inspect.DeviceOf(r) != id {
			continue
		}
		if t.Effect != resourcev1.DeviceTaintEffectNoExecute {
			if !allocator.Tolerated(t, r.Tolerations) {
				return " does not tolerate it"
			}
			continue
		}
		switch seconds, forever := lifecycle.ToleratedFor(s.Release(), t, r.Tolerations); {
		case seconds != nil:
			return fmt.Sprintf(" tolerates it for %d s", *seconds)
		case !forever:
			return " does not tolerate it"
		}
	}
	return " tolerates it"
}
