package explain

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Fixes of volume claims.
const (
	// ReduceVolume is ReduceRequest of a volume claim: it asks for a smaller volume.
	ReduceVolume FixKind = "ReduceRequest"
	// ChangeStorageClass: ask for a volume of another storage class, in a volume claim that has none yet.
	// Patch: pod for the claim of one of its own volumes, otherwise the claim.
	ChangeStorageClass FixKind = "ChangeStorageClass"
)

// Volume says where a volume claim can have its volume.
type Volume struct {
	// Bound is the volume that the claim is bound to, or "".
	Bound string
	// Class is the storage class, with its provisioner. Both are empty if the claim names none, the
	// provisioner also if the class is not known.
	Class, Provisioner string
	// Wanted is the size that the claim asks for, or nil.
	Wanted *resource.Quantity
	// Nodes are those that were asked about, sorted by name. There are none if no pod with the claim fits
	// anywhere.
	Nodes []VolumeNode
}

// VolumeNode is how a volume claim fares on a node.
type VolumeNode struct {
	Node   inspect.NodeName
	Answer VolumeAnswer
	Rule   filters.VolumeRule
	// By is the object that decides by the rule. It is empty if there is no such object.
	By filters.Object
	// Offered is the size that By offers by its field Field, and Missing how much that is short of what is
	// wanted. They are nil if the rule is not about sizes, Offered also if nothing is offered, and Missing if
	// enough is.
	Offered, Missing *resource.Quantity
	Field            string
	// Reasons are what is in the way if the answer is no, or not known if it is unknown.
	Reasons []VolumeReason
	// Together are pods for which the claim fits alone and not with their other claims.
	Together []filters.VolumeTogether
	// Message says in a clause what decides.
	Message string
}

// VolumeAnswer is the answer for one node.
type VolumeAnswer string

// The answers.
const (
	VolumeFits    VolumeAnswer = "Yes"
	VolumeRefused VolumeAnswer = "No"
	VolumeUnknown VolumeAnswer = "Unknown"
)

// VolumeReason is what a plugin of the scheduler says against a node.
type VolumeReason struct {
	Plugin filters.Plugin `json:"plugin"`
	// Code is empty if the plugin could not decide.
	Code    filters.Code `json:"code,omitempty"`
	Message string       `json:"message"`
}
