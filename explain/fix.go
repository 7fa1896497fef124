package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// FixKind says what a fix changes.
type FixKind string

// The kinds of fixes. The comment of each says what it changes, and after "Patch" the object that its JSON
// patch is for, if it has one; docs/fixes.md is written from them.
const (
	// ReduceCount: ask for the largest number of devices that fits. Patch: claim.
	ReduceCount FixKind = "ReduceCount"
	// ReduceCapacity: ask for the largest amount that fits, or for no particular one. Patch: claim.
	ReduceCapacity FixKind = "ReduceCapacity"
	// RelaxSelector: accept the nearest value that exists and helps, or drop the term; of a class only when
	// nothing else helps; drop a node selector or node affinity. Patch: claim or pod, or none for a class.
	RelaxSelector FixKind = "RelaxSelector"
	// DropConstraint: leave a request out of a constraint, match a wider attribute (the NUMA node instead of
	// the PCIe root), or drop it; make a spread constraint a wish, or drop pod affinity. Patch: claim or pod.
	DropConstraint FixKind = "DropConstraint"
	// TolerateTaint: tolerate a taint of devices or of nodes, with its value where that is enough. Patch:
	// claim or pod.
	TolerateTaint FixKind = "TolerateTaint"
	// UseCapacity: ask for a capacity by the name that devices have for it, as dra.cpu/cpu instead of cpu.
	// Patch: claim.
	UseCapacity FixKind = "UseCapacity"
	// UseClass: name a device class that exists: with a similar name, or of the same driver where the class
	// is in the way. Patch: claim.
	UseClass FixKind = "UseClass"
	// UseClaim: in a pod, name a claim or template that exists. Patch: pod.
	UseClaim FixKind = "UseClaim"
	// RemoveTaint: delete the DeviceTaintRules (taintRules in JSON) that set a taint which it helps to
	// tolerate; only where drivers do not set the same taint themselves.
	RemoveTaint FixKind = "RemoveTaint"
	// ReleaseClaim: release claims that hold devices, those first that no running pod uses; or claims that
	// the pod has on a node where the rest of it does not fit, which kube-scheduler does itself when no other
	// pod reserves them.
	ReleaseClaim FixKind = "ReleaseClaim"
	// UseNode: use a node that was not asked about.
	UseNode FixKind = "UseNode"
	// AddNode: one more node like one that there is (like in JSON), with its devices free: of the kinds of
	// nodes of which one more helps, the one of which there are most.
	AddNode FixKind = "AddNode"
	// ReduceRequest: ask for as much CPU, memory or another resource as some node has left, for a volume of a
	// size that there is, or for no port of the node; as the last resort, where nothing else helps, do
	// without a volume, a claim or an extended resource. Patch: pod, or the volume claim.
	ReduceRequest FixKind = "ReduceRequest"
	// MovePod: end other pods on a node, or let them run elsewhere: those of the lowest priority, and as few
	// as will do (pods in JSON; preempts says that kube-scheduler does so itself).
	MovePod FixKind = "MovePod"
	// UncordonNode: make a node schedulable.
	UncordonNode FixKind = "UncordonNode"
	// PinPod: let a pod run on one node only, so that others find room. Patch: pod.
	PinPod FixKind = "PinPod"
	// ChangeOrder: create the pods in another order.
	ChangeOrder FixKind = "ChangeOrder"
	// DropChoice: do without the first alternatives of a prioritized list, which others need. Patch: claim.
	DropChoice FixKind = "DropChoice"
	// ReduceMinCount: let a PodGroup start with as many pods as find room together, in every order and
	// wherever kube-scheduler puts them.
	ReduceMinCount FixKind = "ReduceMinCount"
	// WaitFor: wait for something that somebody else has to do: remove a scheduling gate, repair the node, or
	// make or bind the volume that the pod waits for. Or let the controller make the pod, as that of a
	// suspended Job: then Patch is of the Job.
	WaitFor FixKind = "WaitFor"
	// LabelNamespace: label the namespace of the claim, so that the API server takes claims for admin access
	// in it.
	LabelNamespace FixKind = "LabelNamespace"
	// AddDevices: more devices like those that the node has, those of which fewest are needed, or where it
	// has none, like those of another node; or the missing slices of a pool.
	AddDevices FixKind = "AddDevices"
	// CreateClass: create the device class; tried with one that selects every device.
	CreateClass FixKind = "CreateClass"
	// EnableFeature: turn on a feature gate.
	EnableFeature FixKind = "EnableFeature"
	// ReducePods: run as many pods at a time as the quota of a queue of Kueue allows and find nodes. Patch:
	// Job.
	ReducePods FixKind = "ReducePods"
	// UseQueue: another queue of Kueue that has room now. Patch: the object in the queue.
	UseQueue FixKind = "UseQueue"
	// UseFlavor: ask for the nodes of another flavor of the queue of Kueue, where there are devices; also
	// RaiseQuota if quota of it is missing. Patch: the object in the queue.
	UseFlavor FixKind = "UseFlavor"
	// EndWorkload: end what holds the quota of a queue of Kueue, or is in front in it, or wait until it has
	// ended (ends in JSON).
	EndWorkload FixKind = "EndWorkload"
	// RaiseQuota: raise the nominal quota or the borrowing limit of a queue of Kueue by exactly what is
	// missing. Patch: ClusterQueue.
	RaiseQuota FixKind = "RaiseQuota"
)

// Fix is a change that makes the claims allocatable.
type Fix struct {
	Kind FixKind
	// Also are the kinds of further changes that have to be made together with the first.
	Also []FixKind
	// Key distinguishes fixes of the same kind. Fixes with the same Key make the same changes, however they
	// are worded.
	Key string
	// Node is a node on which the claims can then be allocated, and Nodes the number of such nodes. If the
	// cluster is large and something else than the claims is changed, only the nodes that come nearest are
	// counted. If a node is added, Node is "", since it has no name yet, and Nodes is 1.
	Node  inspect.NodeName
	Nodes int
	// Like is the node that an added one is like, with its devices free. It is "" if none is added.
	Like inspect.NodeName
	// Timeout says that the scheduler's own search may still not end in time. It is MayTimeOut or "".
	Timeout TimeoutRisk
	// NamesNode says that the message names the node.
	NamesNode bool
	// OtherBlockers are requirements that the fix relaxes although they are no part of the conflict that is
	// shown: another conflict is behind them. With all the other changes made and this one not, the node
	// still refuses, or the scheduler gives up with an error (Fails). Only some of the fixes that make
	// several changes have them.
	OtherBlockers []Requirement
	// Patch is the change as RFC 6902 operations on the subject. It is empty if other objects are changed.
	Patch []PatchOperation
	// Changes are all objects that are changed, and how: those of claims or their templates first, then the
	// pod, then device classes. What is no change of a spec, such as the release of a claim, is not among
	// them.
	Changes []ObjectChange
	// Edits are what was changed when the fix was tried, so that it can be tried together with others. There
	// are none if it was tried in another way.
	Edits []Edit
	// Replaces says that an object has to be deleted and created anew, since its spec cannot be changed.
	Replaces bool
	// Commands are for a shell, one line each and in their order. They carry the fix out. There are none if
	// no command does, and none of Replaces, Commands and Remarks is set before
	// [github.com/kubectl-dra/kubectl-dra/explain/remedy].Add was called.
	Commands []string
	// Remarks are sentences about what the commands do.
	Remarks []string
	// Claims are those to be released, with their devices.
	Claims []Holder
	// Pods are those to be ended, the least important first.
	Pods []inspect.PodRef
	// Ends are the objects to be deleted, of which workloads of Kueue were made.
	Ends []Subject
	// Recounts is the workload of Kueue that has to change before Kueue counts its devices anew. It is nil if
	// none has to. It is Kueue's own, so that users need not be allowed to change it.
	Recounts *Subject
	// Preempts says that the scheduler ends pods of lower priority itself, these or others. It is false where
	// it does not.
	Preempts bool
	// Pool is the pool of which the driver has to publish what is missing, or to correct what is published.
	Pool inspect.PoolID
	// TaintRules are the DeviceTaintRules that set the taints that are then tolerated, or those that are
	// deleted.
	TaintRules []TaintRule
	Message    string
}

// Edit is one of the changes of a fix, as package whatif makes it.
type Edit interface {
	// Key names what is changed.
	Key() string
}

// PatchOperation is an operation of a JSON patch (RFC 6902). Path is a JSON pointer.
type PatchOperation struct {
	Op   string `json:"op"`
	Path string `json:"path"`
	// Value is nil for "remove".
	Value any `json:"value,omitempty"`
}
