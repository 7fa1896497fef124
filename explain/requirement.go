package explain

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// RequirementKind says what a requirement of a conflict is about.
type RequirementKind string

// The kinds of requirements, those first that a user can do least about. The second sentence of each comment
// says what it means to relax the requirement.
const (
	// CountersRequired means that devices of a pool must not draw more than there is of the counters that
	// they share. Relaxed, there is plenty of each counter. Nobody can bring that about, but it says why
	// devices cannot be had together.
	CountersRequired RequirementKind = "Counters"
	// ClassTermRequired is a term of a selector of the DeviceClass. Relaxed, the term is dropped.
	ClassTermRequired RequirementKind = "ClassTerm"
	// PoolRequired means that a pool must be complete and valid. Relaxed, the pool is taken with the slices
	// that are published, without what contradicts itself in them.
	PoolRequired RequirementKind = "PoolComplete"
	// FeatureRequired means that a feature gate is off. Relaxed, it is on.
	FeatureRequired RequirementKind = "Feature"
	// TaintRequired means that a taint must be tolerated. Relaxed, the request has a toleration for its key
	// and effect.
	TaintRequired RequirementKind = "Taint"
	// HeldRequired means that a claim keeps its devices. Relaxed, the devices are free; what else its pods
	// take stays taken.
	HeldRequired RequirementKind = "HeldBy"
	// CapacityRequired is a requested capacity. Relaxed, the least amount is asked for, or none at all on a
	// node where no device has the capacity. (To ask for none may be to ask for the whole.)
	CapacityRequired RequirementKind = "Capacity"
	// TermRequired is a term of a selector of the request. Relaxed, the term is dropped.
	TermRequired RequirementKind = "Term"
	// ConstraintRequired is a constraint. Relaxed, it is dropped.
	ConstraintRequired RequirementKind = "Constraint"
	// CountRequired is a number of devices above one, or all devices. Relaxed, one device is asked for.
	CountRequired RequirementKind = "Count"
	// RequestRequired is a request as such. Relaxed, it is dropped.
	RequestRequired RequirementKind = "Request"

	// The kinds that only pods have. They are about the scheduler's other filters.

	// DeclaredFeatureRequired is a feature that the pod needs of the kubelet. Relaxed, the node declares it.
	DeclaredFeatureRequired RequirementKind = "DeclaredFeature"
	// PodsRequired means that a node runs no more pods than it may. Relaxed, it may run any number.
	PodsRequired RequirementKind = "Pods"
	// VolumeRequired is a volume of the pod, or the number of volumes that a node attaches. Relaxed, the pod
	// does without the volume, or the node attaches any number.
	VolumeRequired RequirementKind = "Volume"
	// RepelledBy are pods with an anti-affinity to this one. Relaxed, they have none.
	RepelledBy RequirementKind = "RepelledBy"
	// NodeTaintRequired means that a taint of the node must be tolerated. Relaxed, the pod tolerates it.
	NodeTaintRequired RequirementKind = "NodeTaint"
	// CordonRequired means that a node is unschedulable. Relaxed, it is schedulable.
	CordonRequired RequirementKind = "Cordon"
	// NodeAffinityRequired is a label of the node selector or the node affinity of the pod. Relaxed, it is
	// dropped.
	NodeAffinityRequired RequirementKind = "NodeAffinity"
	// PodAffinityRequired is a term of the affinity or anti-affinity of the pod to other pods. Relaxed, it is
	// dropped.
	PodAffinityRequired RequirementKind = "PodAffinity"
	// SpreadRequired is a spread constraint. Relaxed, it is a wish.
	SpreadRequired RequirementKind = "Spread"
	// PortRequired is a port of the node. Relaxed, the pod asks for none.
	PortRequired RequirementKind = "Port"
	// ResourceRequired is what the pod asks of a resource of the node. Relaxed, it asks for nothing of it.
	ResourceRequired RequirementKind = "Resource"
)

// Requirement is something that has to hold as things are.
type Requirement struct {
	Kind RequirementKind
	// Plugin is the plugin of kube-scheduler that requires it. It is empty if that is the allocation of
	// devices.
	Plugin string
	// Resource is that of ResourceRequired.
	Resource corev1.ResourceName
	// Claim is the claim of the question that requires it, and Request the "request" or
	// "request/subrequest" in it. Either may be empty.
	Claim   inspect.ClaimRef
	Request string
	// Path is the field that makes the requirement. If that is not a field of the subject, Path begins with
	// the object that has it.
	Path    string
	Message string
	// Actual is what the devices of the node have instead. It may be empty.
	Actual string
	// Term is, for TermRequired and ClassTermRequired, the expression, which may be one of several in a
	// selector. For PoolRequired it is what makes the pool invalid.
	Term string
	// Capacity is the capacity of CapacityRequired, and Amount what is asked for of it.
	Capacity resourcev1.QualifiedName
	Amount   string
	// Pool is the pool of PoolRequired and CountersRequired.
	Pool inspect.PoolID
	// Taint is the taint of TaintRequired, as key:effect.
	Taint string
	// TaintRules are the DeviceTaintRules that set it.
	TaintRules []TaintRule
	// Holder is the claim of HeldRequired. It is nil for the other kinds.
	Holder *Holder
	// Alone says that to drop this requirement, and nothing else, is enough on the node.
	Alone bool
	// Fails is set only in Fix.OtherBlockers. It says that the requirement makes the scheduler give up with
	// an error.
	Fails bool
}

// Sentence is the message with what the devices have instead.
func (r *Requirement) Sentence() string {
	if r.Actual == "" {
		return r.Message
	}
	return r.Message + "; " + r.Actual
}
