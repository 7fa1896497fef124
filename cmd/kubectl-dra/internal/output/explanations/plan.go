package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Plan is the wire form of an explain.Plan.
type Plan struct {
	output.Head
	// Replay is what kube-scheduler does, Joint whether all can be placed in some order and on some nodes.
	Replay  Replay        `json:"replay"`
	Joint   *JointPlan    `json:"joint,omitempty"`
	Changes []Fix         `json:"changes,omitempty"`
	Partial []string      `json:"partial"`
	Basis   explain.Basis `json:"basis"`
}

// Replay is what kube-scheduler makes of pods.
type Replay struct {
	Placed  []PlacedPod  `json:"placed"`
	Pending []PendingPod `json:"pending"`
	// Running are pods that are on a node already.
	Running []string `json:"running,omitempty"`
	// Others are pods that wait too, were not asked about, and are placed in the course.
	Others []string `json:"others,omitempty"`
	// Preempted are the pods that kube-scheduler ends for others, in that order.
	Preempted []GonePod `json:"preempted,omitempty"`
	// Certain: whatever nodes kube-scheduler chooses, it places these pods and no others.
	Certain bool     `json:"certain"`
	Remarks []string `json:"doubts,omitempty"`
}

// PlacedPod is a pod, as namespace/name, that finds a node.
type PlacedPod struct {
	Pod     string   `json:"pod"`
	Node    string   `json:"node"`
	Devices []string `json:"devices"`
	// AnyOf is the number of nodes that kube-scheduler may choose instead, this one among them, once the pods
	// that are placed before it are where they are said to be.
	AnyOf int `json:"anyOf"`
}

// PendingPod is a pod that is left waiting.
type PendingPod struct {
	Pod     string `json:"pod"`
	Verdict string `json:"verdict" enum:"explain.Verdict"`
	Code    string `json:"code,omitempty" enum:"allocator.Code"`
	Message string `json:"message"`
	// Preempts: kube-scheduler ends other pods for it.
	Preempts bool `json:"preempts,omitempty"`
}

// JointPlan is whether pods can be placed together at all: Feasible, Infeasible or Unknown.
type JointPlan struct {
	Verdict  string      `json:"verdict" enum:"explain.JointVerdict"`
	Placed   []PlacedPod `json:"placed,omitempty"`
	Conflict []string    `json:"conflict,omitempty"`
	// Minimal: without any one of the conflict the others can be placed.
	Minimal bool   `json:"minimal,omitempty"`
	Message string `json:"message,omitempty"`
}

// NewPlan returns the wire form of a plan.
func NewPlan(p *explain.Plan) *Plan {
	out := &Plan{
		Head: output.HeadOf("Plan"), Replay: replay(&p.Replay),
		Changes: output.Optional(p.Changes, claimName{}.fix), Partial: output.OrEmpty(p.Partial), Basis: p.Basis,
	}
	if j := p.Joint; j != nil {
		out.Joint = &JointPlan{
			Verdict: string(j.Verdict), Placed: output.Optional(j.Placed, placedPod), Conflict: output.Optional(j.Conflict, explain.Subject.FullName),
			Minimal: j.Minimal, Message: j.Message,
		}
	}
	return out
}

func replay(r *explain.Replay) Replay {
	return Replay{
		Placed: words.Each(r.Placed, placedPod), Pending: words.Each(r.Pending, pendingPod), Running: output.Optional(r.Running, explain.Subject.FullName),
		Others: output.Optional(r.Others, explain.Subject.FullName), Preempted: output.Optional(r.Preempted, gonePod), Certain: r.Certain, Remarks: r.Remarks,
	}
}

func placedPod(p explain.PlacedPod) PlacedPod {
	return PlacedPod{
		Pod: p.Subject.FullName(), Node: string(p.Node), AnyOf: p.AnyOf,
		Devices: words.Each(p.Devices, func(d explain.Device) string { return d.ID.String() }),
	}
}

func pendingPod(p explain.PendingPod) PendingPod {
	return PendingPod{Pod: p.Subject.FullName(), Verdict: string(p.Verdict), Code: string(p.Code), Message: p.Message, Preempts: p.Preempts}
}
