package explanations

import (
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Volume says where a volume claim can have its volume.
type Volume struct {
	// Bound is the volume that the claim is bound to.
	Bound        string             `json:"bound,omitempty"`
	StorageClass string             `json:"storageClass,omitempty"`
	Provisioner  string             `json:"provisioner,omitempty"`
	Requested    *resource.Quantity `json:"requested,omitempty"`
	Nodes        []VolumeNode       `json:"nodes"`
}

// VolumeNode is how a volume claim fares on a node. Answer is Yes, No or Unknown.
type VolumeNode struct {
	Node   string `json:"node"`
	Answer string `json:"answer" enum:"explain.VolumeAnswer"`
	// Rule is what decides, and DecidedBy the object that does: Offered is what its field Field says, and
	// Missing how much that is short of what is requested.
	Rule      string                 `json:"rule" enum:"filters.VolumeRule"`
	DecidedBy *filters.Object        `json:"decidedBy,omitempty"`
	Field     string                 `json:"field,omitempty"`
	Offered   *resource.Quantity     `json:"offered,omitempty"`
	Missing   *resource.Quantity     `json:"missing,omitempty"`
	Reasons   []explain.VolumeReason `json:"reasons,omitempty"`
	// Together are pods for which the claim fits alone and not with their other claims.
	Together []VolumeTogether `json:"together,omitempty"`
}

// VolumeTogether are claims of a pod that fit one by one and not together. The scheduler does not notice
// unless Refused is set.
type VolumeTogether struct {
	Pod       string             `json:"pod"`
	Claims    []string           `json:"claims"`
	Requested *resource.Quantity `json:"requested,omitempty"`
	Left      *resource.Quantity `json:"left,omitempty"`
	Refused   bool               `json:"refused"`
	Message   string             `json:"message"`
}

func volume(v explain.Volume) Volume {
	return Volume{
		Bound: v.Bound, StorageClass: v.Class, Provisioner: v.Provisioner, Requested: v.Wanted, Nodes: words.Each(v.Nodes, volumeNode),
	}
}

func volumeNode(n explain.VolumeNode) VolumeNode {
	out := VolumeNode{
		Node: string(n.Node), Answer: string(n.Answer), Rule: string(n.Rule), Field: n.Field, Offered: n.Offered, Missing: n.Missing,
		Reasons:  n.Reasons,
		Together: output.Optional(n.Together, volumeTogether),
	}
	if n.By != (filters.Object{}) {
		out.DecidedBy = &n.By
	}
	return out
}

func volumeTogether(t filters.VolumeTogether) VolumeTogether {
	return VolumeTogether{
		Pod: t.Pod.String(), Claims: words.Each(t.Claims, func(o filters.Object) string { return o.Namespace + "/" + o.Name }),
		Requested: t.Wanted, Left: t.Left, Refused: t.Refused, Message: t.Words(),
	}
}
