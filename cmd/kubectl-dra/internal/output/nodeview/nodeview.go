package nodeview

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// NodeView is the wire form of what a kubelet and the API server say of a node.
type NodeView struct {
	output.Head
	Node string `json:"node"`
	// Pod is the only pod that it is about, as namespace/name.
	Pod string `json:"pod,omitempty"`
	// Kubelet is whether anything of the node itself could be read.
	Kubelet    bool            `json:"kubelet"`
	Problems   []NodeProblem   `json:"problems"`
	Containers []NodeContainer `json:"containers"`
	Claims     []NodeClaim     `json:"claims"`
	Resources  []NodeResource  `json:"resources"`
	// CPUs is there only when the kubelet could be asked.
	CPUs    *NodeCPUs    `json:"cpus,omitempty"`
	Plugins []NodePlugin `json:"plugins"`
	// KubeletStarted is when the kubelet made the socket at which it answered.
	KubeletStarted *time.Time `json:"kubeletStarted,omitempty"`
	// Missing are plugins that were here or have to be, and do not answer.
	Missing []MissingPlugin `json:"missing"`
	// Health is what is known of the devices of containers.
	Health []NodeDeviceHealth `json:"health"`
	// Sources are the parts of the node and how far each could be read.
	Sources []NodeSource `json:"sources"`
	Notes   []string     `json:"notes"`
	// Partial says what could not be read and what that means.
	Partial []string `json:"partial"`
}

// NodeProblem is something that the kubelet and the API server disagree about, or that hurts.
type NodeProblem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// NodeContainer is what a container has. Pods without the API server have names only.
type NodeContainer struct {
	Namespace string         `json:"namespace"`
	Pod       string         `json:"pod"`
	Container string         `json:"container"`
	Devices   []PluginDevice `json:"devices"`
	Claims    []HeldClaim    `json:"claims"`
	// CPUs are those that it has for itself, as 2-3,8.
	CPUs    string       `json:"cpus,omitempty"`
	CPUNUMA []int64      `json:"cpuNUMA,omitempty"`
	Memory  []NodeMemory `json:"memory,omitempty"`
	// NUMA are the NUMA nodes of all that, but for claims.
	NUMA []int64 `json:"numa"`
}

// PluginDevice is a device of a device plugin. NUMA is empty if the plugin says nothing of it.
type PluginDevice struct {
	Resource string  `json:"resource"`
	ID       string  `json:"id"`
	NUMA     []int64 `json:"numa"`
}

// NodeMemory is an amount of memory in bytes.
type NodeMemory struct {
	Type string  `json:"type"`
	Size uint64  `json:"size"`
	NUMA []int64 `json:"numa"`
}

// HeldClaim is a claim of a container.
type HeldClaim struct {
	Namespace string       `json:"namespace"`
	Name      string       `json:"name"`
	Devices   []HeldDevice `json:"devices"`
}

// NodeDevice identifies a device of DRA.
type NodeDevice struct {
	Driver  string `json:"driver"`
	Pool    string `json:"pool"`
	Device  string `json:"device"`
	ShareID string `json:"shareID,omitempty"`
}

// HeldDevice is a device of a claim of a container.
type HeldDevice struct {
	NodeDevice
	// OtherContainer: the kubelet lists it with this container, which asks only for other requests of the
	// claim.
	OtherContainer bool `json:"otherContainer,omitempty"`
}

// NodeClaim is a claim on a node. Each answer is Yes, No or Unknown.
type NodeClaim struct {
	Namespace string            `json:"namespace"`
	Name      string            `json:"name"`
	Known     string            `json:"known"`
	Allocated string            `json:"allocated"`
	Prepared  string            `json:"prepared"`
	Pods      []string          `json:"pods"`
	Devices   []NodeClaimDevice `json:"devices"`
}

// NodeClaimDevice is a device of a claim.
type NodeClaimDevice struct {
	NodeDevice
	Published string   `json:"published"`
	Allocated string   `json:"allocated"`
	Prepared  string   `json:"prepared"`
	CDI       []string `json:"cdi"`
}

// NodeResource counts the devices of a device plugin. A number is absent if it could not be read.
type NodeResource struct {
	Name        string `json:"name"`
	Capacity    *int64 `json:"capacity,omitempty"`
	Allocatable *int64 `json:"allocatable,omitempty"`
	Healthy     *int64 `json:"healthy,omitempty"`
	Registered  *int64 `json:"registered,omitempty"`
	Used        *int64 `json:"used,omitempty"`
}

// NodeCPUs are the CPUs of a node, as 2-3,8.
type NodeCPUs struct {
	Policy      string `json:"policy,omitempty"`
	Allocatable string `json:"allocatable"`
	Exclusive   string `json:"exclusive"`
	Shared      string `json:"shared"`
}

// NodePlugin is what serves a socket at which the kubelet finds plugins.
type NodePlugin struct {
	Type     string   `json:"type,omitempty"`
	Name     string   `json:"name,omitempty"`
	Socket   string   `json:"socket"`
	Endpoint string   `json:"endpoint,omitempty"`
	Versions []string `json:"versions"`
	Options  []string `json:"options,omitempty"`
	// Since is when the socket was made.
	Since   *time.Time `json:"since,omitempty"`
	Answers bool       `json:"answers"`
	Error   string     `json:"error,omitempty"`
}

// MissingPlugin is a plugin that was on the node or has to be there.
type MissingPlugin struct {
	Type     string   `json:"type"`
	Name     string   `json:"name"`
	Evidence []string `json:"evidence"`
	Message  string   `json:"message"`
}

// NodeDeviceHealth is what is known of the health of a device that a container has. Which fields are set
// depends on whether it is of a device plugin, whose resource and id it has, or of a claim.
type NodeDeviceHealth struct {
	Namespace string      `json:"namespace"`
	Pod       string      `json:"pod"`
	Container string      `json:"container"`
	Resource  string      `json:"resource"`
	ID        string      `json:"id"`
	Claim     string      `json:"claim,omitempty"`
	Device    *NodeDevice `json:"device,omitempty"`
	Health    string      `json:"health"`
	Message   string      `json:"message,omitempty"`
}

// NodeSource is a part of the node and how far it could be read.
type NodeSource struct {
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
}

// NewNodeView makes the wire form. partial says what could not be read of the API server.
func NewNodeView(r *node.Report, v *node.View, notes, partial []string) *NodeView {
	out := &NodeView{Head: output.HeadOf("NodeView"), Node: string(r.Node), Kubelet: v.Any(),
		KubeletStarted: output.OptionalUTC(v.Started), Notes: output.OrEmpty(notes), Partial: output.OrEmpty(partial),
		Problems:   words.Each(r.Problems, func(p node.Problem) NodeProblem { return NodeProblem{string(p.Code), p.Sentence()} }),
		Containers: words.Each(r.Containers, wireContainer), Claims: words.Each(r.Claims, wireNodeClaim), Plugins: words.Each(r.Plugins, wirePlugin), Sources: []NodeSource{},
		Missing: words.Each(r.Missing, wireMissing), Health: words.Each(r.Health, wireHealth),
		Resources: words.Each(r.Resources, func(n node.ResourceReport) NodeResource {
			return NodeResource{n.Resource, n.Capacity, n.Allocatable, n.Healthy, n.Registered, n.Used}
		})}
	if c := r.CPUs; c != nil {
		out.CPUs = &NodeCPUs{c.Policy, node.FormatCPUSet(c.Allocatable), node.FormatCPUSet(c.Exclusive), node.FormatCPUSet(c.Shared)}
	}
	if r.Only != (inspect.PodRef{}) {
		out.Pod = r.Only.String()
	}
	for _, s := range node.Sources() {
		if h, ok := v.Health[s]; ok {
			out.Sources = append(out.Sources, NodeSource{string(s), string(h.State), h.Message})
		}
	}
	return out
}

func wireContainer(c node.ContainerReport) NodeContainer {
	return NodeContainer{Namespace: c.Pod.Namespace, Pod: c.Pod.Name, Container: c.Name, CPUs: node.FormatCPUSet(c.CPUs), CPUNUMA: c.CPUNUMA, NUMA: output.OrEmpty(c.NUMA),
		Devices: words.Each(c.Devices, func(d node.PluginDevice) PluginDevice { return PluginDevice{d.Resource, d.ID, output.OrEmpty(d.NUMA)} }),
		Memory:  words.Each(c.Memory, func(m node.Memory) NodeMemory { return NodeMemory{m.Type, m.Size, output.OrEmpty(m.NUMA)} }),
		Claims: words.Each(c.Claims, func(u node.ClaimUse) HeldClaim {
			return HeldClaim{u.Claim.Namespace, u.Claim.Name, words.Each(u.Devices, func(d node.Device) HeldDevice {
				return HeldDevice{wireNodeDevice(d), c.Others[d]}
			})}
		})}
}

func wireNodeDevice(d node.Device) NodeDevice { return NodeDevice{d.Driver, d.Pool, d.Device, d.Share} }

func wireNodeClaim(c node.ClaimReport) NodeClaim {
	return NodeClaim{c.Claim.Namespace, c.Claim.Name, string(c.Known), string(c.Allocated), string(c.Prepared),
		words.Each(c.Pods, inspect.PodRef.String),
		words.Each(c.Devices, func(d node.ClaimDevice) NodeClaimDevice {
			return NodeClaimDevice{wireNodeDevice(d.Device), string(d.Published), string(d.Allocated), string(d.Prepared), output.OrEmpty(d.CDI)}
		})}
}

func wirePlugin(p node.Plugin) NodePlugin {
	return NodePlugin{Type: p.Type, Name: p.Name, Socket: p.Socket, Endpoint: p.Endpoint, Versions: output.OrEmpty(p.Versions), Options: p.Options,
		Answers: p.Health.State == inspect.Synced, Error: p.Health.Message, Since: output.OptionalUTC(p.Since)}
}

func wireMissing(m node.MissingPlugin) MissingPlugin {
	return MissingPlugin{m.Type, m.Name, words.Strings(m.Evidence), m.Sentence()}
}

func wireHealth(h node.DeviceHealth) NodeDeviceHealth {
	out := NodeDeviceHealth{Namespace: h.Pod.Namespace, Pod: h.Pod.Name, Container: h.Container, Resource: h.Resource, ID: h.ID,
		Claim: h.Claim.Name, Health: string(h.State), Message: h.Message}
	if h.Device != (inspect.DeviceID{}) {
		out.Device = &NodeDevice{Driver: h.Device.Driver, Pool: h.Device.Pool, Device: h.Device.Device}
	}
	return out
}
