package node

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Source is where a part of a View comes from.
type Source string

// The sources of a View. Files and directories are named as below the directory of the kubelet.
const (
	PodResources     Source = "pod-resources List"
	Allocatables     Source = "pod-resources GetAllocatableResources"
	PodsAPI          Source = "pods-api ListPods"
	DeviceCheckpoint Source = "device-plugins/kubelet_internal_checkpoint"
	ClaimCheckpoint  Source = "dra_manager_state"
	CPUCheckpoint    Source = "cpu_manager_state"
	MemoryCheckpoint Source = "memory_manager_state"
	Registry         Source = "plugins_registry"
	DevicePluginDir  Source = "device-plugins"
	Topology         Source = "NUMA nodes of CPUs"
)

// Sources returns all sources, in the order in which they are told.
func Sources() []Source {
	return []Source{PodResources, Allocatables, PodsAPI, DeviceCheckpoint, ClaimCheckpoint, CPUCheckpoint, MemoryCheckpoint, Registry, DevicePluginDir, Topology}
}

// View is what one kubelet says and keeps. Of a source that could not be read its fields are empty.
type View struct {
	// Pods are those that PodResources lists, sorted by namespace and name. If Only is not empty, that pod
	// alone was asked for, and they are empty if the kubelet does not know it.
	Pods        []Pod
	Only        inspect.PodRef
	Allocatable Allocatable
	// KubeletPods are the pods that the kubelet knows, those that have ended and static ones too, with the
	// status that it has of them, sorted by namespace and name.
	KubeletPods []*corev1.Pod
	// Claims are those that the kubelet keeps as prepared, those of pods that are gone too, sorted by
	// namespace and name.
	Claims []PreparedClaim
	// Registered are the devices of device plugins, as of the checkpoint.
	Registered []RegisteredDevices // sorted by resource
	CPUs       *CPUState           // nil if not read
	Plugins    []Plugin            // sorted by type, name and socket
	// NUMAOfCPU is the NUMA node of each CPU. It is nil if not read.
	NUMAOfCPU map[int64]int64
	// Started is when the kubelet made the socket at which it answered. It is zero if it did not answer.
	Started time.Time
	Health  map[Source]inspect.Health
}

// Read reports whether a source was read completely.
func (v *View) Read(s Source) bool { return v != nil && v.Health[s].State == inspect.Synced }

// Any reports whether at least one source could be read.
func (v *View) Any() bool {
	for s := range v.Health {
		if s != Topology && v.Read(s) { // that is of the machine
			return true
		}
	}
	return false
}

// Pod is what a pod has.
type Pod struct {
	Ref        inspect.PodRef
	Containers []Container // in the order of the kubelet
	CPUs       []int64     // of the pod as a whole, with those of its containers
}

// Container is what a container has.
type Container struct {
	Name    string
	Devices []PluginDevice // sorted by resource, then by id
	CPUs    []int64        // exclusive ones, sorted
	Memory  []Memory
	Claims  []ClaimUse // sorted by namespace and name
}

// PluginDevice is a device of a device plugin.
type PluginDevice struct {
	Resource, ID string
	// NUMA are the NUMA nodes of the device, sorted. It is empty if the plugin says nothing of them.
	NUMA []int64
}

// Memory is an amount of a kind of memory, in bytes.
type Memory struct {
	Type string // memory or hugepages-…
	Size uint64
	NUMA []int64
}

// ClaimUse is a claim of a container. The kubelet does not say which of the devices are for which container:
// all devices of the claim are listed with each. Without devices, a driver has not prepared the claim.
type ClaimUse struct {
	Claim   inspect.ClaimRef
	Devices []Device // sorted, each once
}

// Device identifies a device of DRA as it is allocated. Share is empty unless claims share the device.
type Device struct {
	inspect.DeviceID

	Share string
}

// Allocatable is what GetAllocatableResources says: healthy devices of device plugins, and CPUs if they can
// be exclusive.
type Allocatable struct {
	Devices []PluginDevice
	CPUs    []int64
}

// PreparedClaim is an entry of the checkpoint of claims.
type PreparedClaim struct {
	Claim inspect.ClaimRef
	UID   types.UID
	Pods  []types.UID // sorted
	// Drivers have been asked to prepare the claim, sorted.
	Drivers []string
	Devices []PreparedDevice // sorted
}

// PreparedDevice is what a driver said of an allocated device.
type PreparedDevice struct {
	Device
	CDI []string // ids of CDI devices
}

// RegisteredDevices are the devices under a resource name that the kubelet knows.
type RegisteredDevices struct {
	Resource string
	IDs      []string // sorted
}

// CPUState is the checkpoint of the CPU manager.
type CPUState struct {
	Policy string // none or static
	// Shared are the CPUs that are nobody's alone. It is empty with the policy none.
	Shared []int64
	// Exclusive has the CPUs that containers have for themselves, by pod and container.
	Exclusive []int64
}

// The types of plugins. The first three are the kubelet's.
const (
	DRAPlugin    = "DRAPlugin"
	DevicePlugin = "DevicePlugin"
	CSIPlugin    = "CSIPlugin"
)

// Plugin is what serves a socket at which the kubelet finds plugins.
type Plugin struct {
	// Type and Name are what it says of itself. They are empty if it does not answer, and the name is empty
	// for device plugins that registered by themselves, which do not say it.
	Type, Name string
	// Socket is its path below the directory of the kubelet.
	Socket string
	// Endpoint is where its own service is, if that is another socket.
	Endpoint string
	// Versions are the versions of the service that it supports, in its order.
	Versions []string
	// Options are of device plugins.
	Options []string
	// Since is when the socket was made.
	Since time.Time
	// Health is Broken for a socket at which nothing answers.
	Health inspect.Health
}
