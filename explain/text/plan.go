package text

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxPlanRows  = 12 // placed pods, or nodes, shown without Verbose
	maxPlanNames = 4  // of pods in a row
)

// PlanLines lays out a plan: what kube-scheduler does, what it leaves waiting and why, then what could be
// done.
func PlanLines(plan *explain.Plan, opts Options) []styled.Line {
	p := newPlanPage(plan, opts)
	p.replayHeadline(&plan.Replay, plan.LeavesSome())
	p.placed("", plan.Replay.Placed)
	p.gone("Preempted by kube-scheduler", plan.Replay.Preempted)
	p.waiting("Left waiting", plan.Replay.Pending)
	p.best(plan)
	p.footer()
	return p.lines
}

func newPlanPage(plan *explain.Plan, opts Options) *page {
	return newPage(&explain.Explanation{Basis: plan.Basis, Partial: plan.Partial}, opts)
}

func (p *page) replayHeadline(r *explain.Replay, some bool) {
	all := len(r.Placed) + len(r.Pending)
	sign := good
	text := "kube-scheduler places " + allOf(all)
	switch unsure := openOf(r.Pending); {
	case all == 0 && !r.Certain:
		sign, text = open, "nothing is known to wait"
	case all == 0:
		sign, text = good, "there is nothing to place"
	case len(r.Pending) > unsure, some:
		sign = bad
		text = fmt.Sprintf("kube-scheduler places %d of %s", len(r.Placed), words.Count(all, "pod"))
		if most := all - max(len(r.Pending)-unsure, 1); !r.Certain && len(r.Ties) == 0 { // other choices may place others
			text = fmt.Sprintf("kube-scheduler places at most %d of %s", most, words.Count(all, "pod"))
			if len(r.Placed) < most {
				text += fmt.Sprintf(", and %d by the choices shown", len(r.Placed))
			}
		}
	case unsure > 0:
		sign = open
		text = fmt.Sprintf("kube-scheduler %s %d of %s; for the others it is not known", may(r.Certain, "places", "place"), len(r.Placed), words.Count(all, "pod"))
	case !r.Certain:
		sign = open
		text = "kube-scheduler may place " + allOf(all) + ", but not for certain"
	}
	if n := len(r.Preempted); n > 0 {
		text += "; it " + may(r.Certain, "preempts", "preempt") + " " + words.Count(n, "other pod") + " for that"
		if sign.Role == styled.Good {
			sign = mixed
		}
	}
	if n := len(r.Running); n > 0 {
		text += fmt.Sprintf("; %s on a node already", words.Plural(n, "1 is", fmt.Sprintf("%d are", n)))
	}
	p.add("", "  ", sign, span(styled.Strong, text))
	if n := len(r.Others); n > 0 {
		p.add("  ", "  ", span(styled.Plain, fmt.Sprintf("%s that %s and %s too %s placed in turn: %s", words.Count(n, "other pod"),
			words.Plural(n, "waits", "wait"), words.Plural(n, "fits", "fit"), words.Plural(n, "is", "are"), words.Shorten(fullNames(r.Others), maxPlanNames))))
	}
	p.doubts(r.Remarks)
}

// openOf is the number of pods of which it is not known whether they are left waiting.
func openOf(pods []explain.PendingPod) int {
	n := 0
	for i := range pods {
		n += words.Btoi(pods[i].Verdict == explain.Unknown)
	}
	return n
}

func allOf(n int) string {
	switch n {
	case 1:
		return "the pod"
	case 2:
		return "both pods"
	}
	return fmt.Sprintf("all %d pods", n)
}

// placed shows where pods are: each in a row, or many of them by node.
func (p *page) placed(title string, pods []explain.PlacedPod) {
	if len(pods) == 0 {
		return
	}
	p.title(title)
	if len(pods) <= maxPlanRows || p.opts.Verbose {
		p.placedEach(pods)
		return
	}
	p.placedByNode(pods)
}

func (p *page) placedEach(pods []explain.PlacedPod) {
	name := widest(pods, p.opts.Width/2, func(pod *explain.PlacedPod) string { return pod.Subject.FullName() })
	node := widest(pods, p.opts.Width/3, onNode)
	for i := range pods {
		pod := &pods[i]
		first := "  " + pad(pod.Subject.FullName(), name) + "  "
		spans := []styled.Span{span(styled.Name, pad(onNode(pod), node))}
		if text := deviceNames(pod); text != "" {
			spans = append(spans, span(styled.Plain, "  "+text))
		}
		p.add(first, strings.Repeat(" ", 4), spans...)
	}
}

// pad fills up a text with blanks.
func pad(text string, width int) string {
	text = inspect.Sanitize(text)
	return text + strings.Repeat(" ", max(0, width-styled.Width(text)))
}

// onNode names the node of a pod, and how many others kube-scheduler may choose instead.
func onNode(pod *explain.PlacedPod) string {
	if pod.AnyOf > 1 {
		return fmt.Sprintf("%s (any of %d)", pod.Node, pod.AnyOf)
	}
	return string(pod.Node)
}

// deviceNames names the devices of a pod, those of one pool together. A pool that is called as the node is
// left out.
func deviceNames(pod *explain.PlacedPod) string {
	devices := pod.Devices
	var parts []string
	for i := 0; i < len(devices); {
		pool := devices[i].ID.PoolID()
		var names []string
		for ; i < len(devices) && devices[i].ID.PoolID() == pool; i++ {
			names = append(names, devices[i].ID.Device)
		}
		text := words.Shorten(names, maxPlanNames)
		if pool.Pool != string(pod.Node) {
			text = pool.Pool + "/" + text
		}
		parts = append(parts, text)
	}
	return words.Shorten(parts, 2)
}

// placedByNode shows how many pods each node gets.
func (p *page) placedByNode(pods []explain.PlacedPod) {
	choice := 0
	for i := range pods {
		choice += words.Btoi(pods[i].AnyOf > 1)
	}
	nodes := words.Groups(pods, func(pod explain.PlacedPod) inspect.NodeName { return pod.Node })
	width := widest(nodes, math.MaxInt, func(node *words.Group[inspect.NodeName, explain.PlacedPod]) string { return string(node.Key) })
	for i, node := range nodes {
		if i == maxPlanRows {
			rest := 0
			for _, other := range nodes[i:] {
				rest += len(other.Of)
			}
			p.add("  ", "  ", span(styled.Dim, fmt.Sprintf("and %s on %s more%s", words.Count(rest, "pod"), words.Count(len(nodes)-i, "node"), p.opts.more("shows all"))))
			break
		}
		names := words.Each(node.Of, func(pod explain.PlacedPod) string { return pod.Subject.FullName() })
		p.add("  "+pad(string(node.Key), width)+"  ", "    ", span(styled.Name, words.Count(len(names), "pod")), span(styled.Plain, "  "+words.Shorten(names, maxPlanNames)))
	}
	if choice > 0 {
		p.add("  ", "  ", span(styled.Dim, fmt.Sprintf("for %s kube-scheduler may choose another node; one possible choice is shown", words.Count(choice, "pod"))))
	}
}

// waiting shows pods with why they wait, those together that wait for the same.
func (p *page) waiting(title string, pods []explain.PendingPod) {
	if len(pods) == 0 {
		return
	}
	p.title(title)
	type reason struct {
		alike   int
		verdict explain.Verdict // of some that are alike it may not be known
	}
	limit := p.limit(maxPlanNames, len(pods))
	for _, group := range words.Groups(pods, func(pod explain.PendingPod) reason { return reason{pod.Alike, pod.Verdict} }) {
		count := ""
		if n := len(group.Of); n > 1 {
			count = fmt.Sprintf("%d pods: ", n)
		}
		names := words.Each(group.Of, func(pod explain.PendingPod) string { return pod.Subject.FullName() })
		p.add("  ", "    ", span(styled.Dim, count), span(styled.Name, words.Shorten(names, limit)), span(styled.Plain, ": "+group.Of[0].Message))
	}
}

// best shows whether all can be placed, and what makes the scheduler do so.
func (p *page) best(plan *explain.Plan) {
	j := plan.Joint
	placed := len(plan.Replay.Pending) == 0
	if j == nil || placed && len(plan.Changes) == 0 {
		return
	}
	p.blank()
	switch {
	case placed:
		p.add("", "", span(styled.Title, "To be certain"))
	case j.Verdict == explain.Feasible:
		text := "all can be placed, in this order and on these nodes"
		if len(plan.Replay.Others) > 0 {
			text += ", if the others that wait come later"
		}
		p.add("", "  ", span(styled.Good, "→ "), span(styled.Strong, text))
		p.placed("", j.Placed)
	case j.Verdict == explain.Infeasible:
		p.add("", "  ", span(styled.Bad, "✗ "), span(styled.Strong, "no order and no choice of nodes places all: "), span(styled.Plain, j.Message))
		if n := len(j.Conflict); n > 0 && n <= maxPlanRows && n < len(plan.Replay.Pending)+len(plan.Replay.Placed) {
			names := fullNames(j.Conflict)
			text := "these cannot be placed together: "
			if j.Minimal && n > 1 {
				text = "these cannot be placed together, and without any one of them the others can: "
			}
			p.add("  ", "    ", span(styled.Dim, text), span(styled.Name, words.Shorten(names, maxPlanNames)))
		}
	default:
		p.add("", "  ", span(styled.Warn, "? "), span(styled.Strong, "whether all can be placed is not known: "), span(styled.Plain, j.Message))
	}
	for i := range plan.Changes {
		p.add("  → ", "    ", span(styled.Plain, plan.Changes[i].Message))
	}
}
