package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// QueueExplanation is what explain says of a queue of Kueue.
type QueueExplanation struct {
	output.Head
	// Queue is the queue, with its own kind.
	Queue explain.QueueState `json:"queue"`
}

// Headline implements output.Headliner.
func (e *QueueExplanation) Headline() string {
	return e.Queue.Kind + " " + e.Queue.Name + " " + e.Queue.Message
}

// Queues returns the wire form of one queue, or a QueueExplanationList of several.
func Queues(all []*explain.QueueState) any {
	return output.OneOrList("QueueExplanationList", words.Each(all, func(q *explain.QueueState) *QueueExplanation {
		return &QueueExplanation{Head: output.HeadOf("QueueExplanation"), Queue: *q}
	}))
}
