package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// maxBefore is the number of those asked before that are named without Verbose.
const maxBefore = 3

// turn says which others are supposed to have their devices already, and what the answer is if they have not.
func (p *page) turn() {
	t := p.e.Turn
	if t == nil {
		return
	}
	names := p.namesOf(t.After)
	pods := !slices.ContainsFunc(t.After, func(s explain.Subject) bool { return s.Kind != "Pod" })
	list, got := names[0], "got its devices"
	if pods {
		got = "was placed"
	}
	if last := len(names) - 1; last > 0 {
		list, got = words.And(names), "got their devices"
		if pods {
			got = "were placed"
		}
	}
	text := fmt.Sprintf("Asked after %s %s.", list, got)
	p.Add("  ", "  ", layout.Span(styled.Plain, strings.TrimSpace(text+" "+alone(t, p.e.Subject.Kind))))
}

// namesOf are subjects in words, the first of them if there are many.
func (p *page) namesOf(subjects []explain.Subject) []string {
	names := words.Each(subjects, func(s explain.Subject) string { return kindInWords(s.Kind) + " " + s.FullName() })
	if more := len(names) - maxBefore; more > 0 && !p.Verbose {
		names = append(names[:maxBefore], fmt.Sprintf("%d more", more))
	}
	return names
}

// queue says which place a pod has in the queue, and who is placed before it, where that matters to it.
func (p *page) queue() {
	q := p.e.Queue
	if q == nil || len(q.After) == 0 {
		return
	}
	text := fmt.Sprintf("%d of %s come before it in the queue; placed before it: %s.", q.Before, words.Count(q.Waiting, "waiting pod"), words.And(p.namesOf(q.After)))
	p.Add("  ", "  ", layout.Span(styled.Plain, text))
}

// alone says what the answer is if the subject alone is asked.
func alone(t *explain.Turn, kind string) string {
	done := "allocated"
	if kind == "Pod" {
		done = "scheduled"
	}
	switch t.Alone {
	case explain.Allocatable:
		return fmt.Sprintf("Asked alone, it can be %s on %d of %s.", done, t.AloneNodes.Allocatable, words.Count(t.AloneNodes.Total, "node"))
	case explain.Unsatisfiable:
		return "Asked alone, it cannot be " + done + " either."
	case explain.Invalid:
		return "Asked alone, it makes the scheduler give up too."
	}
	return ""
}

// kindInWords is a kind of subject as commands spell it.
func kindInWords(kind string) string {
	switch kind {
	case "ResourceClaim":
		return "claim"
	case "ResourceClaimTemplate":
		return "template"
	}
	return strings.ToLower(kind)
}

// joint says whether all that were asked about can be placed together after all.
func (p *page) joint() {
	j := p.e.Joint
	if j == nil {
		return
	}
	if j.Impossible {
		p.Add("  ", "  ", layout.Span(styled.Plain, "No other order, and no choice of nodes, would let kube-scheduler succeed."))
		return
	}
	var places []string
	for _, at := range j.Placement {
		place := at.Name
		if at.Node != "" {
			place += " on " + string(at.Node)
		}
		places = append(places, place)
	}
	if len(places) == 0 {
		return
	}
	if most := 8; len(places) > most && !p.Verbose {
		places = append(places[:most], fmt.Sprintf("%d more", len(places)-most))
	}
	p.Add("  ", "  ", layout.Span(styled.Plain, "They find room together: "+words.And(places)+". kube-scheduler takes one pod after another, by its own order and liking, and may miss that."))
}
