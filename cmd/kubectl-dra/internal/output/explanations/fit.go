package explanations

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Fit is the wire form of an explain.Fit.
type Fit struct {
	output.Head
	Subject explain.Subject `json:"subject"`
	// Total is the number of copies that fit in all, a lower bound when AtLeast is set.
	Total   int           `json:"total"`
	AtLeast bool          `json:"atLeast"`
	Nodes   []FitNode     `json:"nodes"`
	Partial []string      `json:"partial"`
	Basis   explain.Basis `json:"basis"`
	// Queue is what the quota of a queue of Kueue allows.
	Queue *explain.QueueFit `json:"queue,omitempty"`
}

// FitNode is the number of copies that fit together on one node.
type FitNode struct {
	Node    string `json:"node"`
	Copies  int    `json:"copies"`
	AtLeast bool   `json:"atLeast,omitempty"`
	// Limit is what keeps one more copy off the node.
	Limit Reason `json:"limit"`
}

// Fits returns the wire form of one answer, or a FitList of several.
func Fits(answers []*explain.Fit) any {
	return output.OneOrList("FitList", words.Each(answers, newFit))
}

func newFit(f *explain.Fit) *Fit {
	c := claimName{subject: f.Subject}
	return &Fit{
		Head: output.HeadOf("Fit"), Subject: f.Subject, Total: f.Total, AtLeast: f.AtLeast,
		Nodes: words.Each(f.Nodes, func(n explain.NodeFit) FitNode {
			return FitNode{Node: string(n.Node), Copies: n.Copies, AtLeast: n.AtLeast, Limit: c.reason(limitOf(n))}
		}),
		Partial: output.OrEmpty(f.Partial),
		Basis:   f.Basis,
		Queue:   f.Queue,
	}
}

// maxFitRows is the number of nodes from which on those with the same answer share a row.
const maxFitRows = 12

// PrintFit prints the number of copies, then a table by node, in as many columns as are given, or any number
// for 0.
func PrintFit(w io.Writer, f *explain.Fit, opts text.Options) error {
	columns := []output.Column{{Header: "NODE"}, {Header: "COPIES"}, {Header: "LIMIT", Cut: output.CutText}}
	rows := words.Each(f.Nodes, func(n explain.NodeFit) []string { return []string{string(n.Node), copiesText(n), limitText(n)} })
	if len(f.Nodes) > maxFitRows && !opts.Verbose {
		columns[0].Header = "NODES"
		rows = fitGroups(f.Nodes)
	}
	return output.PrintPage(w, opts.Width, func(p *output.Page) {
		p.Line(fitHeadline(f, f.Subject.Namespace+"/"+f.Subject.Name))
		if f.Queue != nil {
			p.Line(queueFitText(f.Queue))
		}
		p.WriteString("\n")
		p.Table(columns, rows, opts.Width)
		p.Remarks(fitRemarks(f))
	})
}

func fitHeadline(f *explain.Fit, name string) string {
	switch {
	case f.Total == 0 && f.AtLeast:
		return fmt.Sprintf("It is not known whether a copy of %s fits: the count was given up", name)
	case f.Total == 0:
		return fmt.Sprintf("No more copies of %s fit", name)
	case f.Total == 1 && !f.AtLeast:
		return fmt.Sprintf("1 more copy of %s fits", name)
	case f.AtLeast:
		return fmt.Sprintf("At least %d more copies of %s fit", f.Total, name)
	}
	return fmt.Sprintf("%d more copies of %s fit", f.Total, name)
}

// queueFitText says what quota allows, alone and together with devices.
func queueFitText(q *explain.QueueFit) string {
	least := ""
	if q.AtLeast {
		least = "at least "
	}
	text := fmt.Sprintf("LocalQueue %s has quota for %s%d more", q.LocalQueue, least, q.Copies)
	if text += fmt.Sprintf("; %d get both", q.Together); len(q.Partial) > 0 {
		text += ", as far as is known"
	}
	return text
}

func copiesText(n explain.NodeFit) string {
	if n.AtLeast {
		return strconv.Itoa(n.Copies) + "+"
	}
	return strconv.Itoa(n.Copies)
}

// limitOf returns what keeps one more copy off a node. To the allocator the copies that were counted are
// claims like others, but a reader finds no such claims.
func limitOf(n explain.NodeFit) explain.Reason {
	limit := n.Limit
	switch {
	case limit.Code != allocator.DeviceInUse || n.Copies == 0:
	case len(limit.Claims) == 0:
		limit.Key, limit.Found, limit.Message = "copies", "", "held by the copies counted"
	default:
		limit.Found += ", or copies"
		limit.Message += ", or by the copies counted"
	}
	return limit
}

func limitText(n explain.NodeFit) string {
	limit := limitOf(n)
	if limit.Request == "" || limit.NamesRequest {
		return limit.Message
	}
	return limit.Request + ": " + limit.Message
}

// fitGroups takes nodes with the same number of copies and the same kind of limit together. The limit
// that is shown is that of the first node.
func fitGroups(nodes []explain.NodeFit) [][]string {
	type answer struct{ copies, code, request string }
	groups := words.Groups(nodes, func(n explain.NodeFit) answer {
		return answer{copiesText(n), string(n.Limit.Code), n.Limit.Request}
	})
	return words.Each(groups, func(group words.Group[answer, explain.NodeFit]) []string {
		one := group.Of[0]
		first, name, limit := limitOf(one), string(one.Node), limitText(one)
		n := len(group.Of)
		if n == 1 {
			return []string{name, group.Key.copies, limit}
		}
		if slices.ContainsFunc(group.Of, func(n explain.NodeFit) bool {
			other := limitOf(n)
			return other.Finding() != first.Finding()
		}) {
			limit = "e.g. " + limit
		}
		return []string{fmt.Sprintf("%s and %d more", name, n-1), group.Key.copies + " each", limit}
	})
}

// fitRemarks is what a reader must know to trust the number.
func fitRemarks(f *explain.Fit) []string {
	var remarks []string
	sum, most := 0, 0
	for _, n := range f.Nodes {
		sum, most = sum+n.Copies, max(most, n.Copies)
	}
	if sum != f.Total {
		remarks = append(remarks, "Nodes share devices, so their numbers do not add up.")
	}
	if most > 1 {
		remarks = append(remarks, "Copies are placed together; when they come one by one they can strand devices.")
	}
	if f.Queue != nil {
		if f.Queue.Limit != "" {
			remarks = append(remarks, "One more gets no quota: "+f.Queue.Limit+".")
		}
		remarks = append(remarks, "Quota is counted for pods that ask for nothing else, one after the other and behind what waits.")
		remarks = append(remarks, words.Each(f.Queue.Partial, func(text string) string { return "! " + text })...)
	}
	remarks = append(remarks, words.Each(f.Partial, func(text string) string { return "! " + text })...)
	return append(remarks, words.Each(f.Basis.Remarks, func(text string) string { return "Note: " + text + "." })...)
}
