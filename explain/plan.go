package explain

import (
	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Plan is what becomes of pods that are to be placed: by kube-scheduler, and at best.
type Plan struct {
	// Replay is what kube-scheduler does, and Joint what could be done. Joint is nil if that was not asked.
	Replay Replay
	Joint  *JointPlan
	// Changes are those by which kube-scheduler places all that Joint does, each verified; the smallest
	// first.
	Changes []Fix
	// Partial says what was not seen, and what that means.
	Partial []string
	Basis   Basis
}

// Replay is what kube-scheduler makes of pods in the order of its queue.
type Replay struct {
	// Placed are in the order in which they are placed, Pending in that of the queue.
	Placed  []PlacedPod
	Pending []PendingPod
	// Running are the pods that were on a node before, and have nothing to wait for.
	Running []Subject
	// Others are pods that wait too, were not asked about, and are placed in the course, in that order.
	Others []Subject
	// Certain says that kube-scheduler places the same pods, whatever nodes it chooses of those that it may
	// choose. Where it does not, Remarks say why.
	Certain bool
	Remarks []string
	// Ties are pods of which it is certain how many find a node, and not which. Certain is then false.
	Ties []Tie
	// Preempting says that kube-scheduler ends other pods for some that wait, or may. What happens then was
	// not played on.
	Preempting bool
	// Preempted are the pods that kube-scheduler ends for others, in that order, where it was played on.
	// Those that are made in their place are not among Placed and Pending.
	Preempted []GonePod
}

// Tie is pods that differ in nothing but their names and have the same priority and second of creation, so
// that any of them may be the first.
type Tie struct {
	Pods []Subject
	// Placed is how many of them find a node.
	Placed int
}

// LeavesSome reports whether some pods are left waiting for certain, whichever these are.
func (p *Plan) LeavesSome() bool {
	if len(p.Replay.Ties) > 0 {
		return true
	}
	invalid := false
	for i := range p.Replay.Pending {
		switch p.Replay.Pending[i].Verdict {
		case Unsatisfiable:
			return true
		case Invalid:
			invalid = true
		}
	}
	return !invalid && len(p.Replay.Pending) > 0 && !p.Replay.Preempting && len(p.Replay.Preempted) == 0 && p.Joint != nil && p.Joint.Verdict == Infeasible
}

// PlacedPod is a pod that finds a node.
type PlacedPod struct {
	Subject Subject
	Node    inspect.NodeName
	// AnyOf is the number of nodes that kube-scheduler may choose instead, Node among them, once those that
	// are placed before it are where they are said to be; 1 says that it then chooses Node.
	AnyOf int
	// Devices are those that it gets on Node, in the order of its claims.
	Devices []Device
}

// PendingPod is a pod that is left waiting.
type PendingPod struct {
	Subject Subject
	// Verdict is Unsatisfiable, or Invalid or Unknown.
	Verdict Verdict
	// Code is the reason that counts for most nodes. It is "" if none is known.
	Code allocator.Code
	// Message is why, as a sentence without the name of the pod.
	Message string
	// Alike is the same for pods that wait for the same reason, or for one that was not looked for.
	Alike int
	// Preempts says that kube-scheduler would end other pods for it. What happens then was not played on.
	Preempts bool
}

// JointVerdict says whether pods can be placed together.
type JointVerdict string

// The verdicts.
const (
	// Feasible means that there is an order and a choice of nodes by which kube-scheduler places all.
	Feasible JointVerdict = "Feasible"
	// Infeasible means that it is proved that there is none.
	Infeasible JointVerdict = "Infeasible"
	// JointUnknown means that the search was given up, or that something is not known on which it depends.
	JointUnknown JointVerdict = "Unknown"
)

// JointPlan is whether pods can be placed together at all, in whatever order and on whatever nodes.
type JointPlan struct {
	Verdict JointVerdict
	// Placed places all if the verdict is Feasible, in the order in which they have to come.
	Placed []PlacedPod
	// Conflict are the fewest pods found that cannot be placed together if the verdict is Infeasible: without
	// any one of them the others can, if Minimal.
	Conflict []Subject
	Minimal  bool
	// Message says of Infeasible and Unknown why.
	Message string
}
