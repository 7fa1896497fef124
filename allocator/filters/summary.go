package filters

import "fmt"

// Left is what the node has left of the resource that the refusal is about.
func (r *Refusal) Left() int64 { return max(0, r.Allocatable-r.Used) }

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
	case first.Resource != "":
		return most.Message + " at most"
	}
	return fmt.Sprintf("%s (on one of the nodes; elsewhere likewise)", first.Message)
}
