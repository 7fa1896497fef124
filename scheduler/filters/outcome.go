package filters

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Outcome is what plugins say of a pod on a node. The pod passes if it is empty.
type Outcome struct {
	// Refusals are in the order in which the scheduler asks the plugins.
	Refusals []Refusal
	// Doubts are what could still refuse the pod.
	Doubts []Doubt
}

// Passes reports whether nothing refuses the pod, and nothing could.
func (o Outcome) Passes() bool { return len(o.Refusals)+len(o.Doubts) == 0 }

// and adds what another plugin says.
func (o *Outcome) and(other Outcome) {
	o.Refusals, o.Doubts = joined(o.Refusals, other.Refusals), joined(o.Doubts, other.Doubts)
}

// joined is one list after another. It never writes into the memory of either.
func joined[T any](a, b []T) []T {
	switch {
	case len(a) == 0:
		return slices.Clip(b)
	case len(b) == 0:
		return a
	}
	return append(slices.Clip(a), b...)
}

// addDoubts adds doubts that are not there yet.
func (o *Outcome) addDoubts(doubts []Doubt) {
	for _, d := range doubts {
		if !slices.Contains(o.Doubts, d) {
			o.Doubts = append(slices.Clip(o.Doubts), d)
		}
	}
}

// refuse is an outcome with one refusal.
func refuse(r Refusal) Outcome { return Outcome{Refusals: []Refusal{r}} }

// doubt is an outcome with one doubt.
func doubt(d Doubt) Outcome { return Outcome{Doubts: []Doubt{d}} }

// Refusal is why a plugin refuses a node. Which fields are set besides the first five depends on the code.
type Refusal struct {
	Plugin Plugin
	Code   Code
	// Key tells refusals with the same code apart: on nodes where the keys are equal, the reason is the same
	// one. Numbers that differ from node to node without making another reason, such as what is left of a
	// resource, are not part of it.
	Key string
	// Unresolvable says that the scheduler does not try to help by preemption (UnschedulableAndUnresolvable).
	Unresolvable bool
	// Message is a clause for the reader: what the pod needs and what there is instead. It may hold names
	// from the cluster, which are not sanitised yet.
	Message string

	// Resource, with amounts in the unit of the scheduler: thousandths of a CPU, otherwise what the resource
	// counts. Allocatable is what the node has, Used what the pods on it take, of which Requested is more
	// than the rest.
	Resource                     corev1.ResourceName
	Requested, Used, Allocatable int64
	// Stopped is how many the node has of an extended resource of which none can be given: all are unhealthy,
	// or the device plugin has stopped.
	Stopped int64
	// Taint is the one that the pod does not tolerate.
	Taint *corev1.Taint
	// Port is the one of the node that is taken, with protocol and address filled in.
	Port *corev1.ContainerPort
	// Requirement is what the pod wants of the labels or the name of a node, of a node selector or of the
	// only term of an affinity, where it is the one at Index. It is nil if several terms are not met, or the
	// only one is empty or malformed.
	Requirement *corev1.NodeSelectorRequirement
	// Index is that of the constraint or term of the pod's spec that is not met. It is -1 if that is one of
	// other pods.
	Index int
	// Topology is where a rule about other pods is not met.
	Topology *Topology
	// Group is the pod group that is not complete.
	Group *Group
	// Object is what the refusal is about: a volume claim, a volume, a storage class, a pod group.
	Object Object
	// By is the object that decided about Object: the storage capacity that offers most, a volume, a storage
	// class.
	By Object
	// Pods are those that are in the way, sorted: that have the port, use the volume, or repel the pod.
	Pods []inspect.PodRef
}

// Object names an object.
type Object struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Doubt is why a plugin cannot decide.
type Doubt struct {
	Plugin Plugin
	// Resource is what was not read, or "" if it is something else.
	Resource inspect.Resource
	// Key tells doubts apart, as that of a refusal does.
	Key string
	// Message is a clause for the reader.
	Message string
	// Group is the pod group that decides about the pod.
	Group *Group
}

// Code says why a plugin refuses a node. Codes are stable: they are part of the output.
type Code string

// The codes. What they mean is said where they are published, in package allocator.
const (
	InsufficientResources Code = "InsufficientResources"
	TooManyPods           Code = "TooManyPods"
	PortInUse             Code = "PortInUse"
	NodeMismatch          Code = "NodeAffinity"
	NodeTainted           Code = "NodeTainted"
	Unschedulable         Code = "NodeUnschedulable"
	VolumeCapacity        Code = "VolumeCapacity"
	VolumeNode            Code = "VolumeNode"
	VolumeOutOfZone       Code = "VolumeZone"
	VolumeLimit           Code = "VolumeLimit"
	VolumeInUse           Code = "VolumeInUse"
	VolumeUnbound         Code = "VolumeUnbound"
	SpreadConstraint      Code = "SpreadConstraint"
	PodAffinity           Code = "PodAffinity"
	PodAntiAffinity       Code = "PodAntiAffinity"
	DeclaredFeature       Code = "DeclaredFeature"
	SchedulingGated       Code = "SchedulingGated"
	PodGroupIncomplete    Code = "PodGroupIncomplete"
	PodGroupInvalid       Code = "PodGroupInvalid"
)
