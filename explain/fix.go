package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// FixKind says what a fix changes.
type FixKind string

// The kinds of fixes.
const (
	ReleaseClaim   FixKind = "ReleaseClaim"   // release claims that hold devices
	TolerateTaint  FixKind = "TolerateTaint"  // add a toleration
	RelaxSelector  FixKind = "RelaxSelector"  // change or drop a term of a selector
	DropConstraint FixKind = "DropConstraint" // drop a constraint, or take requests out of it
	ReduceCount    FixKind = "ReduceCount"    // ask for fewer devices
	ReduceCapacity FixKind = "ReduceCapacity" // ask for less of a capacity
	AddDevices     FixKind = "AddDevices"     // provide more devices
	AddNode        FixKind = "AddNode"        // provide one more node like one that there is
	UseNode        FixKind = "UseNode"        // let it be another node
	EnableFeature  FixKind = "EnableFeature"  // turn on a feature gate
	UseCapacity    FixKind = "UseCapacity"    // ask for a capacity by the name that devices have for it
	UseClass       FixKind = "UseClass"       // name a device class that exists
	CreateClass    FixKind = "CreateClass"    // create the device class
	RemoveTaint    FixKind = "RemoveTaint"    // delete DeviceTaintRules
	UseClaim       FixKind = "UseClaim"       // name a claim or template that exists, in the pod
	ReduceRequest  FixKind = "ReduceRequest"  // ask for less of a node, such as CPU, or for another port
	MovePod        FixKind = "MovePod"        // end pods that take room on a node, or let them run elsewhere
	UncordonNode   FixKind = "UncordonNode"   // make a node schedulable
	PinPod         FixKind = "PinPod"         // let a pod run on one node only, so that others find room
	ChangeOrder    FixKind = "ChangeOrder"    // create pods in another order
	DropChoice     FixKind = "DropChoice"     // do without an alternative of a request that others need
	ReduceMinCount FixKind = "ReduceMinCount" // let a pod group start with fewer pods
	WaitFor        FixKind = "WaitFor"        // wait for something that is under way
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
	// Changes are all objects that are changed, and how: those of claims or their templates first, then the pod, then
	// device classes. What is no change of a spec, such as the release of a claim, is not among them.
	Changes []ObjectChange
	// Edits are what was changed when the fix was tried, so that it can be tried together with others. There are none if it
	// was tried in another way.
	Edits []Edit
	// Replaces says that an object has to be deleted and created anew, since its spec cannot be changed.
	Replaces bool
	// Commands are for a shell, one line each and in their order. They carry the fix out. There are none if no command
	// does, and none of Replaces, Commands and Remarks is set before [github.com/kubectl-dra/kubectl-dra/explain/remedy].Add
	// was called.
	Commands []string
	// Remarks are sentences about what the commands do.
	Remarks []string
	// Claims are those to be released, with their devices.
	Claims []Holder
	// Pods are those to be ended, the least important first.
	Pods []inspect.PodRef
	// Preempts says that the scheduler ends pods of lower priority itself, these or others. It is false where it does not.
	Preempts bool
	// Pool is the pool of which the driver has to publish what is missing, or to correct what is published.
	Pool inspect.PoolID
	// TaintRules are the DeviceTaintRules that set the taints that are then tolerated, or those that are deleted.
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
	Op, Path string
	// Value is nil for "remove".
	Value any
}
