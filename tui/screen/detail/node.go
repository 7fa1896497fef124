package detail

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

func addNode(ctx context.Context, s *sheet, w *screen.World, n *corev1.Node) {
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
			bar := widget.CountBar(c.Used, c.Total-c.Used-c.Free, c.Total, 20)
			s.linked(screen.Ref{Kind: screen.Driver, Name: driver}, driver, append(bar, styled.Span{Text: " " + words.FreeOf(c)})...)
		}
	}
	addExtended(ctx, s, w, n)
	addNodeDevices(s, w, n.Name)
	addReachable(s, w, n)
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

// addNodeDevices adds the devices that are tied to a node, with their holders.
func addNodeDevices(s *sheet, w *screen.World, node string) {
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
			addRoom(s, w.Inventory().Pool(pool))
		}
		addDeviceLine(s, w, d)
	}
}

// addReachable adds the pools of which devices reach a node that are not tied to it alone.
func addReachable(s *sheet, w *screen.World, n *corev1.Node) {
	var pools []inspect.PoolID
	devices := map[inspect.PoolID][]*inspect.DeviceStatus{}
	for _, d := range w.Inventory().On(n) {
		if string(d.Node) == n.Name {
			continue
		}
		pool := d.ID.PoolID()
		if devices[pool] == nil {
			pools = append(pools, pool)
		}
		devices[pool] = append(devices[pool], d)
	}
	if len(pools) == 0 {
		return
	}
	s.section("Devices that other nodes reach too")
	slices.SortFunc(pools, func(a, b inspect.PoolID) int {
		return cmp.Or(cmp.Compare(a.Driver, b.Driver), cmp.Compare(a.Pool, b.Pool))
	})
	for _, pool := range pools[:min(len(pools), mostListed)] {
		c := w.Inventory().Count(slices.Values(devices[pool]))
		s.linked(screen.PoolRef(pool), pool.Pool, styled.Span{Text: words.FreeOf(c)}, dim(" of "+pool.Driver))
	}
	s.rest(len(pools), "pools")
}

// addRoom adds what the counters of a pool have left, and what still fits.
func addRoom(s *sheet, p *inspect.PoolStatus) {
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
