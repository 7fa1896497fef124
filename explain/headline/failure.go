package headline

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/explain"
)

// OfFailure returns the headline of an explanation with the verdict Invalid and what made the
// scheduler abort. It is empty unless that is a selector that reads a field which the device does not have.
func OfFailure(e *explain.Explanation, abort *allocator.AbortError) Headline {
	f := e.Failure
	if f == nil || len(f.Lacks) == 0 {
		return Headline{}
	}
	field, ok := selector.ParseField(f.Lacks[0])
	if !ok {
		return Headline{}
	}
	who := "the selector of request " + f.Request
	if e.Subject.Kind == "Pod" {
		who += " of claim " + f.Claim.Name
	}
	if abort.Class != "" {
		who = "a selector of device class " + abort.Class
	}
	name := field.Name
	if field.Domain != f.Device.Driver {
		name = field.Domain + "/" + name
	}
	kind := "the attribute"
	if field.Kind == "capacity" {
		kind = "the capacity"
	}
	what := fmt.Sprintf("%s reads %s %s, which device %s does not have", who, kind, name, f.Device)
	h := Headline{Sentence: abort.Consequence() + ": " + what, Brief: "the scheduler gives up: " + what}
	if e.Nodes.Allocatable > 0 {
		h.Sentence += fmt.Sprintf(" (%d of %d nodes would fit otherwise)", e.Nodes.Allocatable, e.Nodes.Total)
	}
	return h
}
