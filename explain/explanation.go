package explain

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Verdict is the answer in one word.
type Verdict string

// The verdicts.
const (
	// Allocated: the claim has its devices already.
	Allocated Verdict = "Allocated"
	// Allocatable: the scheduler would find devices now, on at least one node.
	Allocatable Verdict = "Allocatable"
	// Unsatisfiable: on no node can it be allocated as things are.
	Unsatisfiable Verdict = "Unsatisfiable"
	// Invalid: the scheduler aborts with an error instead of deciding.
	Invalid Verdict = "Invalid"
	// Unknown: what could be read does not suffice to say.
	Unknown Verdict = "Unknown"
)

// Subject is what was asked about.
type Subject struct {
	Kind      string // ResourceClaim, Pod, ResourceClaimTemplate
	Namespace string
	Name      string
}

// FullName is the name as namespace/name, or the name alone.
func (s Subject) FullName() string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + "/" + s.Name
}

// Explanation is the answer to a question about a claim, a template or a pod. Nothing in it depends on
// where it is shown. Text in it that came from the cluster is not sanitised.
type Explanation struct {
	Subject Subject
	Verdict Verdict
	// Message is the answer in one sentence, which begins with the name of the subject. Predicate is the sentence
	// without that name.
	Message, Predicate string
	Nodes              NodeCount
	// Allocation is what is (Allocated) or what the scheduler would pick (Allocatable).
	Allocation *Allocation
	// Groups are the nodes on which it cannot be allocated, grouped by identical reasons, largest
	// group first.
	Groups []Group
	// Conflict is why, in a nutshell: a smallest set of requirements that cannot hold together on the
	// node that comes nearest. Only for Unsatisfiable, and nil when none could be proved.
	Conflict *Conflict
	// Failure is, for Invalid, the term of a selector that fails; nil when the scheduler gives up for another
	// reason.
	Failure *Failure
	// Search is what the scheduler's own search costs; nil when it takes a few hundred steps at most.
	Search *SearchCost
	// Fixes are changes that make it allocatable, the cheapest first. Each was tried.
	Fixes []Fix
	// NoHelp are changes that would be tempting but do not help. Each was tried.
	NoHelp []string
	// Waits says, for a claim that could be allocated, what it waits for; for a claim that is
	// allocated, what is worth knowing about its state.
	Waits []Note
	// Scheduler is what the scheduler itself last said about the pods that use the claim.
	Scheduler []Note
	// Partial says what could not be read and what that means for the answer.
	Partial []string
	// NotModelled names conditions of the pod that the answer does not take into account.
	NotModelled []string
	// Basis says as which scheduler it was decided.
	Basis Basis
}

// NodeCount counts the nodes that were asked about and those on which it can be allocated.
type NodeCount struct{ Total, Allocatable int }

// Allocation is a set of devices.
type Allocation struct {
	// Node is the node of the devices; empty when they are not tied to one.
	Node    inspect.NodeName
	Devices []Device
	// NodeSelector restricts where the claim can be used; nil: everywhere.
	NodeSelector *corev1.NodeSelector
}

// Device is one device of an allocation.
type Device struct {
	Claim    inspect.ClaimRef
	Request  string // "request" or "request/subrequest"
	ID       inspect.DeviceID
	Admin    bool
	Consumed map[resourcev1.QualifiedName]resource.Quantity
}

// Group is a set of nodes on which the same things are in the way. When there are many groups, nodes
// are taken together that differ only in numbers; Step and Loss then give the range.
type Group struct {
	// Nodes are sorted by name.
	Nodes []inspect.NodeName
	// Reasons are what is in the way, the most decisive first.
	Reasons []Reason
	// Funnels show, per request, how many devices are left after each check.
	Funnels []Funnel
	// Score grows with how close the nodes come to having what is needed.
	Score int
}

// Reason is one finding.
type Reason struct {
	Code allocator.Code
	// Key tells reasons of a code apart, whatever they are called: nodes with the same reasons are grouped by it. It
	// does not depend on the devices that the reason is about.
	Key     string
	Request string // "request" or "request/subrequest"; of which claim, in a pod, is in Claim
	Claim   inspect.ClaimRef
	// Path is the field at fault, as "spec.devices.requests[0].exactly.count"; may be empty.
	Path string
	// Pool is the pool at fault, if it is one.
	Pool inspect.PoolID
	// Devices are those that the reason is about, on all nodes of the group; of a large group those of
	// some of its nodes. Total is their number on all nodes.
	Devices []inspect.DeviceID
	Total   int
	Claims  []Holder
	Message string
	// NamesRequest: the message names the request. Told: the message of the explanation says all that this one says.
	NamesRequest, Told bool
}

// Holder is a claim that stands in the way because it holds devices, with the pods that use it.
type Holder struct {
	Claim inspect.ClaimRef
	State inspect.ClaimState
	Pods  []inspect.PodRef
	// Age is that of the claim, as kubectl prints it; empty when unknown.
	Age     string
	Devices []inspect.DeviceID
}

// Funnel is what becomes of the devices that a request sees.
type Funnel struct {
	Claim   inspect.ClaimRef
	Request string
	// Needed is the number of devices that the request needs; 0 with All.
	Needed int
	All    bool
	// Steps begin with the devices seen; each next step has those that are left.
	Steps []Step
}

// Step is one step of a funnel.
type Step struct {
	// Name is the check: seen, class, selectors, features, taints, free, capacity, counters,
	// constraints, and together (only for devices that conflict).
	Name string
	// Left is the number of devices left on a node; in a group of nodes that differ, the lowest, and
	// Most the highest number.
	Left, Most int
	// Lost says why devices were lost at this step, the most frequent first.
	Lost []Loss
}

// Loss is a number of devices lost for one reason.
type Loss struct {
	Code allocator.Code
	// Key tells losses of a code apart by what was wanted, however that is said.
	Key string
	// Count is the number of devices on a node, or the lowest in the group, Most the highest.
	Count, Most int
	// Text says what was wanted, Values what was found, the most frequent first.
	Text   string
	Values []Value
	// OtherDriver: the devices belong to drivers that the class is not about.
	OtherDriver bool
	// Total is the number of devices on all nodes of the group. Devices are these devices; in a large
	// group those of some of its nodes.
	Total   int
	Devices []inspect.DeviceID
	// Claims are those that hold the devices or shares of them.
	Claims []Holder
}

// Value is something that a check found, with the number of devices in the group.
type Value struct {
	Text  string
	Count int
}

// Message is the text with the values.
func (l *Loss) Message() string {
	var values []string
	for _, v := range l.Values {
		if v.Text == "" {
			continue
		}
		if len(l.Values) > 1 && l.Count == l.Total {
			values = append(values, fmt.Sprintf("%s (%d)", v.Text, v.Count))
			continue
		}
		values = append(values, v.Text)
	}
	if len(values) == 0 {
		return l.Text
	}
	return l.Text + ": " + words.Shorten(values, 3)
}

// Conflict is a set of requirements that cannot hold together on a node. What exactly that means is at the
// top of conflict.go.
type Conflict struct {
	Node         inspect.NodeName
	Requirements []Requirement
	// Background are requirements without which the scheduler gives up with an error, so that they are taken as
	// they are.
	Background []Requirement
	// Sole: dropping any one of the requirements, and nothing else, is enough on this node. Otherwise
	// that is so only for those that are marked Alone.
	Sole bool
	// Unproven: a search was given up on the way, so that the set may not be a smallest one.
	Unproven bool
}

// Requirement is something that has to hold as things are.
type Requirement struct {
	Kind    RequirementKind
	Claim   inspect.ClaimRef // of the question
	Request string           // "request" or "request/subrequest"; may be empty
	// Path is the field that makes the requirement; for what is not in the subject, the object.
	Path    string
	Message string
	// Actual is what the devices of the node have instead; may be empty.
	Actual string
	// Term is the expression of TermRequired and ClassTermRequired, which may be one of several in a selector, or what
	// makes the pool of PoolRequired invalid.
	Term string
	// Pool is that of PoolRequired and CountersRequired.
	Pool inspect.PoolID
	// Taint is the key and the effect of TaintRequired, as key:effect.
	Taint string
	// Holder is the claim of HeldRequired.
	Holder *Holder
	// Alone: dropping this requirement, and nothing else, is enough.
	Alone bool
	// Fails: of what is Beside a conflict, that it makes the scheduler give up with an error.
	Fails bool
}

// Sentence is the message with what there is instead.
func (r *Requirement) Sentence() string {
	if r.Actual == "" {
		return r.Message
	}
	return r.Message + "; " + r.Actual
}

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
	UseNode        FixKind = "UseNode"        // let it be another node
	EnableFeature  FixKind = "EnableFeature"  // turn on a feature gate
	UseClass       FixKind = "UseClass"       // name a device class that exists
	CreateClass    FixKind = "CreateClass"    // create the device class
	UseClaim       FixKind = "UseClaim"       // name a claim or template that exists, in the pod
)

// Fix is a change that makes the claims allocatable.
type Fix struct {
	Kind FixKind
	// Also are the kinds of further changes that are needed together with it.
	Also []FixKind
	// Key tells fixes of a kind apart: those with the same Key make the same changes, whatever they are called.
	Key string
	// Node is one on which the claims can then be allocated, and Nodes the number of such nodes. In a
	// large cluster, after a change that is not one of the claims, only the nodes that come nearest are
	// counted.
	Node  inspect.NodeName
	Nodes int
	// NamesNode: the message names the node.
	NamesNode bool
	// OtherBlockers is what the fix changes although it is no part of the conflict, for some of the fixes that make
	// several changes: with all the other changes made and this one not, the node still refuses, or the scheduler
	// gives up with an error (Fails). Some other conflict, beside the one that is shown, is behind it.
	OtherBlockers []Requirement
	// Patch is the change as RFC 6902 operations on the subject; empty when the change is elsewhere.
	Patch []PatchOperation
	// Claims are those to be released.
	Claims  []Holder
	Message string
}

// PatchOperation is an operation of a JSON patch.
type PatchOperation struct {
	Op, Path string
	// Value is nil for "remove".
	Value any
}

// Note is a remark about an object.
type Note struct {
	Kind, Namespace, Name string
	Message               string
}

// Basis says as which scheduler a question was decided.
type Basis struct {
	// Version is the version of the server, or "1.37" for files.
	Version string
	Variant allocator.Variant
	// Source says where the feature gates come from.
	Source   string
	Revision int64
	// Remarks are what the reader must know about the answer, such as that the order of devices is
	// not defined in this version.
	Remarks []string
}
