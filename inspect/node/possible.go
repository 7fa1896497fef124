package node

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// findPossible finds what may be the hardware too. Where only one of the two worlds knows it, and the other
// one has devices of the same vendor on the node that say neither a PCI address nor a UUID of theirs, one of
// these may be it.
func (h *Hardware) findPossible(on inspect.NodeName, r *Report, v *View, inventory []inspect.DeviceStatus) {
	switch {
	case len(h.Devices) > 0 && len(h.Plugins) == 0:
		for _, d := range pluginDevices(r, v) {
			if HardwareName(strings.Split(d.ID, "::")[0]) == "" && h.hasDriverOf(d.Resource, d.NUMA) {
				h.PossiblePlugins = append(h.PossiblePlugins, d)
			}
		}
	case len(h.Plugins) > 0 && len(h.Devices) == 0:
		for i := range inventory {
			d := &inventory[i]
			if d.Node == on && on != "" && len(namesOf(d.Device)) == 0 && h.hasResourceOf(d.ID.Driver) {
				h.PossibleDevices = append(h.PossibleDevices, d.ID)
			}
		}
	}
}

// hasDriverOf reports whether a device of DRA that is the hardware can be one of a resource: the vendor is
// the same, and so is the NUMA node where both say one.
func (h *Hardware) hasDriverOf(resource string, numa []int64) bool {
	for i := range h.Devices {
		d := &h.Devices[i]
		if sameVendor(d.ID.Driver, resource) && (d.NUMA == "" || len(numa) == 0 || d.NUMA == FormatCPUSet(numa)) {
			return true
		}
	}
	return false
}

func (h *Hardware) hasResourceOf(driver string) bool {
	for i := range h.Plugins {
		if sameVendor(driver, h.Plugins[i].Resource) {
			return true
		}
	}
	return false
}

// sameVendor reports whether the names of a driver and of a resource are of one domain, as gpu.example.com
// and example.com/gpu are.
func sameVendor(driver, resource string) bool {
	domain, _, found := strings.Cut(resource, "/")
	return found && (driver == domain || strings.HasSuffix(driver, "."+domain) || strings.HasSuffix(domain, "."+driver))
}

// offeredTwice finds the devices that DRA and a device plugin offer at once, as a PCI address or a UUID
// proves.
func (j *joining) offeredTwice() {
	ids := map[string][]PluginDevice{}
	for _, d := range j.view.Allocatable.Devices {
		if name := HardwareName(strings.Split(d.ID, "::")[0]); name != "" {
			ids[name] = append(ids[name], d)
		}
	}
	if len(ids) == 0 {
		return
	}
	inventory := j.snapshot.Inventory().Devices()
	for i := range inventory {
		d := &inventory[i]
		if d.Node != j.Node {
			continue
		}
		seen := map[string]bool{}
		for _, name := range namesOf(d.Device) {
			for _, p := range ids[name] {
				if !seen[p.Resource] {
					seen[p.Resource] = true // shares of one device are many
					j.Problems = append(j.Problems, Problem{Code: OfferedTwice, Device: Device{DeviceID: d.ID}, Resource: p.Resource, Unit: name})
				}
			}
		}
	}
}
