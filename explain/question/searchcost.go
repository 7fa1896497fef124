package question

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The search of kube-scheduler costs more than that of package allocator, since it does not prune. A question that is
// decided here at once may keep the scheduler busy until its filter times out. That is another failure than
// "unschedulable": the pod's attempt ends with an error, even if other nodes would fit.

// filterTimeout is how long kube-scheduler searches for devices on one node, unless its configuration says
// otherwise (DynamicResourcesArgs.filterTimeout).
const filterTimeout = 10 * time.Second

// stepAtLeast and stepAtMost bound what one step of the scheduler's search takes. On the machines where that was
// measured it took 0.5 to 4 microseconds with up to 64 devices on a node, and 17 with 500. The bounds leave room for
// other machines.
const (
	stepAtLeast = 200 * time.Nanosecond
	stepAtMost  = 10 * time.Microsecond
)

const (
	// manySteps is the number of steps up to which the cost is not mentioned.
	manySteps = 256
	// maxCounted is the number of different nodes on which steps are counted.
	maxCounted = 16
)

// searchCost counts the steps that the scheduler would need, on the node where they are most. It returns nil if they are
// many on no node.
func searchCost(ctx context.Context, q *whatif.Question, answers []whatif.Answer) (*explain.SearchCost, error) {
	var worst *explain.SearchCost
	counted := 0
	for i := range answers {
		a := &answers[i]
		if a.Unsuitable != nil || a.Result != nil && a.Result.Steps < manySteps || counted == maxCounted {
			continue
		}
		counted++
		node := q.Nodes[a.Nodes[0]]
		steps, err := q.Cluster.PlainSteps(ctx, node, a.Q.Claims)
		if err != nil {
			return nil, err
		}
		if steps.Steps > manySteps && (worst == nil || steps.Steps > worst.Steps.Steps) {
			worst = &explain.SearchCost{Node: inspect.NodeName(node.Name), Nodes: len(a.Nodes), Steps: steps}
		}
	}
	if worst == nil {
		return nil, nil
	}
	worst.Risk = timeoutRisk(q, worst.Steps)
	worst.Message = timeoutMessage(q, worst)
	return worst, nil
}

// timeoutRisk says whether the scheduler's filter may time out during so many steps.
func timeoutRisk(q *whatif.Question, n allocator.StepCount) explain.TimeoutRisk {
	switch {
	case !q.Cluster.Snapshot().Features().Enabled(inspect.GateSchedulerFilterTimeout):
		return explain.NoTimeout
	case n.Steps > int64(filterTimeout/stepAtLeast):
		return explain.WouldTimeOut
	case n.Steps > int64(filterTimeout/stepAtMost):
		return explain.MayTimeOut
	}
	return explain.NoTimeout
}

// timeoutMessage says what the risk means. It is "" if there is none.
func timeoutMessage(q *whatif.Question, c *explain.SearchCost) string {
	where := "node " + string(c.Node)
	if c.Nodes > 1 {
		where = fmt.Sprintf("each of %d nodes such as %s", c.Nodes, c.Node)
	}
	effect := "and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit"
	if minor := q.Cluster.Snapshot().Features().Minor; minor > 0 && minor < 36 {
		effect = "and the scheduler then reports that it timed out"
	}
	switch steps := stepsInWords(c.Steps); c.Risk {
	case explain.WouldTimeOut:
		return fmt.Sprintf("on %s kube-scheduler's own search takes %s steps, more than fit in the %s of its filter timeout, %s",
			where, steps, inSeconds(filterTimeout), effect)
	case explain.MayTimeOut:
		return fmt.Sprintf("on %s kube-scheduler's own search takes %s steps; on a slow machine that may exceed the %s of its filter timeout, %s",
			where, steps, inSeconds(filterTimeout), effect)
	}
	return ""
}

// inSeconds is a duration as "10 s".
func inSeconds(d time.Duration) string { return fmt.Sprintf("%.0f s", d.Seconds()) }

// stepsInWords is a number of steps, rounded down to three digits.
func stepsInWords(n allocator.StepCount) string {
	words := ""
	switch s := float64(n.Steps); {
	case n.Steps >= 1e15:
		words = "more than a million billion"
	case s >= 1e9:
		words = roundDown(s/1e9) + " billion"
	case s >= 1e6:
		words = roundDown(s/1e6) + " million"
	default:
		words = fmt.Sprint(n.Steps)
	}
	switch {
	case n.Steps >= 1e15:
		return words
	case n.AtLeast:
		return "at least " + words
	case n.Steps >= 1e6:
		return "about " + words
	}
	return words
}

// roundDown is a number with three digits. It is rounded down, so that "at least" stays true.
func roundDown(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%d", int64(x))
	case x >= 10:
		return fmt.Sprintf("%.1f", float64(int64(x*10))/10)
	}
	return fmt.Sprintf("%.2f", float64(int64(x*100))/100)
}
