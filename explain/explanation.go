package explain

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Verdict is the answer in one word.
type Verdict string

// The verdicts.
const (
	// Allocated means that the claim has its devices already.
	Allocated Verdict = "Allocated"
	// Allocatable means that the scheduler would find devices now, on at least one node.
	Allocatable Verdict = "Allocatable"
	// Unsatisfiable means that no node can give the devices as things are.
	Unsatisfiable Verdict = "Unsatisfiable"
	// Invalid means that the scheduler aborts with an error instead of deciding.
	Invalid Verdict = "Invalid"
	// Unknown means that what could be read does not suffice for an answer.
	Unknown Verdict = "Unknown"
)

// Subject is the object that a question is about.
type Subject struct {
	Kind      string `json:"kind"` // ResourceClaim, Pod, ResourceClaimTemplate or PersistentVolumeClaim
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// FullName is the name as namespace/name. It is the name alone if there is no namespace.
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
	// Workload is the object of which the subject is one pod. It is nil for a pod by itself, and for claims
	// and templates.
	Workload *Workload
	Verdict  Verdict
	// Message is the answer in one sentence that begins with the name of the subject. Predicate is the
	// sentence without that name.
	Message, Predicate string
	// Brief says in a few words what is missing, for a column of a table. It is empty if the message does not
	// tell.
	Brief string
	// Lack is what the message says in numbers, where it is about a request that gets too few devices on
	// every node. It is nil if the message is about anything else.
	Lack  *Lack
	Nodes NodeCount
	// Turn says what is supposed about others that were asked together with the subject. It is nil if nothing
	// is.
	Turn *Turn
	// Admission is what Kueue does before kube-scheduler sees the pod. It is nil if Kueue has nothing to do
	// with it.
	Admission *Admission
	// Queue is the place of a pod among all that wait for kube-scheduler, and what becomes of it there. It is
	// nil if that was not asked.
	Queue *Queue
	// Joint says whether the subject and those it was asked with can be placed together after all. It is nil
	// if that is no question.
	Joint *Joint
	// Allocation is what the subject has if the verdict is Allocated, and what the scheduler would pick if
	// it is Allocatable. It is nil if no node can give the devices.
	Allocation *Allocation
	// Lifecycle says what has become of the pod, or of the pods that use the claim, since it got its devices.
	// It is nil if that is no question: the subject has no devices, and is on no node.
	Lifecycle *Lifecycle
	// Volume says where a volume claim can have its volume. It is nil for other subjects.
	Volume *Volume
	// Groups are the nodes on which the claims cannot be allocated, grouped by identical reasons. The
	// largest group comes first.
	Groups []Group
	// Conflict says why in a nutshell: it is a minimal set of requirements that cannot hold together on the
	// node that comes nearest, and usually a smallest. It belongs to the verdict Unsatisfiable, and is nil if
	// none was found.
	Conflict *Conflict
	// Failure is the term of a selector that fails. It belongs to the verdict Invalid, and is nil if the
	// scheduler gives up for another reason.
	Failure *Failure
	// Search is what the scheduler's own search costs. It is nil if that is a few hundred steps at most.
	Search *SearchCost
	// Advice is what to see to first, since no fix that is tried can stand for it.
	Advice []Advice
	// Fixes are changes that make the claims allocatable: those first that the user can make, and of these
	// the cheapest. Each was tried.
	Fixes []Fix
	// NoHelp names changes that are tempting but do not help, each in a sentence. Each was tried.
	NoHelp []string
	// Preemption says whether the scheduler would end other pods for the pod in question. It belongs to the
	// verdict Unsatisfiable, and is nil if the scheduler does not get as far as that, and for subjects other
	// than pods.
	Preemption *Preemption
	// Waits says what else keeps a claim from being allocated. For a claim that is allocated it says what is
	// worth knowing about its state.
	Waits []Note
	// Scheduler is what the scheduler itself last said about the pods that use the claim.
	Scheduler []Note
	// Partial says what could not be read and what that means for the answer.
	Partial []string
	// Basis says which scheduler the answer is about.
	Basis Basis
}

// Turn says when a subject was asked that is one of several: after others had got the devices of their
// answers.
type Turn struct {
	// After are those who got devices before, in the order in which they were asked.
	After []Subject `json:"after"`
	// Alone is the verdict, and AloneNodes are the numbers of nodes, if none of the others had got devices.
	// They are not set if the subject can be allocated after them.
	Alone      Verdict    `json:"alone,omitempty"`
	AloneNodes *NodeCount `json:"aloneNodes,omitempty"`
}

// Queue is the place of a pod in the queue of kube-scheduler. The verdict of its explanation is about the
// cluster as it is.
type Queue struct {
	// Before is how many pods come before it, or may, and Waiting how many wait in all, with itself.
	Before  int `json:"before"`
	Waiting int `json:"waiting"`
	// Verdict is Allocatable if the pod finds a node with all others that wait, Unsatisfiable if it is left
	// waiting, and Unknown if that depends on choices of kube-scheduler that are not known, or was not tried.
	Verdict Verdict `json:"verdict"`
	// After are those that are placed before it, in their order.
	After []Subject `json:"after,omitempty"`
	// Node is where it is placed. Of several nodes it is one.
	Node inspect.NodeName `json:"node,omitempty"`
}

// NodeCount is the number of nodes that the question was put to, and of those that can give the devices.
type NodeCount struct {
	Total       int `json:"total"`
	Allocatable int `json:"allocatable"`
}

// Allocation is a set of devices.
type Allocation struct {
	// Node is the node of the devices. It is empty if they are not tied to one.
	Node    inspect.NodeName
	Devices []Device
	// NodeSelector restricts where the claim can be used. If it is nil, the claim can be used everywhere.
	NodeSelector *corev1.NodeSelector
}

// Device is one device of an allocation.
type Device struct {
	Claim   inspect.ClaimRef
	Request string // "request" or "request/subrequest"
	ID      inspect.DeviceID
	// Admin says that the claim has admin access to the device and leaves it to others.
	Admin bool
	// Consumed is the share of the device's capacities that the claim has, if the device is shared.
	Consumed map[resourcev1.QualifiedName]resource.Quantity
}

// Note is a remark about an object. Namespace is empty for an object that has none.
type Note struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Message   string `json:"message"`
	// Brief is the part of the message that is worth reading in any case. It is empty if that is all of it.
	Brief string `json:"-"`
	// Aside says that the note is of interest only if the verdict is not a no.
	Aside bool `json:"-"`
}

// Basis says by the rules of which scheduler a question was decided.
type Basis struct {
	// Version is the release whose rules were applied: that of the server without a "v", as "1.36.2", or, if
	// it is not modelled, the nearest that is. If the objects came from files, it is the minor version whose
	// defaults were assumed, as "1.37".
	Version string            `json:"version"`
	Variant allocator.Variant `json:"variant"`
	// Source says where the feature gates come from.
	Source string `json:"features"`
	// Usual says that this is the newest release that is known, with the gates that it enables by default.
	Usual bool `json:"-"`
	// Profiles are those of kube-scheduler's configuration that decided, if that is not the default one.
	Profiles []string `json:"profiles,omitempty"`
	// Revision is the revision of the snapshot.
	Revision int64 `json:"revision"`
	// Read is when the objects were read, which may not be known.
	Read time.Time `json:"-"`
	// AsOf is the moment of a log that was asked about. It is zero if the snapshot is not of a log.
	AsOf time.Time `json:"asOf,omitzero"`
	// Remarks are what the reader must know about the answer, such as that the order of devices is not
	// defined in this version.
	Remarks []string `json:"remarks,omitempty"`
}

// Say sets the message to a sentence about the subject.
func (e *Explanation) Say(format string, args ...any) { e.say(" ", fmt.Sprintf(format, args...)) }

// Remark sets the message to a sentence that has a subject of its own.
func (e *Explanation) Remark(format string, args ...any) { e.say(": ", fmt.Sprintf(format, args...)) }

func (e *Explanation) say(separator, sentence string) {
	e.Predicate, e.Message = sentence, e.Subject.FullName()+separator+sentence
}
