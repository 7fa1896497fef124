package question

import (
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Options narrow a question.
type Options struct {
	// Node is the only node that is asked. If it is "", all nodes are.
	Node inspect.NodeName
	// Hypothetical says that the snapshot is not as the cluster is. What pods tell of the cluster as it is,
	// that they were put on a node and what the scheduler said of them, is left out then: it would contradict
	// what is supposed.
	Hypothetical bool
	// Released says which claims hold nothing only because it is supposed so. That no pod uses them, nor
	// waits for them, is not said. It may be nil.
	Released func(inspect.ClaimRef) bool
	// Events are those of the objects in question. Those of others do not matter.
	Events inspect.Events
	// Choosing is what kube-scheduler chooses nodes by, where that decides what becomes of several pods.
	Choosing replay.Choosing
	// verdictOnly leaves out why the answer is no, and what helps.
	verdictOnly bool
	// ReasonOnly leaves out what helps, which takes most of the time. Of the fixes there are those that the
	// message was made with.
	ReasonOnly bool
	// supposed are claims that have devices only because those who were asked before got them.
	supposed map[inspect.ClaimRef]bool
	// supposedPods are pods that are on nodes only because those who were asked before are.
	supposedPods map[inspect.PodRef]bool
	// grouped says that who asks decides what becomes of the other pods of a group.
	grouped bool
	// gangs are those that were decided already, by the name of the group. It is nil if nobody asks again.
	gangs map[inspect.PodRef]*gang
}

// ErrNotFound is wrapped by errors about an object that is not in the snapshot.
var ErrNotFound = cycle.ErrNotFound

// Supposing returns the options for a question in a cluster in which others have what they take: neither to
// release such claims nor to end such pods is a fix.
func (o Options) Supposing(reservations []*replay.Reservation) Options {
	o.supposed, o.supposedPods = map[inspect.ClaimRef]bool{}, map[inspect.PodRef]bool{}
	for _, t := range reservations {
		for _, claim := range t.Claims {
			o.supposed[inspect.RefOf(claim)] = true
		}
		if t.Pod != nil {
			o.supposedPods[inspect.PodRef{Namespace: t.Pod.Namespace, Name: t.Pod.Name}] = true
		}
	}
	return o
}

// Cycle returns the options that matter to a scheduling cycle.
func (o Options) Cycle() cycle.Options {
	return cycle.Options{Node: o.Node, Supposed: o.supposed, SupposedPods: o.supposedPods}
}
