package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// MovesPlan is the wire form of explain.Moves: a Plan of moves.
type MovesPlan struct {
	output.Head
	Subject explain.Subject `json:"subject"`
	// Verdict is Feasible, Infeasible or Unknown.
	Verdict string `json:"verdict" enum:"explain.JointVerdict"`
	Message string `json:"message,omitempty"`
	// Moves are in the order in which they are made, and Target is where the subject then fits.
	Moves   []Move     `json:"moves"`
	Target  *PlacedPod `json:"target,omitempty"`
	Minimum Minimum    `json:"minimum"`
	// Fixed are the pods that may not be moved, by the reason.
	Fixed    []FixedPods   `json:"fixed,omitempty"`
	Doubts   []string      `json:"doubts,omitempty"`
	Commands []string      `json:"commands,omitempty"`
	Remarks  []string      `json:"remarks,omitempty"`
	Partial  []string      `json:"partial"`
	Basis    explain.Basis `json:"basis"`
}

// Move is a pod, as namespace/name, that goes from one node to another.
type Move struct {
	Pod  string `json:"pod"`
	From string `json:"from"`
	To   string `json:"to"`
	// AnyOf is the number of nodes that kube-scheduler may choose instead, To among them.
	AnyOf int `json:"anyOf"`
	// Closed are the nodes that are cordoned meanwhile.
	Closed   []string `json:"closed,omitempty"`
	Owner    string   `json:"owner"`
	Priority int32    `json:"priority"`
	Devices  []string `json:"devices"`
}

// Minimum is what is known of the smallest number of moves: it is at least AtLeast, and if Proven the number
// of those given.
type Minimum struct {
	Proven  bool `json:"proven"`
	AtLeast int  `json:"atLeast"`
}

// FixedPods are pods that may not be moved.
type FixedPods struct {
	Reason string   `json:"reason"`
	Pods   []string `json:"pods"`
}

// NewMovesPlan returns the wire form of moves.
func NewMovesPlan(m *explain.Moves) *MovesPlan {
	return &MovesPlan{
		Head: output.HeadOf("Plan"), Subject: m.Subject, Verdict: string(m.Verdict), Message: m.Message,
		Moves: words.Each(m.Moves, move), Minimum: Minimum{m.Proven, m.AtLeast}, Doubts: m.Doubts, Commands: m.Commands, Remarks: m.Remarks,
		Fixed: output.Optional(m.Fixed, func(f explain.FixedPods) FixedPods {
			return FixedPods{Reason: f.Key, Pods: words.Each(f.Pods, explain.Subject.FullName)}
		}),
		Partial: output.OrEmpty(m.Partial), Basis: m.Basis,
		Target: output.Maybe(m.Target, placedPod),
	}
}

func move(m explain.Move) Move {
	return Move{
		Pod: m.Pod.FullName(), From: string(m.From), To: string(m.To), AnyOf: m.AnyOf, Owner: m.Owner, Priority: m.Priority,
		Closed:  words.Strings(m.Closed),
		Devices: words.Each(m.Devices, func(d explain.Device) string { return d.ID.String() }),
	}
}
