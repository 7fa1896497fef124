package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Disruption is the wire form of an explain.Disruption: a plan with the pods that go.
type Disruption struct {
	output.Head
	// What is what happens, in words.
	What string `json:"what"`
	// Gone are the pods that have to go, those first that go first.
	Gone []GonePod `json:"gone"`
	// Held are pods that should go and stay, as PodDisruptionBudgets do not let them go.
	Held []HeldPod `json:"held,omitempty"`
	// Besides are other pods that it is about.
	Besides []explain.Note `json:"besides,omitempty"`
	// Claims are those that lose their devices.
	Claims []LostClaim `json:"claims"`
	// Replay is what kube-scheduler then makes of all that waits.
	Replay Replay `json:"replay"`
	// Unseen: not all pods or claims could be read, so more may have to go.
	Unseen bool `json:"unseen,omitempty"`
	// Gains are pods that wait now and are placed by that, Losses those that would have been placed without
	// it.
	Gains   []PlacedPod   `json:"gains,omitempty"`
	Losses  []PendingPod  `json:"losses,omitempty"`
	Remarks []string      `json:"remarks,omitempty"`
	Partial []string      `json:"partial"`
	Basis   explain.Basis `json:"basis"`
}

// GonePod is a pod, as namespace/name, that has to go.
type GonePod struct {
	Pod   string `json:"pod"`
	Node  string `json:"node"`
	Cause string `json:"cause"`
	// AfterSeconds is for how long it is tolerated.
	AfterSeconds int64 `json:"afterSeconds,omitempty"`
	// Controller makes another one, which ends as Then says: Placed, Pending or Gone.
	Controller string      `json:"controller,omitempty"`
	Then       string      `json:"then" enum:"explain.Comeback"`
	Again      *PlacedPod  `json:"again,omitempty"`
	Pending    *PendingPod `json:"pending,omitempty"`
	// Eviction says what PodDisruptionBudgets have to do with it, if it does not simply go at once.
	Eviction *explain.Eviction `json:"eviction,omitempty"`
}

// HeldPod is a pod, as namespace/name, that is to be evicted and is not.
type HeldPod struct {
	Pod  string `json:"pod"`
	Node string `json:"node"`
	explain.Eviction
}

// LostClaim is a claim, as namespace/name, that loses its devices.
type LostClaim struct {
	Claim   string   `json:"claim"`
	Devices []string `json:"devices"`
	Deleted bool     `json:"deleted,omitempty"`
}

// NewDisruption returns the wire form of a disruption.
func NewDisruption(d *explain.Disruption) *Disruption {
	return &Disruption{
		Head: output.HeadOf("Plan"), What: d.What, Gone: words.Each(d.Gone, gonePod), Held: output.Optional(d.Held, heldPod), Besides: d.Besides,
		Claims: words.Each(d.Claims, func(c explain.LostClaim) LostClaim {
			return LostClaim{Claim: c.Claim.String(), Devices: words.Each(c.Devices, inspect.DeviceID.String), Deleted: c.Deleted}
		}),
		Replay: replay(&d.Replay), Unseen: d.Unseen, Gains: output.Optional(d.Gains, placedPod), Losses: output.Optional(d.Losses, pendingPod), Remarks: d.Remarks, Partial: output.OrEmpty(d.Partial), Basis: d.Basis,
	}
}

func gonePod(g explain.GonePod) GonePod {
	return GonePod{
		Pod: g.Subject.FullName(), Node: string(g.Node), Cause: g.Cause, AfterSeconds: int64(g.After.Seconds()),
		Controller: g.Controller, Then: string(g.Then),
		Again: output.Maybe(g.Again, placedPod), Pending: output.Maybe(g.Pending, pendingPod),
		Eviction: g.Eviction,
	}
}

func heldPod(h explain.HeldPod) HeldPod {
	return HeldPod{Pod: h.Subject.FullName(), Node: string(h.Node), Eviction: h.Eviction}
}
