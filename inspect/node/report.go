package node

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Report is what the kubelet of a node and the API server say of it together.
type Report struct {
	Node inspect.NodeName
	// Only is the pod that the report is about. If it is empty, it is about all of the node.
	Only inspect.PodRef
	// Plugins are those of the view that the report is about, in its order.
	Plugins []Plugin
	// Containers are those that have something of the kubelet to themselves: devices, claims, CPUs or memory.
	// They are sorted by pod, and in the order of the kubelet.
	Containers []ContainerReport
	// Claims are those of pods on the node, those that are prepared there, and those that hold devices that
	// reach it, sorted by namespace and name.
	Claims []ClaimReport
	// Resources are the extended resources that a device plugin offers or did offer, sorted by name.
	Resources []ResourceReport
	// CPUs is nil if no kubelet was asked.
	CPUs *CPUReport
	// Health is what is known of the devices of containers, sorted by pod, container, resource and id.
	Health []DeviceHealth
	// Missing are plugins that were here or have to be, sorted by type and name.
	Missing []MissingPlugin
	// Problems are what the two disagree about, sorted by code and object.
	Problems []Problem
}

// ContainerReport is what a container has.
type ContainerReport struct {
	Pod inspect.PodRef
	Container

	// Others are devices that the kubelet lists with the container although it asks only for other requests
	// of their claim.
	Others map[Device]bool
	// NUMA are the NUMA nodes of its CPUs, memory and devices of device plugins, sorted, and CPUNUMA those of
	// its CPUs.
	NUMA, CPUNUMA []int64
}

// ClaimReport is a claim on the node.
type ClaimReport struct {
	Claim inspect.ClaimRef
	// Known, Allocated and Prepared are No if that is known, and Unknown if it could not be read.
	Known, Allocated, Prepared Answer
	// Pods are those on the node that use it and have not ended, sorted.
	Pods []inspect.PodRef
	// Devices are sorted, those of the allocation and those that are prepared.
	Devices []ClaimDevice
}

// ClaimDevice is a device of a claim.
type ClaimDevice struct {
	Device

	Published, Allocated, Prepared Answer
	CDI                            []string
}

// Answer is whether something is so, as far as it could be read.
type Answer string

// The answers.
const (
	Unknown Answer = "Unknown"
	Yes     Answer = "Yes"
	No      Answer = "No"
)

// answer is Yes or No where that is known.
func answer(known, is bool) Answer {
	switch {
	case is:
		return Yes
	case known:
		return No
	}
	return Unknown
}

// ResourceReport counts the devices of a device plugin. A number is nil if it could not be read.
type ResourceReport struct {
	Resource string
	// Capacity and Allocatable are of the status of the node.
	Capacity, Allocatable *int64
	// Healthy are those that the kubelet can give to containers, Registered those of its checkpoint, and Used
	// those that containers have.
	Healthy, Registered, Used *int64
}

// CPUReport is who has which CPUs. Lists are sorted, and empty for what could not be read.
type CPUReport struct {
	Policy string
	// Allocatable can be exclusive. Exclusive are, and Shared are for all other containers: those that are
	// left, and those that are reserved, as far as the checkpoint could be read.
	Allocatable, Exclusive, Shared []int64
}

// ProblemCode says what the kubelet and the API server disagree about.
type ProblemCode string

// The problems.
const (
	PreparedUnknown      ProblemCode = "PreparedUnknown"      // prepared, and there is no such claim
	PreparedNotAllocated ProblemCode = "PreparedNotAllocated" // prepared, and the claim is not allocated
	PreparedForNobody    ProblemCode = "PreparedForNobody"    // prepared, and no pod on the node uses it
	NotPrepared          ProblemCode = "NotPrepared"          // a pod that uses it runs, and it is not prepared
	PrepareUnfinished    ProblemCode = "PrepareUnfinished"    // a driver was asked to prepare it, and has given no device
	OtherDevice          ProblemCode = "OtherDevice"          // a device is prepared that is not allocated
	DeviceUnpublished    ProblemCode = "DeviceUnpublished"    // a device is prepared that no slice publishes
	DriverSilent         ProblemCode = "DriverSilent"         // the driver of prepared claims has no plugin that answers
	PluginSilent         ProblemCode = "PluginSilent"         // nothing answers at the socket of a plugin
	ResourceGone         ProblemCode = "ResourceGone"         // containers have devices of a resource of which none is healthy
	PodUnknown           ProblemCode = "PodUnknown"           // the kubelet has a pod that the API server has not
	PodUnseen            ProblemCode = "PodUnseen"            // a pod is bound to the node, and its kubelet does not know it
	DriverMissing        ProblemCode = "DriverMissing"        // a driver has slices or devices of pods here, and no plugin that answers
	PluginMissing        ProblemCode = "PluginMissing"        // the kubelet or the node remembers a resource, and nothing offers it
	CSIDriverMissing     ProblemCode = "CSIDriverMissing"     // the CSINode names a driver, and no plugin of it answers
	DeviceUnhealthy      ProblemCode = "DeviceUnhealthy"      // a container has a device that is not healthy
	OfferedTwice         ProblemCode = "OfferedTwice"         // DRA and a device plugin offer the same hardware
	NUMASpread           ProblemCode = "NUMASpread"           // a container has something of several NUMA nodes
)

// Problem is something that the kubelet and the API server disagree about, or that hurts. Which fields are
// set depends on the code.
type Problem struct {
	Code      ProblemCode
	Claim     inspect.ClaimRef
	Pod       inspect.PodRef
	Container string
	Device    Device
	Driver    string
	Resource  string
	Unit      string // the id of a device of a device plugin, or what a driver calls its device
	Socket    string
	Detail    string // a message of the system, or a list
	// Hidden says of a missing driver that it may be behind a socket of the registry at which nothing
	// answers, which tells no name.
	Hidden bool
}

// Sentence says what is wrong.
func (p *Problem) Sentence() string {
	switch p.Code {
	case PreparedUnknown:
		return fmt.Sprintf("claim %s is prepared here, but the API server has no such claim", p.Claim)
	case PreparedNotAllocated:
		return fmt.Sprintf("claim %s is prepared here, but not allocated", p.Claim)
	case PreparedForNobody:
		return fmt.Sprintf("claim %s is prepared here, but no pod on this node uses it", p.Claim)
	case NotPrepared:
		return fmt.Sprintf("pod %s runs here with claim %s, which the kubelet has not prepared", p.Pod, p.Claim)
	case PrepareUnfinished:
		return fmt.Sprintf("driver %s was asked to prepare claim %s and has given no device: it has failed, or is still at it; the Events of the pod say why", p.Driver, p.Claim)
	case OtherDevice:
		return fmt.Sprintf("claim %s is prepared with device %s, which is not allocated to it", p.Claim, p.Device.DeviceID)
	case DeviceUnpublished:
		return fmt.Sprintf("claim %s is prepared with device %s, which no ResourceSlice publishes", p.Claim, p.Device.DeviceID)
	case DriverSilent:
		return fmt.Sprintf("driver %s has prepared claims, but no plugin of it answers: %sthey cannot be given back", p.Driver, p.hidden())
	case PluginSilent:
		return fmt.Sprintf("nothing answers at %s: %s", p.Socket, p.Detail)
	case ResourceGone:
		return fmt.Sprintf("containers have devices of %s, but none is healthy: its plugin is gone or has not come back", p.Resource)
	case PodUnknown:
		return fmt.Sprintf("the kubelet has pod %s, but the API server has no such pod: it may still run, with its devices", p.Pod)
	case PodUnseen:
		return fmt.Sprintf("pod %s is bound to this node, but its kubelet does not know of it", p.Pod)
	case DriverMissing:
		return fmt.Sprintf("driver %s %s, but no plugin of it answers: %spods with its devices cannot start or end", p.Driver, evidenceText[Evidence(p.Detail)], p.hidden())
	case PluginMissing:
		return fmt.Sprintf("no device of %s is offered: %s", p.Resource, evidenceText[Evidence(p.Detail)])
	case CSIDriverMissing:
		return fmt.Sprintf("CSI driver %s %s, but no plugin of it answers: %sits volumes cannot be mounted", p.Driver, evidenceText[InCSINode], p.hidden())
	case DeviceUnhealthy:
		return p.unhealthy()
	case OfferedTwice:
		return fmt.Sprintf("device %s is also offered as %s, by a device plugin: %s may be given away twice", p.Device.DeviceID, p.Resource, p.Unit)
	case NUMASpread:
		return fmt.Sprintf("container %s of pod %s has CPUs, memory or devices of device plugins of NUMA nodes %s", p.Container, p.Pod, p.Detail)
	}
	return string(p.Code)
}

// hidden is what a sentence about a missing driver adds if a plugin does not say who it is. What the kubelet
// has registered before works on, whether or not it answers now.
func (p *Problem) hidden() string {
	if !p.Hidden {
		return ""
	}
	return "it may be behind a socket at which nothing answers now; unless the kubelet has registered it before, "
}

// unhealthy says which device of which container is not healthy.
func (p *Problem) unhealthy() string {
	what := fmt.Sprintf("device %s of %s", p.Unit, p.Resource)
	switch {
	case p.Claim == inspect.ClaimRef{}:
	case p.Device.DeviceID != inspect.DeviceID{}:
		what = fmt.Sprintf("device %s of claim %s", p.Device.DeviceID, p.Claim)
	default:
		what = fmt.Sprintf("device %s of claim %s", p.Unit, p.Claim)
	}
	text := fmt.Sprintf("%s, which container %s of pod %s has, is unhealthy", what, p.Container, p.Pod)
	if p.Detail != "" {
		text += ": " + p.Detail
	}
	return text
}

// evidenceText is what speaks for a plugin that is missing, in words.
var evidenceText = map[Evidence]string{
	HasPrepared:  "has prepared claims",
	HasAllocated: "has devices of pods on this node",
	HasSlices:    "has published devices of this node",
	InCSINode:    "is in the CSINode of this node",
	NotBack:      "its device plugin was here before the kubelet started, and has not come back",
	NoDevice:     "its device plugin has not come back since the kubelet started, or has no device",
	Stopped:      "its device plugin has stopped within the last 5 minutes, or all its devices are unhealthy",
	NoneHealthy:  "its device plugin is gone, or all its devices are unhealthy",
	Dropped:      "its device plugin is gone, and the kubelet has forgotten it, which takes 5 minutes",
}

// Sentence says of what is missing what speaks for it.
func (m *MissingPlugin) Sentence() string {
	parts := make([]string, 0, len(m.Evidence))
	for _, e := range m.Evidence {
		parts = append(parts, evidenceText[e])
	}
	text := strings.Join(parts, ", ")
	if m.Type != DevicePlugin {
		text = "it " + text
	}
	return text
}
