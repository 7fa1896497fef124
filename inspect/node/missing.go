package node

import (
	"cmp"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Evidence says by what it is known that a plugin was on the node or has to be there.
type Evidence string

// What speaks for a plugin. The last five are of device plugins, and tell how long they have been gone.
const (
	HasPrepared  Evidence = "PreparedClaims"  // the kubelet keeps claims as prepared by the driver
	HasAllocated Evidence = "AllocatedClaims" // claims of pods on the node have devices of the driver
	HasSlices    Evidence = "ResourceSlices"  // slices of the node are of the driver
	InCSINode    Evidence = "CSINode"         // the CSINode of the node names the driver

	// NotBack: the kubelet remembers devices from before its start, and no plugin has told it of any since.
	NotBack Evidence = "NotBack"
	// NoDevice: the kubelet knows the resource and no device of it. Whether a plugin is there that has none
	// cannot be told.
	NoDevice Evidence = "NoDevice"
	// Stopped: the plugin has stopped in the last five minutes, or all its devices are unhealthy. Which of
	// the two cannot be told.
	Stopped Evidence = "Stopped"
	// NoneHealthy: the kubelet knows the resource and offers no device, and the API server does not say more.
	NoneHealthy Evidence = "NoneHealthy"
	// Dropped: the status of the node still has the resource, and the kubelet does not know it any more: it
	// forgets a plugin that has stopped after five minutes.
	Dropped Evidence = "Dropped"
)

// MissingPlugin is a plugin that was on the node, or has to be there, and is not.
type MissingPlugin struct {
	// Type is DRAPlugin, DevicePlugin or CSIPlugin, and Name that of the driver or the resource.
	Type, Name string
	Evidence   []Evidence // at least one, in the order of the constants
}

// missing finds the plugins that have not come back. A DRA driver that has no claim and no slice on the node
// leaves no trace when it goes, and is not missed.
func (j *joining) missing() {
	j.missingDrivers()
	j.missingDevicePlugins()
	slices.SortFunc(j.Missing, func(a, b MissingPlugin) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name)) })
	hidden := slices.ContainsFunc(j.view.Unanswered(), func(p Plugin) bool { return p.Type != DevicePlugin })
	for _, m := range j.Missing {
		switch {
		case m.Type == DevicePlugin:
			j.Problems = append(j.Problems, Problem{Code: PluginMissing, Resource: m.Name, Detail: string(m.Evidence[0])})
		case m.Type == CSIPlugin:
			j.Problems = append(j.Problems, Problem{Code: CSIDriverMissing, Driver: m.Name, Hidden: hidden})
		case m.Evidence[0] == HasPrepared:
			j.Problems = append(j.Problems, Problem{Code: DriverSilent, Driver: m.Name, Hidden: hidden})
		default:
			j.Problems = append(j.Problems, Problem{Code: DriverMissing, Driver: m.Name, Detail: string(m.Evidence[0]), Hidden: hidden})
		}
	}
}

// missingDrivers finds the drivers of DRA and CSI that have no plugin which answers in the registry.
func (j *joining) missingDrivers() {
	if !j.view.Read(Registry) {
		return
	}
	answers := map[[2]string]bool{}
	for _, p := range j.view.Plugins {
		if p.Health.State == inspect.Synced {
			answers[[2]string{p.Type, p.Name}] = true
		}
	}
	evidence := map[[2]string][]Evidence{}
	miss := func(kind, name string, e Evidence) {
		key := [2]string{kind, name}
		if !answers[key] && name != "" && !slices.Contains(evidence[key], e) {
			evidence[key] = append(evidence[key], e)
		}
	}
	for _, c := range j.view.Claims {
		for _, d := range c.Drivers {
			miss(DRAPlugin, d, HasPrepared)
		}
	}
	for ref := range j.users {
		for _, d := range j.allocated(ref) {
			miss(DRAPlugin, d.Driver, HasAllocated)
		}
	}
	for _, s := range j.snapshot.Objects().Slices {
		if s.Spec.NodeName != nil && inspect.NodeName(*s.Spec.NodeName) == j.Node {
			miss(DRAPlugin, s.Spec.Driver, HasSlices)
		}
	}
	for _, n := range j.snapshot.Objects().CSINodes {
		for _, d := range n.Spec.Drivers {
			if inspect.NodeName(n.Name) == j.Node {
				miss(CSIPlugin, d.Name, InCSINode)
			}
		}
	}
	for key, e := range evidence {
		j.Missing = append(j.Missing, MissingPlugin{key[0], key[1], e})
	}
}

// missingDevicePlugins finds the resources of device plugins of which the kubelet offers nothing. From its
// start on a kubelet lists the resources of its checkpoint with a capacity of 0 until their plugins register.
// When a plugin stops, its devices count as unhealthy, so that they are still in the capacity, and after five
// minutes they are forgotten, also by the checkpoint.
func (j *joining) missingDevicePlugins() {
	if !j.view.Read(Allocatables) || !j.view.Read(DeviceCheckpoint) {
		return
	}
	for i := range j.Resources {
		r := &j.Resources[i]
		if r.Healthy == nil || *r.Healthy > 0 || r.Allocatable != nil && *r.Allocatable > 0 {
			continue // devices that the status counts and the kubelet does not are of something else, or on their way
		}
		j.Missing = append(j.Missing, MissingPlugin{DevicePlugin, r.Resource, []Evidence{j.goneSince(r)}})
	}
}

// goneSince says what is known of how long nothing is offered. The checkpoint is written whenever a plugin
// tells of its devices: that it still lists healthy ones while the capacity is 0 shows that none has since
// the kubelet started.
func (j *joining) goneSince(r *ResourceReport) Evidence {
	kept := slices.IndexFunc(j.view.Registered, func(d RegisteredDevices) bool { return d.Resource == r.Resource })
	switch {
	case kept < 0:
		return Dropped
	case r.Capacity == nil:
		return NoneHealthy
	case *r.Capacity > 0:
		return Stopped
	case len(j.view.Registered[kept].IDs) > 0:
		return NotBack
	}
	return NoDevice
}
