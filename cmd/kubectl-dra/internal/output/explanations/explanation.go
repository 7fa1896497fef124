package explanations

import (
	"cmp"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Explanation is the wire form of an explain.Explanation.
type Explanation struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Subject    output.Subject `json:"subject"`
	// Workload is there only when the subject is one pod of another object.
	Workload *Workload `json:"workload,omitempty"`
	Verdict  string    `json:"verdict" enum:"explain.Verdict"`
	Message  string    `json:"message"`
	Nodes    NodeCount `json:"nodes"`
	// Turn is there only when others were asked together with the subject and got devices before it.
	Turn *Turn `json:"turn,omitempty"`
	// Queue is there only for a pod that waits.
	Queue      *Queue      `json:"queue,omitempty"`
	Joint      *Joint      `json:"joint,omitempty"`
	Allocation *Allocation `json:"allocation,omitempty"`
	// Lifecycle is there only when the subject has devices or is on a node, or when there are Events.
	Lifecycle *Lifecycle `json:"lifecycle,omitempty"`
	// Volume is there only when the subject is a PersistentVolumeClaim.
	Volume *Volume     `json:"volume,omitempty"`
	Groups []NodeGroup `json:"groups"`
	// Failure is there only when a selector fails for a device.
	Failure *Failure `json:"failure,omitempty"`
	// Search is there only when the scheduler's own search takes more than a few hundred steps.
	Search *SearchCost `json:"search,omitempty"`
	// Advice is what to see to first. It was not tried, since what comes of it is not known.
	Advice []Advice `json:"advice,omitempty"`
	// Conflict and NoHelp are there only when the answer is no, and Fixes is empty when it is yes.
	Conflict *Conflict `json:"conflict,omitempty"`
	Fixes    []Fix     `json:"fixes"`
	NoHelp   []string  `json:"noHelp,omitempty"`
	// Preemption is there only when a pod is refused.
	Preemption *Preemption `json:"preemption,omitempty"`
	// Waits says what an allocatable claim waits for.
	Waits []Note `json:"waits,omitempty"`
	// Scheduler is what the scheduler last said about the pods.
	Scheduler []Note `json:"scheduler,omitempty"`
	// Partial says what could not be read and what that means.
	Partial []string     `json:"partial"`
	Basis   output.Basis `json:"basis"`

	headline string
}

// SearchCost is the number of steps that the scheduler's own search takes on a node, and whether that exceeds
// its filter timeout: None, Possible or Exceeded.
type SearchCost struct {
	Node  string `json:"node"`
	Nodes int    `json:"nodes"`
	Steps int64  `json:"steps"`
	// AtLeast: Steps is a lower bound.
	AtLeast bool   `json:"atLeast"`
	Timeout string `json:"timeout" enum:"explain.TimeoutRisk"`
	Message string `json:"message,omitempty"`
}

// Joint says whether all that were asked about can be placed together although the scheduler may fail to.
// Placement has them in an order in which it could; impossible says that there is none.
type Joint struct {
	Placement  []Placement `json:"placement,omitempty"`
	Impossible bool        `json:"impossible,omitempty"`
}

// Placement is a subject on a node, which is left out if its devices are tied to none.
type Placement struct {
	output.Subject
	Node string `json:"node,omitempty"`
}

// Turn names those who are supposed to have their devices already. Alone is the verdict if they have not, and
// is there only when the subject cannot be allocated after them.
type Turn struct {
	After []output.Subject `json:"after"`
	Alone string           `json:"alone,omitempty" enum:"explain.Verdict"`
	// AloneNodes are the numbers of nodes that belong to Alone.
	AloneNodes *NodeCount `json:"aloneNodes,omitempty"`
}

// Queue is the place of a pod among all that wait for kube-scheduler. Its verdict is Allocatable if the pod
// finds a node with all of them.
type Queue struct {
	// Before is how many come before it, or may, and Waiting how many wait in all.
	Before  int    `json:"before"`
	Waiting int    `json:"waiting"`
	Verdict string `json:"verdict" enum:"explain.Verdict"`
	// After are those that are placed before it, and Node is where it is placed then.
	After []output.Subject `json:"after,omitempty"`
	Node  string           `json:"node,omitempty"`
}

// Workload is the object that makes the pod; a pod of it was asked about alone.
type Workload struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Name       string `json:"name"`
	// Path is where the pod template stands.
	Path string `json:"path"`
	// Pods is how many such pods it wants at a time; it is left out where that is not known.
	Pods     *int64 `json:"pods,omitempty"`
	EachNode bool   `json:"eachNode,omitempty"`
	// Held is why no such pods are made at present, as of a suspended Job.
	Held string `json:"held,omitempty"`
}

// NodeCount counts nodes.
type NodeCount struct {
	Total       int `json:"total"`
	Allocatable int `json:"allocatable"`
}

// Allocation is a set of devices.
type Allocation struct {
	Node    string            `json:"node,omitempty"`
	Devices []AllocatedDevice `json:"devices"`
}

// AllocatedDevice is one device of an allocation.
type AllocatedDevice struct {
	// Claim is namespace/name; only where several claims are asked about.
	Claim            string            `json:"claim,omitempty"`
	Request          string            `json:"request"`
	Driver           string            `json:"driver"`
	Pool             string            `json:"pool"`
	Device           string            `json:"device"`
	AdminAccess      bool              `json:"adminAccess"`
	ConsumedCapacity map[string]string `json:"consumedCapacity,omitempty"`
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
	Claims  []string `json:"claims,omitempty"`
	Holders []Holder `json:"holders,omitempty"`
	// TaintRules are the DeviceTaintRules that set the taint, where the reason is one.
	TaintRules []output.TaintRule `json:"taintRules,omitempty"`
	// Actor is who can mend it: User, DriverAdmin or ClusterAdmin. It is left out where only a fix tells.
	Actor   string `json:"actor,omitempty" enum:"explain.Actor"`
	Message string `json:"message"`
}

// Holder is a claim that holds devices.
type Holder struct {
	Claim   string   `json:"claim"`
	State   string   `json:"state" enum:"inspect.ClaimState"`
	Pods    []string `json:"pods,omitempty"`
	Age     string   `json:"age,omitempty"`
	Devices []string `json:"devices,omitempty"`
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
	TaintRules []output.TaintRule `json:"taintRules,omitempty"`
}

// Note is a remark about an object.
type Note struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Message   string `json:"message"`
}

// ExplanationList holds the answers to several questions.
type ExplanationList struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Items      []*Explanation `json:"items"`
}

// Explanations returns the wire form of one answer, or an ExplanationList of several.
func Explanations(answers []*explain.Explanation) any {
	list := &ExplanationList{APIVersion: output.APIVersion, Kind: "ExplanationList"}
	for _, e := range answers {
		list.Items = append(list.Items, NewExplanation(e))
	}
	if len(list.Items) == 1 {
		return list.Items[0]
	}
	return list
}

// NewExplanation returns the wire form of an answer.
func NewExplanation(e *explain.Explanation) *Explanation {
	c := claimName{subject: e.Subject}
	return &Explanation{
		APIVersion: output.APIVersion, Kind: "Explanation",
		Subject: output.Subject(e.Subject), Workload: (*Workload)(e.Workload), Verdict: string(e.Verdict), Message: e.Message, Nodes: NodeCount(e.Nodes),
		Turn:       output.Maybe(e.Turn, turn),
		Queue:      output.Maybe(e.Queue, queue),
		Joint:      output.Maybe(e.Joint, jointOf),
		Allocation: output.Maybe(e.Allocation, c.allocation),
		Lifecycle:  output.Maybe(e.Lifecycle, c.lifecycle),
		Volume:     output.Maybe(e.Volume, volume),
		Groups:     output.Each(e.Groups, c.group),
		Failure:    output.Maybe(e.Failure, c.failure),
		Search:     output.Maybe(e.Search, searchCost),
		Advice:     output.Optional(e.Advice, advice),
		Conflict:   output.Maybe(e.Conflict, c.conflict), Fixes: output.Each(e.Fixes, c.fix), NoHelp: e.NoHelp,
		Preemption: output.Maybe(e.Preemption, preemption),
		Waits:      output.Optional(e.Waits, note), Scheduler: output.Optional(e.Scheduler, note),
		Partial:  output.OrEmpty(e.Partial),
		Basis:    output.NewBasis(e.Basis),
		headline: text.Headline(e),
	}
}

func jointOf(j explain.Joint) Joint {
	return Joint{Impossible: j.Impossible, Placement: output.Optional(j.Placement, func(p explain.Placement) Placement {
		return Placement{Subject: output.Subject(p.Subject), Node: string(p.Node)}
	})}
}

func queue(q explain.Queue) Queue {
	return Queue{
		Before: q.Before, Waiting: q.Waiting, Verdict: string(q.Verdict), Node: string(q.Node),
		After: output.Optional(q.After, output.NewSubject),
	}
}

func turn(t explain.Turn) Turn {
	out := Turn{After: output.Each(t.After, output.NewSubject), Alone: string(t.Alone)}
	if t.Alone != "" {
		out.AloneNodes = &NodeCount{Total: t.AloneNodes.Total, Allocatable: t.AloneNodes.Allocatable}
	}
	return out
}

func searchCost(s explain.SearchCost) SearchCost {
	return SearchCost{
		Node: string(s.Node), Nodes: s.Nodes, Steps: s.Steps.Steps, AtLeast: s.Steps.AtLeast,
		Timeout: string(s.Risk), Message: s.Message,
	}
}

func note(n explain.Note) Note { return Note{n.Kind, n.Namespace, n.Name, n.Message} }

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
	return Allocation{Node: string(a.Node), Devices: output.Each(a.Devices, func(d explain.Device) AllocatedDevice {
		return AllocatedDevice{
			Claim: c.of(d.Claim), Request: d.Request, Driver: d.ID.Driver, Pool: d.ID.Pool, Device: d.ID.Device,
			AdminAccess: d.Admin, ConsumedCapacity: amounts(d.Consumed),
		}
	})}
}

func amounts(consumed map[resourcev1.QualifiedName]resource.Quantity) map[string]string {
	if len(consumed) == 0 {
		return nil
	}
	out := make(map[string]string, len(consumed))
	for name, q := range consumed {
		out[string(name)] = q.String()
	}
	return out
}

func (c claimName) group(g explain.Group) NodeGroup {
	return NodeGroup{
		Nodes:   output.Each(g.Nodes, func(n inspect.NodeName) string { return string(n) }),
		Reasons: output.Each(g.Reasons, c.reason),
		Funnels: output.Optional(g.Funnels, c.funnel),
	}
}

func (c claimName) reason(r explain.Reason) Reason {
	return Reason{
		Code: string(r.Code), Plugin: c.plugin(r.Plugin), Claim: c.of(r.Claim), Request: r.Request, Path: r.Path, Devices: output.DeviceNames(r.Devices),
		Claims:  output.Optional(r.Claims, func(h explain.Holder) string { return h.Claim.String() }),
		Holders: output.Optional(r.Claims, holder), TaintRules: output.NewTaintRules(r.TaintRules),
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

func holder(h explain.Holder) Holder {
	return Holder{
		Claim: h.Claim.String(), State: string(h.State), Age: h.Age, Devices: output.DeviceNames(h.Devices),
		Pods: output.Optional(h.Pods, inspect.PodRef.String),
	}
}

func (c claimName) funnel(f explain.Funnel) Funnel {
	return Funnel{
		Claim: c.of(f.Claim), Request: f.Request, Needed: f.Needed, All: f.All,
		Steps: output.Each(f.Steps, func(s explain.Step) Step {
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
		TaintRules: output.NewTaintRules(l.TaintRules),
	}
}

// unlessEqual leaves out the upper end of a range that is a single number.
func unlessEqual(most, least int) int {
	if most == least {
		return 0
	}
	return most
}
