package explain

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Group is a set of nodes on which the same things are in the way. If there are many groups, nodes that
// differ only in numbers are put together, and Step and Loss give the range of the numbers.
type Group struct {
	// Nodes are sorted by name.
	Nodes []inspect.NodeName
	// Missing is, for each of Nodes, the number of devices that it lacks at least: those that are needed and
	// that no check of a single device leaves. It is 0 where enough are left that cannot be had together.
	Missing []int
	// Reasons are what is in the way, the most decisive first.
	Reasons []Reason
	// Funnels show, for each request, how many devices are left after each check.
	Funnels []Funnel
	// Unusable says that the pod cannot use the nodes whatever devices and room they have: they are not those
	// that it asks for, or it does not tolerate them.
	Unusable bool
	// Score orders groups by how much the nodes lack: the higher, the less. It has no unit.
	Score int
}

// Reason is one thing that is in the way.
type Reason struct {
	Code allocator.Code
	// Plugin is the plugin of kube-scheduler that refuses a pod, such as "NodeResourcesFit". It is empty if
	// that is the allocation of devices.
	Plugin string
	// Key distinguishes reasons with the same code, however they are worded. Nodes with the same reasons are
	// grouped by it. It does not depend on the devices that the reason is about.
	Key string
	// Found distinguishes the numbers and the values that the messages of reasons with the same Key give.
	Found string
	// Request is "request" or "request/subrequest" of Claim. Both are empty if no request is to blame.
	Request string
	Claim   inspect.ClaimRef
	// Path is the field at fault, as "spec.devices.requests[0].exactly.count". It may be empty.
	Path string
	// Pool is the pool at fault. It is empty if none is.
	Pool inspect.PoolID
	// Devices are those that the reason is about, on all nodes of the group; of a large group, those of
	// some of its nodes. Total is their number on all nodes.
	Devices []inspect.DeviceID
	Total   int
	// Claims are those that hold the devices.
	Claims []Holder
	// TaintRules are the DeviceTaintRules that set the taint, where the reason is one.
	TaintRules []TaintRule
	Message    string
	// Brief is the message in a few words. It is empty if the message is brief enough.
	Brief string
	// NamesRequest says that the message names the request.
	NamesRequest bool
	// Told says that the message of the explanation tells all that this message tells.
	Told bool
}

// Finding is what a reason says, whatever the words: reasons with the same Finding say the same.
type Finding struct {
	Code       allocator.Code
	Key, Found string
}

// Finding returns what the reason says.
func (r *Reason) Finding() Finding { return Finding{r.Code, r.Key, r.Found} }

// Holder is a claim that stands in the way because it holds devices, with the pods that use it.
type Holder struct {
	Claim inspect.ClaimRef   `json:"claim"`
	State inspect.ClaimState `json:"state"`
	Pods  []inspect.PodRef   `json:"pods,omitempty"`
	// Age is the age of the claim as kubectl prints it, such as "3d4h". It is empty if it is not known.
	Age string `json:"age,omitempty"`
	// Devices are those of the devices in question that the claim holds.
	Devices []inspect.DeviceID `json:"devices,omitempty"`
}
