package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Preemption says whether kube-scheduler would end pods of lower priority for a pod that is refused.
type Preemption struct {
	// Possible: it would, or has done so already.
	Possible bool `json:"possible"`
	// Outcome is Possible, NotHelpful, Never, Underway or Unknown.
	Outcome string `json:"outcome" enum:"explain.PreemptionOutcome"`
	// Node and Victims (namespace/name) are whom it would end, the most important first.
	Node    string   `json:"node,omitempty"`
	Victims []string `json:"victims,omitempty"`
	// Determined: these and no others. Otherwise they are an example.
	Determined bool `json:"determined,omitempty"`
	// Budgets: only PodDisruptionBudgets that are not known could make it prefer others.
	Budgets bool `json:"budgets,omitempty"`
	// Nodes is the number of nodes on which it could make room.
	Nodes int `json:"nodes"`
	// Obstacles say why other nodes do not come into question.
	Obstacles []explain.PreemptionObstacle `json:"obstacles,omitempty"`
	Message   string                       `json:"message"`
}

func preemption(p explain.Preemption) Preemption {
	return Preemption{
		Possible: p.Outcome == explain.PreemptionPossible || p.Outcome == explain.PreemptionUnderway, Outcome: string(p.Outcome),
		Node: string(p.Node), Victims: output.Optional(p.Victims, inspect.PodRef.String), Determined: p.Determined, Budgets: p.Budgets, Nodes: len(p.Nodes),
		Obstacles: p.Obstacles, Message: p.Message,
	}
}
