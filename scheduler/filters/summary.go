package filters

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Left is what the node has left of the resource that the refusal is about.
func (r *Refusal) Left() int64 { return max(0, r.Allocatable-r.Used) }

// numberWithVerb is a number of a resource that is, or are, there.
func numberWithVerb(name corev1.ResourceName, units int64) string {
	return NumberLeft(name, units) + Amount{name, units}.verb()
}

// Summary is a clause that is true of all refusals, which have the same code and key.
func Summary(refusals []Refusal) string {
	first := &refusals[0]
	most, same := first, true
	for i := range refusals {
		same = same && refusals[i].Message == first.Message
		if refusals[i].Left() > most.Left() {
			most = &refusals[i]
		}
	}
	switch {
	case same:
		return first.Message
	case first.Topology != nil:
		return topologyInWords(refusals)
	case first.Code == InsufficientResources && most.Left() == 0:
		return fmt.Sprintf("the pod asks for %s; none is left", Words(first.Resource, first.Requested))
	case first.Code == InsufficientResources:
		return fmt.Sprintf("the pod asks for %s; at most %s left", Words(first.Resource, first.Requested), numberWithVerb(first.Resource, most.Left()))
	}
	return fmt.Sprintf("%s; likewise on the other nodes", first.Message)
}
