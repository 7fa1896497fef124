package node

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Hardware is one piece of hardware as DRA and device plugins know it.
type Hardware struct {
	// Names are PCI addresses and UUIDs of it: the one that was asked for, then those of devices that have
	// that one, sorted.
	Names   []string
	Devices []HardwareDevice // of DRA, sorted
	Plugins []HardwarePlugin // of device plugins, sorted by resource and id
	// Machine is what Linux says of it on the machine that was asked. It is for the caller to fill in, with
	// [ReadMachine].
	Machine []Machine
	// PossibleDevices and PossiblePlugins may be the hardware: they are of the same vendor on the same node,
	// and name neither a PCI address nor a UUID. They are sorted as the others.
	PossibleDevices []inspect.DeviceID
	PossiblePlugins []PluginDevice
	// Twice: a claim and a container with a device of a device plugin have it at once.
	Twice bool
}

// HardwareDevice is a device of DRA that is the hardware, or a part of it.
type HardwareDevice struct {
	*inspect.DeviceStatus

	// Attribute is the one that proves it.
	Attribute string
	// Part: it is a part of the hardware, since the attribute names what it is a part of.
	Part bool
	// NUMA and Interface are what attributes say of it. They are empty if none does.
	NUMA, Interface string
	// Claims are those that the kubelet has prepared with the device, with the ids of its CDI devices.
	Claims []PreparedClaim
	// Networks are what drivers say of the network interfaces that they have made of it for claims, in the
	// order of the claims.
	Networks []DeviceNetwork
	// Health is what containers' statuses say of it, in the order of the report.
	Health []DeviceHealth
}

// DeviceNetwork is a network interface that a driver has made of a device for a claim. Each field but the
// claim may be empty.
type DeviceNetwork struct {
	Claim     inspect.ClaimRef
	Interface string
	Addresses []string // IP addresses with their prefixes
	Hardware  string   // MAC address
}

// HardwarePlugin is a device of a device plugin on the node of the kubelet that was asked.
type HardwarePlugin struct {
	PluginDevice

	// Healthy is whether the kubelet can give it to containers.
	Healthy Answer
	// Containers have it.
	Containers []ContainerReport
	// Health is what containers' statuses say of it, in the order of the report.
	Health []DeviceHealth
}

var (
	pciAddress = regexp.MustCompile(`^([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	uuid       = regexp.MustCompile(`^([a-z]+-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// HardwareName returns the form of a PCI address or UUID in which they are compared: in lower case, an
// address with its domain in four digits. It is empty for what is neither.
func HardwareName(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case uuid.MatchString(text):
		return text
	case !pciAddress.MatchString(text):
		return ""
	}
	domain, rest := "0000", text
	if strings.Count(text, ":") == 2 {
		domain, rest, _ = strings.Cut(text, ":")
		domain = strings.TrimLeft(domain, "0")
		domain = strings.Repeat("0", max(0, 4-len(domain))) + domain
	}
	return domain + ":" + rest
}

// FindHardware finds a piece of hardware by its PCI address or UUID, on one node or, if the node is empty, on
// any. A device plugin says of its devices only an id, which proves something if it is such an address or
// UUID.
func FindHardware(name string, on inspect.NodeName, r *Report, v *View, s *inspect.Snapshot) Hardware {
	h := Hardware{Names: []string{name}}
	inventory := s.Inventory().Devices()
	for i := range inventory {
		d := &inventory[i]
		if on != "" && d.Node != "" && d.Node != on {
			continue
		}
		if attribute, part := provedBy(d.Device, name); attribute != "" {
			device := hardwareDevice(d, attribute, part, v)
			device.Networks = networksOf(d.ID, s)
			device.Health = r.healthOf(func(o *DeviceHealth) bool { return o.Device == d.ID })
			h.Devices = append(h.Devices, device)
			if !part {
				h.Names = append(h.Names, namesOf(d.Device)...)
			}
		}
	}
	h.Names = slices.Concat(h.Names[:1], slices.DeleteFunc(unique(h.Names[1:]), func(other string) bool { return other == name }))
	h.findPlugins(r, v)
	h.findPossible(on, r, v, inventory)
	held := slices.ContainsFunc(h.Devices, func(d HardwareDevice) bool { return len(d.Holders) > 0 })
	h.Twice = held && slices.ContainsFunc(h.Plugins, func(p HardwarePlugin) bool { return len(p.Containers) > 0 })
	return h
}

// provedBy is the attribute of a device that has the name of the hardware. One that names what the device
// belongs to makes it a part of the hardware.
func provedBy(d *resourcev1.Device, name string) (attribute string, part bool) {
	for _, a := range sortedAttributes(d) {
		value := d.Attributes[resourcev1.QualifiedName(a)].StringValue
		if value == nil || HardwareName(*value) != name {
			continue
		}
		if ofParent(a) {
			attribute, part = a, true
			continue
		}
		return a, false
	}
	return attribute, part
}

// ofParent reports whether an attribute names what a device belongs to.
func ofParent(attribute string) bool {
	attribute = strings.ToLower(attribute)
	return strings.Contains(attribute, "parent") || strings.HasSuffix(attribute, "root") || strings.Contains(attribute, "pfpci")
}

// namesOf are the PCI addresses and UUIDs that a device has of its own.
func namesOf(d *resourcev1.Device) []string {
	var out []string
	for _, a := range sortedAttributes(d) {
		if value := d.Attributes[resourcev1.QualifiedName(a)].StringValue; value != nil && !ofParent(a) && HardwareName(*value) != "" {
			out = append(out, HardwareName(*value))
		}
	}
	return out
}

func sortedAttributes(d *resourcev1.Device) []string {
	var out []string
	for a := range d.Attributes {
		out = append(out, string(a))
	}
	slices.Sort(out)
	return out
}

func hardwareDevice(d *inspect.DeviceStatus, attribute string, part bool, v *View) HardwareDevice {
	out := HardwareDevice{DeviceStatus: d, Attribute: attribute, Part: part}
	for _, a := range sortedAttributes(d.Device) {
		value := d.Device.Attributes[resourcev1.QualifiedName(a)]
		switch base := strings.ToLower(a[strings.LastIndexByte(a, '/')+1:]); {
		case (base == "numanode" || base == "numa") && value.IntValue != nil:
			out.NUMA = fmt.Sprint(*value.IntValue)
		case (base == "ifname" || base == "interfacename") && value.StringValue != nil:
			out.Interface = *value.StringValue
		}
	}
	for _, c := range v.Claims {
		c.Devices = slices.DeleteFunc(slices.Clone(c.Devices), func(p PreparedDevice) bool { return p.DeviceID != d.ID })
		if len(c.Devices) > 0 {
			out.Claims = append(out.Claims, c)
		}
	}
	return out
}

// findPlugins finds the hardware among the devices of device plugins.
func (h *Hardware) findPlugins(r *Report, v *View) {
	for _, d := range pluginDevices(r, v) {
		if !h.is(d.ID) {
			continue
		}
		same := func(o PluginDevice) bool { return o.Resource == d.Resource && o.ID == d.ID }
		p := HardwarePlugin{PluginDevice: d, Healthy: answer(v.Read(Allocatables), slices.ContainsFunc(v.Allocatable.Devices, same))}
		for _, c := range r.Containers {
			if slices.ContainsFunc(c.Devices, same) {
				p.Containers = append(p.Containers, c)
			}
		}
		p.Health = r.healthOf(func(o *DeviceHealth) bool { return o.Resource == d.Resource && o.ID == d.ID })
		h.Plugins = append(h.Plugins, p)
	}
}

// pluginDevices are all devices of device plugins that the kubelet knows, sorted by resource and id.
func pluginDevices(r *Report, v *View) []PluginDevice {
	known := slices.Clone(v.Allocatable.Devices)
	for _, registered := range v.Registered {
		for _, id := range registered.IDs {
			known = append(known, PluginDevice{Resource: registered.Resource, ID: id})
		}
	}
	for i := range r.Containers {
		known = append(known, r.Containers[i].Devices...)
	}
	return uniqueDevices(known)
}

// healthOf are the entries of the report that are meant.
func (r *Report) healthOf(meant func(*DeviceHealth) bool) []DeviceHealth {
	var out []DeviceHealth
	for i := range r.Health {
		if meant(&r.Health[i]) {
			out = append(out, r.Health[i])
		}
	}
	return out
}

// networksOf are the network interfaces that the statuses of claims tell of a device.
func networksOf(id inspect.DeviceID, s *inspect.Snapshot) []DeviceNetwork {
	var out []DeviceNetwork
	for _, claim := range s.Objects().Claims {
		for i := range claim.Status.Devices {
			d := &claim.Status.Devices[i]
			if n := d.NetworkData; n != nil && (inspect.DeviceID{Driver: d.Driver, Pool: d.Pool, Device: d.Device}) == id {
				out = append(out, DeviceNetwork{inspect.RefOf(claim), n.InterfaceName, n.IPs, n.HardwareAddress})
			}
		}
	}
	return out
}

// is reports whether the id of a device plugin names the hardware. Plugins that share a device among
// containers number its shares, as GPU-…::0.
func (h *Hardware) is(id string) bool {
	id, _, _ = strings.Cut(id, "::")
	name := HardwareName(id)
	return name != "" && slices.Contains(h.Names, name)
}
