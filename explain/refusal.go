package explain

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// KeepsOut reports whether a refusal keeps the pod from a node whatever room is there. What devices the node
// has is of no interest then.
func KeepsOut(r *filters.Refusal) bool {
	switch r.Code {
	case filters.NodeMismatch, filters.NodeTainted, filters.Unschedulable:
		return true
	}
	return false
}

// refusalKey identifies the reason of a refusal.
func refusalKey(r *filters.Refusal) string {
	return string(r.Plugin) + " " + string(r.Code) + " " + r.Key
}

// RefusalKey identifies all reasons of an outcome.
func RefusalKey(o *filters.Outcome) string {
	var b strings.Builder
	for i := range o.Refusals {
		b.WriteString(refusalKey(&o.Refusals[i]) + "\n")
	}
	for i := range o.Doubts {
		b.WriteString("doubt " + string(o.Doubts[i].Plugin) + " " + o.Doubts[i].Key + "\n")
	}
	return b.String()
}

// ReasonOf is the reason for which nodes are refused. All refusals have the same key.
func ReasonOf(refusals []filters.Refusal) Reason {
	r := &refusals[0]
	return Reason{
		Code: allocator.Code(r.Code), Plugin: string(r.Plugin), Key: refusalKey(r), Found: foundOf(refusals), Message: filters.Summary(refusals),
	}
}

// foundOf distinguishes the numbers of refusals.
func foundOf(refusals []filters.Refusal) string {
	if refusals[0].Resource == "" {
		return ""
	}
	low, high := leftRange(refusals)
	return words.Key(low, high)
}

// leftRange is the smallest and the largest amount that is left of a resource.
func leftRange(refusals []filters.Refusal) (low, high int64) {
	for i := range refusals {
		left := refusals[i].Left()
		if i == 0 {
			low, high = left, left
		}
		low, high = min(low, left), max(high, left)
	}
	return low, high
}

// ReasonsOf are the reasons for which nodes are refused, in the order in which the scheduler asks its
// filters. Each node has the same reasons.
func ReasonsOf(outcomes []filters.Outcome) []Reason {
	if len(outcomes) == 0 {
		return nil
	}
	var out []Reason
	for i := range outcomes[0].Refusals {
		out = append(out, ReasonOf(words.Each(outcomes, func(o filters.Outcome) filters.Refusal { return o.Refusals[i] })))
	}
	return out
}

// DoubtRemark says what is not known because of a doubt.
func DoubtRemark(d *filters.Doubt) string { return fmt.Sprintf("%s: %s", d.Plugin, d.Message) }
