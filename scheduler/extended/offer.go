package extended

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Server is who serves a pod that asks for a resource.
type Server string

// The servers.
const (
	DevicePlugin Server = "DevicePlugin"
	DRA          Server = "DRA"
	Nobody       Server = "None"
	// Unknown: what decides it could not be read.
	Unknown Server = "Unknown"
)

// Use is how much a pod has of a resource, or waits for.
type Use struct {
	Pod   inspect.PodRef
	Count int64
}

// Plugin is what a device plugin offers on a node, as the kubelet reports it.
type Plugin struct {
	// Capacity counts the devices, Allocatable those that are healthy.
	Capacity, Allocatable int64
	// Pods have devices of the plugin, sorted. They may have them of a plugin that is gone.
	Pods []Use

	listed bool // as allocatable, with whatever number
}

// Devices are those of a device class on a node.
type Devices struct {
	inspect.DeviceCount
	// Healthy counts those that are published completely and have no taint that keeps claims off.
	Healthy int
	// Pods have devices because they ask for the resource by name, sorted. Those with a claim of their own
	// are not among them.
	Pods []Use
	// Fails says why a selector of the class cannot be evaluated for one of the devices of the node, at which
	// the scheduler gives up when it gets there. It is nil if all can be.
	Fails error

	devices []*inspect.DeviceStatus
}

// Offer is a resource on a node.
type Offer struct {
	Resource corev1.ResourceName
	// Node is empty for a resource that a class provides or a pod asks for, and that is on no node.
	Node     inspect.NodeName
	ServedBy Server
	// Class provides the resource where no device plugin does. It is empty if there is none.
	Class string
	// Plugin is nil if no device plugin has ever offered the resource, as far as the node remembers.
	Plugin *Plugin
	// Devices is nil if the node has none of the class.
	Devices *Devices
	// Cordoned: the node takes no new pods.
	Cordoned bool
	// Count is about whoever serves, or else about the device plugin.
	Count
}

// Count counts what is offered of a resource. A number is nil if it could not be read.
type Count struct {
	// Offered is all, Healthy those that can be given to pods.
	Offered, Healthy *int64
	// Used is what pods have, or claims, and Free what the scheduler could give on one node to a pod that
	// asks now. They need not add up to what is healthy: pods keep devices that have become unhealthy, and of
	// devices that are made of the same counters not all can be had.
	Used, Free *int64
}

// used is the sum of uses.
func used(uses []Use) int64 {
	var sum int64
	for _, u := range uses {
		sum = plus(sum, u.Count)
	}
	return sum
}

// plus adds what is not negative. The sum of numbers that nobody has devices for is the largest that there
// is.
func plus(a, b int64) int64 {
	if sum := a + b; sum >= a {
		return sum
	}
	return 1<<63 - 1
}

// count fills in the counts, as far as what they follow from could be read.
func (o *Offer) count(read read) {
	known := func(n int64, ok bool) *int64 {
		if !ok {
			return nil
		}
		return &n
	}
	plugin, devices := o.plugin(), o.devices()
	taken := used(plugin.Pods)
	switch o.ServedBy {
	case DRA:
		devicesKnown := read.slices && read.claims
		o.Offered, o.Healthy = known(int64(devices.Total), read.slices), known(int64(devices.Healthy), read.slices)
		o.Used, o.Free = known(int64(devices.Used), devicesKnown), known(int64(devices.AtOnce), devicesKnown && devices.Fails == nil)
	case Unknown:
		o.Offered, o.Healthy = known(plugin.Capacity, read.nodes), known(plugin.Allocatable, read.nodes)
		o.Used = known(taken, read.nodes && read.pods)
	default:
		// The scheduler does not tell apart what pods got from DRA, before the node had a device plugin.
		left := max(0, plugin.Allocatable-plus(taken, used(devices.Pods)))
		o.Offered, o.Healthy = known(plugin.Capacity, true), known(plugin.Allocatable, true)
		o.Used, o.Free = known(taken, read.pods), known(left, read.pods || plugin.Allocatable == 0)
	}
}

func (o *Offer) plugin() Plugin { return ptr.Deref(o.Plugin, Plugin{}) }

func (o *Offer) devices() Devices { return ptr.Deref(o.Devices, Devices{}) }

// healthy reports whether claims that tolerate nothing can have a device, if nobody else has it.
func healthy(d *inspect.DeviceStatus, taints bool) bool {
	return d.State != inspect.DeviceUnreachable && !(taints && slices.ContainsFunc(d.Device.Taints, func(t resourcev1.DeviceTaint) bool {
		return t.Effect == resourcev1.DeviceTaintEffectNoSchedule || t.Effect == resourcev1.DeviceTaintEffectNoExecute
	}))
}
