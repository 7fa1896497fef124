package nodes

import (
	"cmp"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// cursor says which device is pointed at, on whichever node the cursor of the list is.
type cursor struct {
	// driver is that of the device. It is empty while the node as a whole is pointed at.
	driver string
	// at is the number of the device among those of the driver.
	at int
	// device is what was chosen. It is followed while it is on the node; the cursor stays at the number on
	// other nodes.
	device inspect.DeviceID
}

// find returns the number of the device that is pointed at, of the driver, on a row, or -1.
func (c *cursor) find(r *row) int {
	if r == nil || c.driver == "" {
		return -1
	}
	p := r.panelOf(c.driver)
	if p == nil {
		return -1
	}
	if at := slices.IndexFunc(p.devices, func(d *inspect.DeviceStatus) bool { return d.ID == c.device }); at >= 0 {
		return at
	}
	return min(c.at, len(p.devices)-1)
}

// on returns the device that is pointed at on a row, or nil.
func (c *cursor) on(r *row) *inspect.DeviceStatus {
	at := c.find(r)
	if at < 0 {
		return nil
	}
	return r.panelOf(c.driver).device(at)
}

// point points at a device of a row.
func (c *cursor) point(r *row, driver string, at int) {
	if d := r.panelOf(driver).device(at); d != nil {
		*c = cursor{driver, at, d.ID}
	}
}

// step points at a device further right on a row, or left; before the first is the node.
func (c *cursor) step(r *row, by int) {
	at, drivers := c.find(r), r.inOrder()
	k := slices.Index(drivers, c.driver)
	switch at += by; {
	case len(drivers) == 0:
		return
	case at-by < 0 && by > 0:
		c.point(r, drivers[0], 0)
	case at-by < 0:
	case at < 0 && k == 0:
		*c = cursor{}
	case at < 0:
		c.point(r, drivers[k-1], len(r.panelOf(drivers[k-1]).devices)-1)
	case at < len(r.panelOf(c.driver).devices):
		c.point(r, c.driver, at)
	case k+1 < len(drivers):
		c.point(r, drivers[k+1], 0)
	}
}

// inOrder are the drivers of a row in the order of the columns.
func (r *row) inOrder() []string {
	var out []string
	for i := range r.chart.bands {
		if driver := r.chart.bands[i].driver; r.panelOf(driver) != nil {
			out = append(out, driver)
		}
	}
	return out
}

// nodeOf is the node to which a device is tied, as its slice says. It is empty if there is none.
func nodeOf(s *inspect.Snapshot, ref screen.Ref) string {
	for slice, d := range s.Described(screen.DeviceID(ref)) {
		if node := cmp.Or(d.NodeName, slice.Spec.NodeName); node != nil {
			return *node
		}
	}
	return ""
}
