package detail

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

func (s *sheet) device(w *screen.World, d *inspect.DeviceStatus) {
	s.head(styled.Line{
		{Text: inspect.Sanitize(d.ID.String()), Role: styled.Name},
		{Text: "  " + strings.ToLower(string(d.State)), Role: screen.StateRole(d.State)},
	})
	s.field("note", d.Note)
	s.field("node", string(d.Node))
	s.field("slice", d.Slice.Name)
	for i := range d.Device.Taints {
		s.spans("taint", styled.Span{Text: screen.TaintText(w.Snapshot, d.ID, &d.Device.Taints[i]), Role: styled.Warn})
	}
	s.holders(w, d)
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
		s.spans(string(name), append(widget.Bar(share(used, total), 20, styled.Shared), styled.Span{Text: fmt.Sprintf(" %s of %s used", used.String(), total.String())})...)
	}
	if len(d.Device.Attributes) > 0 {
		s.section("Attributes")
	}
	for _, name := range sortedKeys(d.Device.Attributes) {
		attribute := d.Device.Attributes[name]
		s.field(string(name), selector.PlainAttribute(&attribute))
	}
	s.counters(w, d)
}

func share(used, total resource.Quantity) float64 {
	return used.AsApproximateFloat64() / max(1e-9, total.AsApproximateFloat64())
}

func (s *sheet) holders(w *screen.World, d *inspect.DeviceStatus) {
	if len(d.Holders) == 0 {
		return
	}
	s.section("Held by")
	for _, h := range d.Holders {
		spans := []styled.Span{named(h.Claim.String())}
		if claim, ok := w.Snapshot.Claim(h.Claim); ok {
			spans = append(spans, styled.Span{Text: "  " + strings.ToLower(string(inspect.StateOf(claim)))},
				dim("  "+screen.FormatAge(screen.Age(w.Snapshot, claim.CreationTimestamp.Time))))
		}
		if h.Admin() {
			spans = append(spans, dim("  admin access"))
		}
		for _, pod := range w.Snapshot.PodsOf(h.Claim) {
			spans = append(spans, dim("  pod "), named(pod.Name))
		}
		s.spans("claim", spans...)
	}
}

// counters lists what the device draws on when it is allocated.
func (s *sheet) counters(w *screen.World, d *inspect.DeviceStatus) {
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

func (s *sheet) node(ctx context.Context, w *screen.World, n *corev1.Node) {
	what := "node"
	if w.Snapshot.NodesAssumed() {
		what = "node that ResourceSlices name; no Node object is known"
	}
	s.title(w, n, what)
	nodes := w.Nodes()
	at, ok := slices.BinarySearchFunc(nodes, inspect.NodeName(n.Name), func(s inspect.NodeStatus, name inspect.NodeName) int { return cmp.Compare(s.Name, name) })
	if ok {
		s.section("Devices")
		for _, driver := range sortedKeys(nodes[at].Drivers) {
			c := nodes[at].Drivers[driver]
			bar := widget.Bar(float64(c.Total-c.Free)/float64(max(1, c.Total)), 20, styled.Used)
			s.spans(driver, append(bar, styled.Span{Text: " " + words.FreeOf(c)})...)
		}
	}
	s.extended(ctx, w, n)
	s.nodeDevices(w, n.Name)
	if len(n.Labels)+len(n.Spec.Taints) > 0 {
		s.section("Labels and taints")
	}
	for _, name := range sortedKeys(n.Labels) {
		s.field(name, n.Labels[name])
	}
	for i := range n.Spec.Taints {
		s.field("taint", n.Spec.Taints[i].ToString())
	}
}

// nodeDevices lists the devices that are tied to a node, with their holders.
func (s *sheet) nodeDevices(w *screen.World, node string) {
	driver := ""
	for i := range w.Devices() {
		d := &w.Devices()[i]
		if string(d.Node) != node {
			continue
		}
		if d.ID.Driver != driver {
			driver = d.ID.Driver
			s.section("%s", driver)
		}
		if pool := d.ID.PoolID(); i == 0 || w.Devices()[i-1].ID.PoolID() != pool {
			s.room(w.Inventory().Pool(pool))
		}
		spans := []styled.Span{{Text: styled.Pad(strings.ToLower(string(d.State)), 11), Role: screen.StateRole(d.State)}}
		for _, h := range d.Holders {
			spans = append(spans, named("  "+h.Claim.String()))
		}
		for j := range d.Device.Taints {
			spans = append(spans, styled.Span{Text: "  " + screen.TaintText(w.Snapshot, d.ID, &d.Device.Taints[j]), Role: styled.Warn})
		}
		s.spans(d.ID.Device, append(spans, dim("  "+d.Note))...)
	}
}

// room lists what the counters of a pool have left, and what still fits.
func (s *sheet) room(p *inspect.PoolStatus) {
	if p == nil || len(p.Counters) == 0 {
		return
	}
	set := ""
	for i := range p.Counters {
		c := &p.Counters[i]
		name := ""
		if c.Set != set {
			set, name = c.Set, c.Set
		}
		s.spans(name, append(widget.Bar(c.Used(), 20, styled.Used), styled.Span{Text: " " + c.Counter + " " + words.Left(c) + " left"})...)
	}
	s.field("still fits", words.Fits(p.Fits))
}

func (s *sheet) pod(w *screen.World, p *corev1.Pod) {
	s.title(w, p, strings.ToLower(string(p.Status.Phase)))
	s.field("node", p.Spec.NodeName)
	s.section("Claims")
	for i := range p.Spec.ResourceClaims {
		entry := &p.Spec.ResourceClaims[i]
		name, ok := inspect.ClaimNameFor(p, entry)
		claim, found := w.Snapshot.Claim(inspect.ClaimRef{Namespace: p.Namespace, Name: name})
		switch {
		case !ok:
			s.field(entry.Name, "not created yet")
		case name == "":
			s.field(entry.Name, "none is needed")
		case !found:
			s.spans(entry.Name, named(name), styled.Span{Text: "  does not exist", Role: styled.Bad})
		default:
			s.spans(entry.Name, named(name), styled.Span{Text: "  " + strings.ToLower(string(inspect.StateOf(claim)))})
		}
	}
	s.section("Conditions")
	for _, c := range p.Status.Conditions {
		s.field(string(c.Type), strings.TrimSpace(string(c.Status)+"  "+strings.Join(strings.Fields(c.Message), " ")))
	}
}

func (s *sheet) class(w *screen.World, c *resourcev1.DeviceClass) {
	s.title(w, c, "device class")
	s.section("Selects")
	for _, sel := range c.Spec.Selectors {
		if sel.CEL != nil {
			s.field("devices", "where "+strings.Join(strings.Fields(sel.CEL.Expression), " "))
		}
	}
	if len(c.Spec.Selectors) == 0 {
		s.field("devices", "all of them")
	}
	if c.Spec.ExtendedResourceName != nil {
		s.field("extended resource", *c.Spec.ExtendedResourceName)
	}
}
