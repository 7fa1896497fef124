package plans

import (
	"fmt"
	"math"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxPlanRows  = 12 // placed pods, or nodes, shown without Verbose
	maxPlanNames = 4  // of pods in a row
)

// Lines lays out a plan: what kube-scheduler does, what it leaves waiting and why, then what could be
// done.
func Lines(plan *explain.Plan, opts layout.Options) []styled.Line {
	p := newPage(opts)
	p.replayHeadline(&plan.Replay, plan.LeavesSome())
	p.placed("", plan.Replay.Placed)
	p.gone("Preempted by kube-scheduler", plan.Replay.Preempted)
	p.waiting("Left waiting", plan.Replay.Pending)
	p.best(plan)
	p.Footer(plan.Partial, plan.Basis, true)
	return p.Lines
}

// page is a page about a plan.
type page struct{ layout.Page }

func newPage(opts layout.Options) *page { return &page{layout.NewPage(opts)} }

func (p *page) replayHeadline(r *explain.Replay, some bool) {
	all := len(r.Placed) + len(r.Pending)
	sign := layout.Good
	text := "kube-scheduler places " + allOf(all)
	switch unsure := openOf(r.Pending); {
	case all == 0 && !r.Certain:
		sign, text = layout.Open, "nothing is known to wait"
	case all == 0:
		sign, text = layout.Good, "there is nothing to place"
	case len(r.Pending) > unsure, some:
		sign = layout.Bad
		text = fmt.Sprintf("kube-scheduler places %d of %s", len(r.Placed), words.Count(all, "pod"))
		if most := all - max(len(r.Pending)-unsure, 1); !r.Certain && len(r.Ties) == 0 { // other choices may place others
			text = fmt.Sprintf("kube-scheduler places at most %d of %s", most, words.Count(all, "pod"))
			if len(r.Placed) < most {
				text += fmt.Sprintf(", and %d by the choices shown", len(r.Placed))
			}
		}
	case unsure > 0:
		sign = layout.Open
		text = fmt.Sprintf("kube-scheduler %s %d of %s; for the others it is not known", may(r.Certain, "places", "place"), len(r.Placed), words.Count(all, "pod"))
	case !r.Certain:
		sign = layout.Open
		text = "kube-scheduler may place " + allOf(all) + ", but not for certain"
	}
	if n := len(r.Preempted); n > 0 {
		text += "; it " + may(r.Certain, "preempts", "preempt") + " " + words.Count(n, "other pod") + " for that"
		if sign.Role == styled.Good {
			sign = layout.Mixed
		}
	}
	if n := len(r.Running); n > 0 {
		text += fmt.Sprintf("; %s on a node already", words.Plural(n, "1 is", fmt.Sprintf("%d are", n)))
	}
	p.Add("", "  ", sign, layout.Span(styled.Strong, text))
	if n := len(r.Others); n > 0 {
		p.Add("  ", "  ", layout.Span(styled.Plain, fmt.Sprintf("%s that %s and %s too %s placed in turn: %s", words.Count(n, "other pod"),
			words.Plural(n, "waits", "wait"), words.Plural(n, "fits", "fit"), words.Plural(n, "is", "are"), words.Shorten(subjectNames(r.Others), maxPlanNames))))
	}
	p.Doubts(r.Remarks)
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
	p.Title(title)
	if len(pods) <= maxPlanRows || p.Verbose {
		p.placedEach(pods)
		return
	}
	p.placedByNode(pods)
}

func (p *page) placedEach(pods []explain.PlacedPod) {
	name := layout.Widest(pods, p.Width/2, func(pod *explain.PlacedPod) string { return pod.Subject.FullName() })
	node := layout.Widest(pods, p.Width/3, onNode)
	for i := range pods {
		pod := &pods[i]
		first := "  " + pad(pod.Subject.FullName(), name) + "  "
		spans := []styled.Span{layout.Span(styled.Name, pad(onNode(pod), node))}
		if text := deviceNames(pod); text != "" {
			spans = append(spans, layout.Span(styled.Plain, "  "+text))
		}
		p.Add(first, strings.Repeat(" ", 4), spans...)
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
	width := layout.Widest(nodes, math.MaxInt, func(node *words.Group[inspect.NodeName, explain.PlacedPod]) string { return string(node.Key) })
	for i, node := range nodes {
		if i == maxPlanRows {
			rest := 0
			for _, other := range nodes[i:] {
				rest += len(other.Of)
			}
			p.Add("  ", "  ", layout.Span(styled.Dim, fmt.Sprintf("and %s on %s more%s", words.Count(rest, "pod"), words.Count(len(nodes)-i, "node"), p.Hint("shows all"))))
			break
		}
		names := words.Each(node.Of, func(pod explain.PlacedPod) string { return pod.Subject.FullName() })
		p.Add("  "+pad(string(node.Key), width)+"  ", "    ", layout.Span(styled.Name, words.Count(len(names), "pod")), layout.Span(styled.Plain, "  "+words.Shorten(names, maxPlanNames)))
	}
	if choice > 0 {
		p.Add("  ", "  ", layout.Span(styled.Dim, fmt.Sprintf("for %s kube-scheduler may choose another node; one possible choice is shown", words.Count(choice, "pod"))))
	}
}

// waiting shows pods with why they wait, those together that wait for the same.
func (p *page) waiting(title string, pods []explain.PendingPod) {
	if len(pods) == 0 {
		return
	}
	p.Title(title)
	type reason struct {
		alike   int
		verdict explain.Verdict // of some that are alike it may not be known
	}
	limit := p.Limit(maxPlanNames, len(pods))
	for _, group := range words.Groups(pods, func(pod explain.PendingPod) reason { return reason{pod.Alike, pod.Verdict} }) {
		count := ""
		if n := len(group.Of); n > 1 {
			count = fmt.Sprintf("%d pods: ", n)
		}
		names := words.Each(group.Of, func(pod explain.PendingPod) string { return pod.Subject.FullName() })
		p.Add("  ", "    ", layout.Span(styled.Dim, count), layout.Span(styled.Name, words.Shorten(names, limit)), layout.Span(styled.Plain, ": "+group.Of[0].Message))
	}
}

// best shows whether all can be placed, and what makes the scheduler do so.
func (p *page) best(plan *explain.Plan) {
	j := plan.Joint
	placed := len(plan.Replay.Pending) == 0
	if j == nil || placed && len(plan.Changes) == 0 {
		return
	}
	p.Blank()
	switch {
	case placed:
		p.Add("", "", layout.Span(styled.Title, "To be certain"))
	case j.Verdict == explain.Feasible:
		text := "all can be placed, in this order and on these nodes"
		if len(plan.Replay.Others) > 0 {
			text += ", if the others that wait come later"
		}
		p.Add("", "  ", layout.Span(styled.Good, "→ "), layout.Span(styled.Strong, text))
		p.placed("", j.Placed)
	case j.Verdict == explain.Infeasible:
		p.Add("", "  ", layout.Span(styled.Bad, "✗ "), layout.Span(styled.Strong, "no order and no choice of nodes places all: "), layout.Span(styled.Plain, j.Message))
		if n := len(j.Conflict); n > 0 && n <= maxPlanRows && n < len(plan.Replay.Pending)+len(plan.Replay.Placed) {
			names := subjectNames(j.Conflict)
			text := "these cannot be placed together: "
			if j.Minimal && n > 1 {
				text = "these cannot be placed together, and without any one of them the others can: "
			}
			p.Add("  ", "    ", layout.Span(styled.Dim, text), layout.Span(styled.Name, words.Shorten(names, maxPlanNames)))
		}
	default:
		p.Add("", "  ", layout.Span(styled.Warn, "? "), layout.Span(styled.Strong, "whether all can be placed is not known: "), layout.Span(styled.Plain, j.Message))
	}
	for i := range plan.Changes {
		p.Add("  → ", "    ", layout.Span(styled.Plain, plan.Changes[i].Message))
	}
}

func subjectNames(list []explain.Subject) []string { return words.Each(list, explain.Subject.FullName) }
