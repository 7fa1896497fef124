package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// PreemptionOutcome says whether the scheduler would end pods for another one.
type PreemptionOutcome string

// The outcomes.
const (
	PreemptionPossible   PreemptionOutcome = "Possible"   // it would
	PreemptionNotHelpful PreemptionOutcome = "NotHelpful" // it would not: on no node does it make room
	PreemptionNever      PreemptionOutcome = "Never"      // it would not: the pod forbids it by its preemptionPolicy
	PreemptionUnderway   PreemptionOutcome = "Underway"   // it has, and waits for the pods to end
	PreemptionUnknown    PreemptionOutcome = "Unknown"    // that is not known
)

// Preemption says whether the scheduler would end other pods to make room for one that no node takes as
// things are (plugin DefaultPreemption).
type Preemption struct {
	Outcome PreemptionOutcome
	// Nodes are those on which it could, as it decides itself, in the order of the snapshot. Of very many
	// they are the first.
	Nodes []inspect.NodeName
	// Node is one of them, and Victims are the pods that it would end there, the most important first. There
	// are none unless the outcome is Possible or Underway.
	Node    inspect.NodeName
	Victims []inspect.PodRef
	// Determined says that it is this node, and that it is these pods. Otherwise they are an example.
	Determined bool
	// Budgets says that only PodDisruptionBudgets which are not known could make it prefer others: those that
	// were not read, or whose status is not filled in yet.
	Budgets bool
	// Obstacles say why nodes do not come into question, the most frequent first.
	Obstacles []PreemptionObstacle
	// Message is all of it in a sentence that begins with kube-scheduler.
	Message string
}

// PreemptionObstacle is why preemption does not help on some nodes.
type PreemptionObstacle struct {
	Kind  ObstacleKind `json:"kind"`
	Nodes int          `json:"nodes"`
}

// ObstacleKind is why preemption does not help on a node.
type ObstacleKind string

// The kinds of obstacles.
const (
	// DevicesMissing: the node lacks devices, which the scheduler does not free
	// (UnschedulableAndUnresolvable).
	DevicesMissing ObstacleKind = "DevicesMissing"
	// NotByPods: what refuses the node would not change with other pods (UnschedulableAndUnresolvable).
	NotByPods ObstacleKind = "NotByPods"
	// NoVictims: no pod on the node has a lower priority.
	NoVictims ObstacleKind = "NoVictims"
	// NotEnough: the pod would not fit without all pods of lower priority either.
	NotEnough ObstacleKind = "NotEnough"
	// NotKnown: something that decides about the node is not known, or was not tried.
	NotKnown ObstacleKind = "NotKnown"
)
