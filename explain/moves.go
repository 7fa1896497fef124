package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Moves are the fewest pods that have to go elsewhere so that a pod or a claim fits.
type Moves struct {
	Subject Subject
	// Verdict is Feasible if room can be made, or is there already; Infeasible if it is proved that no moves
	// make any.
	Verdict JointVerdict
	// Message says why room need not be made, cannot be made, or why that is not known.
	Message string
	// Moves are in the order in which they have to be made. There are none if there is room already.
	Moves []Move
	// Target is the node that is kept for the subject meanwhile, and what it gets there.
	Target *PlacedPod
	// AtLeast is a number of pods that is proved to be needed, and Proven says that it is the number of
	// Moves.
	AtLeast int
	Proven  bool
	// Fixed are the pods on nodes that may not be moved, by the reason.
	Fixed []FixedPods
	// Doubts say what could come in between when the moves are made.
	Doubts []string
	// Partial says what was not seen, and what that means.
	Partial []string
	Basis   Basis
	// Commands make the moves, in order, and Remarks are what has to be known of them. They are filled in by
	// remedy.
	Commands []string
	Remarks  []string
}

// Move is a pod that goes to another node: it is deleted, and the one that its controller makes in its place
// is scheduled.
type Move struct {
	Pod  Subject
	From inspect.NodeName
	// To is where the new pod is supposed to go. AnyOf is the number of nodes that kube-scheduler may choose
	// instead, To among them. Whichever it takes, all that follows is possible.
	To    inspect.NodeName
	AnyOf int
	// Closed are the nodes that take no new pods while this one is moved, because they are needed afterwards.
	// They are sorted.
	Closed []inspect.NodeName
	// Owner is what makes the pod anew.
	Owner string
	// Priority is that of the pod.
	Priority int32
	// Devices are those that the new pod gets on To.
	Devices []Device
}

// FixedPods are pods that may not be moved.
type FixedPods struct {
	// Key names the reason, and Reason is it in words, as it follows on the names of pods.
	Key    string
	Reason string
	Pods   []Subject
}

// RoomTaint is the key of the taint that keeps a node for the pod for which room is made.
const RoomTaint = "kubectl-dra.dev/making-room"
