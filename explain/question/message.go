package question

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/diagnose"
	"github.com/kubectl-dra/kubectl-dra/explain/headline"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sayVerdict sets the message to the answer of a question that was put to its nodes. abort may be nil.
func sayVerdict(q *whatif.Question, e *explain.Explanation, abort *allocator.AbortError) {
	where := fmt.Sprintf("any of %d nodes", e.Nodes.Total)
	if len(q.Nodes) == 1 {
		where = "node " + q.Nodes[0].Name
		if q.Nodes[0].Name == string(inspect.PseudoNode) {
			where = "any node (none is known)"
		}
	}
	can, cannot := "can be allocated", "cannot be allocated"
	if q.Pod != nil {
		can, cannot = "can be scheduled", "cannot be scheduled"
	}
	switch {
	case abort != nil && (abort.Undecided() || e.Nodes.Allocatable == 0):
		e.Say("%s: %s", abort.Consequence(), diagnose.AbortMessage(abort))
	case abort != nil:
		e.Say("%s: %s (%d of %d nodes would fit otherwise)", abort.Consequence(), diagnose.AbortMessage(abort), e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == explain.Allocatable && e.Nodes.Total == 1:
		e.Say("%s on %s", can, where)
	case e.Verdict == explain.Allocatable:
		e.Say("%s on %d of %d nodes", can, e.Nodes.Allocatable, e.Nodes.Total)
	case e.Verdict == explain.Unsatisfiable && len(q.Claims) == 0 && len(q.Own) > 0:
		e.Say("has all its devices, but cannot be scheduled on %s", where)
	case e.Verdict == explain.Unsatisfiable:
		e.Say("%s on %s", cannot, where)
	default:
		sayUnknown(e)
	}
}

// sayDoubtful sets the message to why it is not known whether a pod fits on any of the nodes that have its
// devices.
func sayDoubtful(q *whatif.Question, e *explain.Explanation, nodes int) {
	what := "has nothing against it"
	if len(q.Claims) > 0 {
		what = "has its devices"
	}
	where := fmt.Sprintf("%d of %d nodes", nodes, e.Nodes.Total)
	if e.Nodes.Total == 1 {
		where = "the node"
	}
	e.Remark("whether it can be scheduled is not known: %s %s as far as can be seen, but not everything that decides is known", where, what)
}

// someNodes says on how many of the nodes the pod can be scheduled.
func someNodes(q *whatif.Question, e *explain.Explanation) string {
	if len(q.Nodes) == 1 {
		return "node " + q.Nodes[0].Name
	}
	return fmt.Sprintf("%d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
}

// sayHeadline sets the message to what is missing, unless that is empty.
func sayHeadline(e *explain.Explanation, h headline.Headline) {
	if h.Sentence != "" {
		e.Brief, e.Lack = h.Brief, h.Lack
		e.Say("%s", h.Sentence)
	}
}

// sayUnknown sets the message to why there is no answer.
func sayUnknown(e *explain.Explanation) {
	switch {
	case e.Nodes.Total == 0:
		e.Remark("there are no nodes to ask about")
	case e.Nodes.Allocatable > 0:
		e.Say("could be allocated on %d of %d nodes as far as can be seen, but not everything that decides is known", e.Nodes.Allocatable, e.Nodes.Total)
	case len(e.Partial) > 0:
		e.Say("cannot be allocated with what can be seen, but not everything that decides is known")
	default:
		e.Remark("the search was given up before it had an answer")
	}
}

// saySlow sets the message of an answer that would be yes if the scheduler had time for it.
func saySlow(o cycle.Tally, q *whatif.Question, e *explain.Explanation) {
	where := fmt.Sprintf("on %d of %d nodes", e.Nodes.Allocatable, e.Nodes.Total)
	if len(q.Nodes) == 1 {
		where = "on node " + q.Nodes[0].Name
	}
	switch {
	case o.Timeout == explain.MayTimeOut:
		e.Say("can be allocated %s, if kube-scheduler's own search ends in time", where)
	case o.DropsNodes:
		e.Say("cannot be allocated: it would fit %s, but kube-scheduler's own search does not end in time", where)
	default:
		e.Say("makes the scheduler give up with an error: it would fit %s, but kube-scheduler's own search does not end in time", where)
	}
}
