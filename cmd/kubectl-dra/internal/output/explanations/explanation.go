package explanations

import (
	"cmp"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Explanation is the wire form of an explain.Explanation.
type Explanation struct {
	output.Head
	Subject explain.Subject `json:"subject"`
	// Workload is there only when the subject is one pod of another object.
	Workload *explain.Workload `json:"workload,omitempty"`
	Verdict  explain.Verdict   `json:"verdict"`
	Message  string            `json:"message"`
	Nodes    explain.NodeCount `json:"nodes"`
	// Turn is there only when others were asked together with the subject and got devices before it.
	Turn *explain.Turn `json:"turn,omitempty"`
	// Admission is there only where Kueue has something to do with the pod.
	Admission *explain.Admission `json:"admission,omitempty"`
	// Queue is there only for a pod that waits.
	Queue      *explain.Queue `json:"queue,omitempty"`
	Joint      *explain.Joint `json:"joint,omitempty"`
	Allocation *Allocation    `json:"allocation,omitempty"`
	// Lifecycle is there only when the subject has devices or is on a node, or when there are Events.
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	// Volume is there only when the subject is a PersistentVolumeClaim.
	Volume *Volume     `json:"volume,omitempty"`
	Groups []NodeGroup `json:"groups"`
	// Failure is there only when a selector fails for a device.
	Failure *Failure `json:"failure,omitempty"`
	// Search is there only when the scheduler's own search takes more than a few hundred steps.
	Search *explain.SearchCost `json:"search,omitempty"`
	// Advice is what to see to first. It was not tried, since what comes of it is not known.
	Advice []explain.Advice `json:"advice,omitempty"`
	// Conflict and NoHelp are there only when the answer is no, and Fixes is empty when it is yes.
	Conflict *Conflict `json:"conflict,omitempty"`
	Fixes    []Fix     `json:"fixes"`
	NoHelp   []string  `json:"noHelp,omitempty"`
	// Preemption is there only when a pod is refused.
	Preemption *Preemption `json:"preemption,omitempty"`
	// Waits says what an allocatable claim waits for.
	Waits []explain.Note `json:"waits,omitempty"`
	// Scheduler is what the scheduler last said about the pods.
	Scheduler []explain.Note `json:"scheduler,omitempty"`
	// Partial says what could not be read and what that means.
	Partial []string      `json:"partial"`
	Basis   explain.Basis `json:"basis"`

	headline string
}

// Allocation is a set of devices.
type Allocation struct {
	Node    string            `json:"node,omitempty"`
	Devices []AllocatedDevice `json:"devices"`
}

// AllocatedDevice is one device of an allocation.
type AllocatedDevice struct {
	// Claim is namespace/name; only where several claims are asked about.
	Claim            string                                         `json:"claim,omitempty"`
	Request          string                                         `json:"request"`
	Driver           string                                         `json:"driver"`
	Pool             string                                         `json:"pool"`
	Device           string                                         `json:"device"`
	AdminAccess      bool                                           `json:"adminAccess"`
	ConsumedCapacity map[resourcev1.QualifiedName]resource.Quantity `json:"consumedCapacity,omitempty"`
}

// NodeGroup is the nodes on which the same things are in the way.
type NodeGroup struct {
	Nodes   []string `json:"nodes"`
	Reasons []Reason `json:"reasons"`
	Funnels []Funnel `json:"funnels,omitempty"`
}

// Reason is one thing that is in the way.
type Reason struct {
	Code string `json:"code" enum:"allocator.Code"`
	// Plugin is the plugin of kube-scheduler that refuses a pod.
	Plugin  string `json:"plugin,omitempty" enum:"filters.Plugin"`
	Claim   string `json:"claim,omitempty"`
	Request string `json:"request,omitempty"`
	Path    string `json:"path,omitempty"`
	// Devices are driver/pool/device.
	Devices []string `json:"devices,omitempty"`
	// Claims are namespace/name of those that hold the devices; Holders says more of them.
	Claims  []string         `json:"claims,omitempty"`
	Holders []explain.Holder `json:"holders,omitempty"`
	// TaintRules are the DeviceTaintRules that set the taint, where the reason is one.
	TaintRules []explain.TaintRule `json:"taintRules,omitempty"`
	// Actor is who can mend it: User, DriverAdmin or ClusterAdmin. It is left out where only a fix tells.
	Actor   string `json:"actor,omitempty" enum:"explain.Actor"`
	Message string `json:"message"`
}

// Funnel is what becomes of the devices that a request sees on the nodes of a group.
type Funnel struct {
	Claim   string `json:"claim,omitempty"`
	Request string `json:"request"`
	Needed  int    `json:"needed,omitempty"`
	All     bool   `json:"all,omitempty"`
	Steps   []Step `json:"steps"`
}

// Step is one step of a funnel. Left is the number of devices left on a node; where the nodes of the
// group differ it is the lowest, and Most the highest.
type Step struct {
	Name string `json:"name"`
	Left int    `json:"left"`
	Most int    `json:"most,omitempty"`
	Lost []Loss `json:"lost,omitempty"`
}

// Loss is a number of devices lost for one reason; Count and Most are as Left and Most of a Step.
type Loss struct {
	Code    string   `json:"code" enum:"allocator.Code"`
	Count   int      `json:"count"`
	Most    int      `json:"most,omitempty"`
	Message string   `json:"message,omitempty"`
	Devices []string `json:"devices,omitempty"`
	Claims  []string `json:"claims,omitempty"`
	// TaintRules are the DeviceTaintRules that set the taint for which they are lost.
	TaintRules []explain.TaintRule `json:"taintRules,omitempty"`
}

// Explanations returns the wire form of one answer, or an ExplanationList of several.
func Explanations(answers []*explain.Explanation) any {
	return output.OneOrList("ExplanationList", words.Each(answers, NewExplanation))
}

// NewExplanation returns the wire form of an answer.
func NewExplanation(e *explain.Explanation) *Explanation {
	c := claimName{subject: e.Subject}
	return &Explanation{
		Head:    output.HeadOf("Explanation"),
		Subject: e.Subject, Workload: e.Workload, Verdict: e.Verdict, Message: e.Message, Nodes: e.Nodes,
		Turn: e.Turn, Admission: e.Admission, Queue: e.Queue, Joint: e.Joint, Search: e.Search, Advice: e.Advice, Waits: e.Waits, Scheduler: e.Scheduler,
		Allocation: output.Maybe(e.Allocation, c.allocation),
		Lifecycle:  output.Maybe(e.Lifecycle, c.lifecycle),
		Volume:     output.Maybe(e.Volume, volume),
		Groups:     words.Each(e.Groups, c.group),
		Failure:    output.Maybe(e.Failure, c.failure),
		Conflict:   output.Maybe(e.Conflict, c.conflict), Fixes: words.Each(e.Fixes, c.fix), NoHelp: e.NoHelp,
		Preemption: output.Maybe(e.Preemption, preemption),
		Partial:    output.OrEmpty(e.Partial),
		Basis:      e.Basis,
		headline:   text.Headline(e),
	}
}

// Headline implements output.Headliner.
func (e *Explanation) Headline() string { return e.headline }

// claimName names claims in an answer: not at all when the answer is about that claim only.
type claimName struct{ subject explain.Subject }

func (c claimName) of(ref inspect.ClaimRef) string {
	if ref == (inspect.ClaimRef{}) || c.subject.Kind != "Pod" {
		return ""
	}
	return ref.String()
}

func (c claimName) allocation(a explain.Allocation) Allocation {
	return Allocation{Node: string(a.Node), Devices: words.Each(a.Devices, func(d explain.Device) AllocatedDevice {
		return AllocatedDevice{
			Claim: c.of(d.Claim), Request: d.Request, Driver: d.ID.Driver, Pool: d.ID.Pool, Device: d.ID.Device,
			AdminAccess: d.Admin, ConsumedCapacity: d.Consumed,
		}
	})}
}

func (c claimName) group(g explain.Group) NodeGroup {
	return NodeGroup{
		Nodes:   words.Strings(g.Nodes),
		Reasons: words.Each(g.Reasons, c.reason),
		Funnels: output.Optional(g.Funnels, c.funnel),
	}
}

func (c claimName) reason(r explain.Reason) Reason {
	return Reason{
		Code: string(r.Code), Plugin: c.plugin(r.Plugin), Claim: c.of(r.Claim), Request: r.Request, Path: r.Path, Devices: output.DeviceNames(r.Devices),
		Claims:  output.Optional(r.Claims, func(h explain.Holder) string { return h.Claim.String() }),
		Holders: r.Claims, TaintRules: r.TaintRules,
		Actor: string(r.Actor()), Message: r.Message,
	}
}

// plugin names the plugin of a question about a pod. It is that which allocates devices if no other one is
// named.
func (c claimName) plugin(name string) string {
	if c.subject.Kind != "Pod" {
		return ""
	}
	return cmp.Or(name, string(filters.DynamicResources))
}

func (c claimName) funnel(f explain.Funnel) Funnel {
	return Funnel{
		Claim: c.of(f.Claim), Request: f.Request, Needed: f.Needed, All: f.All,
		Steps: words.Each(f.Steps, func(s explain.Step) Step {
			return Step{Name: s.Name, Left: s.Left, Most: unlessEqual(s.Most, s.Left), Lost: output.Optional(s.Lost, loss)}
		}),
	}
}

func loss(l explain.Loss) Loss {
	devices := output.DeviceNames(l.Devices)
	if l.OtherDriver {
		devices = nil // all devices of the node that the request is not about
	}
	return Loss{
		Code: string(l.Code), Count: l.Count, Most: unlessEqual(l.Most, l.Count), Message: l.Message(),
		Devices: devices, Claims: output.Optional(l.Claims, func(h explain.Holder) string { return h.Claim.String() }),
		TaintRules: l.TaintRules,
	}
}

// unlessEqual leaves out the upper end of a range that is a single number.
func unlessEqual(most, least int) int {
	if most == least {
		return 0
	}
	return most
}
