package cycle

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The search of kube-scheduler costs more than that of package allocator, since it does not prune. A question
// that is decided here at once may keep the scheduler busy until its filter times out. That is another
// failure than "unschedulable": the pod's attempt ends with an error, even if other nodes would fit.

// maxCounted is the number of different nodes on which steps are counted, those first that take most with
// pruning.
const maxCounted = 32

// SearchCost counts the steps that the scheduler would need, on the node where they are most, and sets the
// risk of each answer. It returns nil if they are many on no node.
func SearchCost(ctx context.Context, q *whatif.Question, answers []whatif.Answer) (*explain.SearchCost, error) {
	var worst *explain.SearchCost
	features := q.Cluster.Snapshot().Features()
	for _, a := range hardest(answers) {
		node := q.Nodes[a.Nodes[0]]
		steps, err := q.Cluster.PlainSteps(ctx, node, a.Q.Claims)
		if err != nil {
			return nil, err
		}
		a.Risk = explain.RiskOfTimeout(features, steps)
		if steps.Steps > explain.ManySteps && (worst == nil || steps.Steps > worst.Steps) {
			worst = &explain.SearchCost{Node: inspect.NodeName(node.Name), Nodes: len(a.Nodes), StepCount: steps, Risk: a.Risk}
		}
	}
	if worst != nil {
		worst.Message = timeoutMessage(q, worst)
	}
	return worst, nil
}

// hardest returns the answers whose steps are counted, in the order of their nodes.
func hardest(answers []whatif.Answer) []*whatif.Answer {
	var out []*whatif.Answer
	for i := range answers {
		a := &answers[i]
		if a.Risk = explain.NoTimeout; len(a.Unsuitable) == 0 && !a.Refused() && (a.Result == nil || a.Result.Steps >= explain.ManySteps) {
			out = append(out, a)
		}
	}
	steps := func(a *whatif.Answer) int64 {
		if a.Result == nil {
			return 0
		}
		return a.Result.Steps
	}
	slices.SortStableFunc(out, func(a, b *whatif.Answer) int { return cmp.Compare(steps(b), steps(a)) })
	out = out[:min(len(out), maxCounted)]
	slices.SortFunc(out, func(a, b *whatif.Answer) int { return cmp.Compare(a.Nodes[0], b.Nodes[0]) })
	return out
}

// timeoutMessage says what the risk means. It is "" if there is none.
func timeoutMessage(q *whatif.Question, c *explain.SearchCost) string {
	where := "node " + string(c.Node)
	if c.Nodes > 1 {
		where = fmt.Sprintf("each of %d nodes such as %s", c.Nodes, c.Node)
	}
	effect := "and the pod's attempt then ends with an error instead of \"unschedulable\", also when other nodes fit"
	if !explain.TimeoutIsError(q.Cluster.Snapshot().Features()) {
		effect = "and the scheduler then reports that it timed out"
	}
	switch steps := stepsInWords(c.StepCount); c.Risk {
	case explain.WouldTimeOut:
		return fmt.Sprintf("on %s kube-scheduler's own search takes %s steps, more than fit in the %s of its filter timeout, %s",
			where, steps, inSeconds(explain.FilterTimeout), effect)
	case explain.MayTimeOut:
		return fmt.Sprintf("on %s kube-scheduler's own search takes %s steps; on a slow machine that may exceed the %s of its filter timeout, %s",
			where, steps, inSeconds(explain.FilterTimeout), effect)
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

// TimeoutOf says whether the scheduler's own search may time out, so that an answer that is yes is none.
// Where it gives up because of a single node, every node counts; otherwise the best of those that fit.
func TimeoutOf(q *whatif.Question, answers []whatif.Answer) explain.TimeoutRisk {
	all, best := explain.NoTimeout, explain.WouldTimeOut
	for i := range answers {
		a := &answers[i]
		all = all.OrWorse(a.Risk)
		if a.Allocatable() && best.OrWorse(a.Risk) == best {
			best = a.Risk
		}
	}
	if explain.TimeoutIsError(q.Cluster.Snapshot().Features()) {
		return all
	}
	return best // without meaning if none fits
}

// TooSlow is the number of nodes that would fit if the scheduler's search ended in time there.
func TooSlow(answers []whatif.Answer) int {
	n := 0
	for i := range answers {
		if answers[i].Allocatable() && answers[i].Risk == explain.WouldTimeOut {
			n += len(answers[i].Nodes)
		}
	}
	return n
}
