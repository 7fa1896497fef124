package explain

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Disruption is what becomes of pods and claims when something goes: a node is drained, devices are lost, a
// namespace is deleted.
type Disruption struct {
	// What is what happens, such as "draining node n1".
	What string
	// Gone are the pods that have to go, those first that go first.
	Gone []GonePod
	// Held are the pods that should go and stay, as PodDisruptionBudgets do not let them go.
	Held []HeldPod
	// Besides are other pods that it is about, with what becomes of them.
	Besides []Note
	// Claims are those that lose their devices, sorted.
	Claims []LostClaim
	// Replay is what kube-scheduler then makes of all that waits: the pods that come back, and those that
	// waited before.
	Replay Replay
	// Gains are the pods that wait now and are placed by that, and Losses those that would have been placed
	// without it. Where that is not certain, the verdict of a loss is Unknown.
	Gains  []PlacedPod
	Losses []PendingPod
	// Unseen says that not all pods or claims were read, so that more may have to go.
	Unseen bool
	// Open says that this was to be the worst that can happen, and that it is not known whether it is, or
	// that it is not known whether all who go are let go.
	Open bool
	// LeavesSome says that it is certain that some of those who are to come back do not find a node,
	// whichever these are, or that budgets keep some from going because of that.
	LeavesSome bool
	// Final says that those who go are not to come back.
	Final bool
	// Remarks are what a reader must know to act on the answer.
	Remarks []string
	Partial []string
	Basis   Basis
}

// GonePod is a pod that goes.
type GonePod struct {
	Subject Subject
	Node    inspect.NodeName
	// Cause is why, in a few words, such as "its device gpu-3 is lost".
	Cause string
	// After is how long it is tolerated. 0 is at once.
	After time.Duration
	// Controller is what makes another one in its place, such as "Job train", or "" if nobody does.
	Controller string
	// Then is what becomes of that.
	Then Comeback
	// Again is where the other one is placed, and Pending why it is not; one of them is set where Then says
	// so.
	Again   *PlacedPod
	Pending *PendingPod
	// Eviction says what PodDisruptionBudgets have to do with it. It is nil if the pod goes at once.
	Eviction *Eviction
}

// HeldPod is a pod that is to be evicted and is not.
type HeldPod struct {
	Subject Subject
	Node    inspect.NodeName
	Eviction
}

// Eviction is what PodDisruptionBudgets have to do with the eviction of a pod.
type Eviction struct {
	// Budgets are those that protect the pod, as namespace/name.
	Budgets []string `json:"budgets,omitempty"`
	// Open says that it is not known whether the pod goes.
	Open bool `json:"open,omitempty"`
	// Message says what the eviction waits for, or why it is never granted.
	Message string `json:"message"`
}

// Comeback is what becomes of a pod that has to go.
type Comeback string

// The ends of pods that have to go.
const (
	// ComesBack means that another one is made, and finds a node.
	ComesBack Comeback = "Placed"
	// LeftWaiting means that another one is made, and finds none, or that it is not known.
	LeftWaiting Comeback = "Pending"
	// NeverComes means that nothing will recreate it.
	NeverComes Comeback = "Gone"
)

// LostClaim is a claim that loses its devices.
type LostClaim struct {
	Claim   inspect.ClaimRef
	Devices []inspect.DeviceID
	// Deleted says that the claim goes with its pod, or its namespace. Otherwise it only gives its devices
	// back.
	Deleted bool
}

// Harm is the number of pods that end, or would have been placed, and then run nowhere.
func (d *Disruption) Harm() int {
	n := len(d.Losses)
	for i := range d.Gone {
		if d.Gone[i].Then == LeftWaiting || d.Gone[i].Then == NeverComes && !d.Final {
			n++
		}
	}
	return n
}
