package text

import (
	"fmt"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// maxBefore is the number of those asked before that are named without Verbose.
const maxBefore = 3

// turn says which others are supposed to have their devices already, and what the answer is if they have not.
func (p *page) turn() {
	t := p.e.Turn
	if t == nil {
		return
	}
	var names []string
	for _, s := range t.After {
		names = append(names, kindInWords(s.Kind)+" "+s.FullName())
	}
	most := maxBefore
	if p.opts.Verbose {
		most = len(names)
	}
	if more := len(names) - most; more > 0 {
		names = append(names[:most], fmt.Sprintf("%d more", more))
	}
	list, whose := names[0], "its"
	if last := len(names) - 1; last > 0 {
		list, whose = strings.Join(names[:last], ", ")+" and "+names[last], "their"
	}
	text := fmt.Sprintf("Asked after %s got %s devices.", list, whose)
	p.add("  ", "  ", span(styled.Plain, strings.TrimSpace(text+" "+alone(t))))
}

// alone says what the answer is if the subject alone is asked.
func alone(t *explain.Turn) string {
	switch t.Alone {
	case explain.Allocatable:
		return fmt.Sprintf("Asked alone, it can be allocated on %d of %s.", t.AloneNodes.Allocatable, plural(t.AloneNodes.Total, "node"))
	case explain.Unsatisfiable:
		return "Asked alone, it cannot be allocated either."
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
