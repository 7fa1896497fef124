package text

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text/layout"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	maxGroups  = 3 // shown in full without Verbose
	maxNames   = 4
	maxHolders = 4
)

// groups shows in full why the nodes refuse. The nodes that come nearest are shown first.
func (p *page) groups() {
	if len(p.e.Groups) == 0 {
		return
	}
	groups := slices.Clone(p.e.Groups)
	slices.SortStableFunc(groups, func(a, b explain.Group) int { return cmp.Compare(b.Score, a.Score) })
	limit := maxGroups
	if p.e.Verdict == explain.Invalid {
		limit = 1 // the error is what matters
	}
	rest := 0
	for i := range groups {
		g := &groups[i]
		switch {
		case i >= limit && !p.Verbose:
			rest += len(g.Nodes)
		case saidAlready(p.e, g):
		default:
			p.Blank()
			p.group(g)
		}
	}
	if rest > 0 {
		p.Blank()
		reasons := words.Count(len(groups)-limit, "other reason")
		p.Add("", "  ", styled.Span{Text: fmt.Sprintf("On %s: %s%s", nodes(rest), reasons, p.Hint("shows all")), Role: styled.Dim})
	}
}

// saidAlready reports that the headline says all that there is to say about all nodes.
func saidAlready(e *explain.Explanation, g *explain.Group) bool {
	return len(e.Groups) == 1 && len(g.Funnels) == 0 && len(g.Reasons) == 1 && g.Reasons[0].Told
}

func nodes(n int) string { return words.Count(n, "node") }

func (p *page) group(g *explain.Group) {
	p.Add("", "    ", styled.Span{Text: "On " + nodes(len(g.Nodes)), Role: styled.Strong}, layout.Span(styled.Dim, ": "+p.nodeNames(g.Nodes)))
	for i := range g.Funnels {
		f := &g.Funnels[i]
		reasons := reasonsOf(g, f)
		if len(reasons) > 0 || p.Verbose {
			p.funnel(f, reasons)
		}
	}
	// Reasons that belong to no request, such as a broken pool, or of a search that was aborted.
	for _, r := range g.Reasons {
		// What the headline says already is not repeated.
		if (r.Request == "" || len(g.Funnels) == 0) && !r.Told {
			p.Add("  ", "    ", layout.Span(styled.Plain, r.Message))
		}
	}
}

func (p *page) nodeNames(names []inspect.NodeName) string {
	limit := p.Limit(maxNames, len(names))
	text := strings.Join(words.Strings(names[:limit]), ", ")
	if len(names) > limit {
		text += fmt.Sprintf(" and %d more", len(names)-limit)
	}
	return text
}

// reasonsOf returns the reasons about the request of a funnel.
func reasonsOf(g *explain.Group, f *explain.Funnel) []explain.Reason {
	return words.Keep(g.Reasons, func(r explain.Reason) bool {
		return r.Claim == f.Claim && r.Request != "" && (r.Request == f.Request || strings.HasPrefix(f.Request, r.Request+"/"))
	})
}

// stepTitles say what was lost at a step.
var stepTitles = map[string]string{
	"class": "not in class", "selectors": "not selected", "features": "feature off", "taints": "tainted",
	"free": "in use", "capacity": "too small", "counters": "blocked by partitions in use", "constraints": "lack an attribute",
}

// What devices are lost for at the step capacity, other than being too small.
const (
	usedUp  = "used up"              // too little of a capacity is left
	lacking = "without the capacity" // the device does not have the capacity
)

// lossTitle says what was lost.
func lossTitle(step *explain.Step, l *explain.Loss) string {
	switch {
	case step.Name == "counters" && l.Code == allocator.CountersExhausted && !l.UsedUp:
		return "in need of more of a counter than there is"
	case l.UsedUp && step.Name == "capacity":
		return usedUp
	case l.Lacking:
		return lacking
	}
	return stepTitles[step.Name]
}

// funnel shows what became of the devices, as a subtraction.
func (p *page) funnel(f *explain.Funnel, reasons []explain.Reason) {
	need := words.Count(f.Needed, "device") + " needed"
	if f.All {
		need = "all matching devices needed"
	}
	if f.Steps[0].Most == 0 {
		need += "; no device reaches the node"
	}
	name := f.Request
	if manyClaims(p.e) {
		name = f.Claim.Name + ": " + name
	}
	p.Add("  ", "    ", styled.Span{Text: "request "}, layout.Span(styled.Name, name), layout.Span(styled.Plain, ", "+need))
	if f.Steps[0].Most == 0 {
		return
	}
	brief := !p.Verbose && f.Steps[1].Most > 0 // devices of other drivers are of no interest then
	last := f.Steps[0]
	if !brief {
		p.row(" ", last.Left, last.Most, "seen", "")
	}
	for _, step := range f.Steps[1:] {
		if step.Name == "together" {
			p.row("=", last.Left, last.Most, "left", "")
			p.row(" ", step.Left, step.Most, "at most together", "")
			p.details(reasons)
			return
		}
		if step.Name == "class" && brief {
			low, high := step.Left, step.Most
			for _, loss := range step.Lost {
				if !loss.OtherDriver {
					low, high = low+loss.Count, high+loss.Most
				}
			}
			p.row(" ", low, high, "seen", "")
		}
		for i := range step.Lost {
			if loss := &step.Lost[i]; !loss.OtherDriver || !brief {
				p.row("-", loss.Count, loss.Most, lossTitle(&step, loss), loss.Message())
				p.holders(loss.Claims)
			}
		}
		last = step
	}
	p.row("=", last.Left, last.Most, "left", "")
	if last.Most >= f.Needed {
		p.details(reasons)
	}
}

func manyClaims(e *explain.Explanation) bool {
	for _, g := range e.Groups {
		for _, f := range g.Funnels {
			if f.Claim != g.Funnels[0].Claim {
				return true
			}
		}
	}
	return false
}

// detail is the column where the details of a row begin when they do not fit behind it.
const detail = 12

// row prints a line of the subtraction, with its details behind it or, if they are long, below.
func (p *page) row(sign string, low, high int, title, message string) {
	first := fmt.Sprintf("   %s %5s  %s", sign, numbers(low, high), title)
	role := styled.Plain
	if sign == "=" {
		role = styled.Strong
	}
	if message == "" {
		p.Lines = append(p.Lines, styled.Line{styled.Span{Text: first, Role: role}})
		return
	}
	details := layout.Span(styled.Plain, message)
	if one := first + ": " + details.Text; styled.Width(one) <= p.Width {
		p.Lines = append(p.Lines, styled.Line{styled.Span{Text: one}})
		return
	}
	p.Lines = append(p.Lines, styled.Line{styled.Span{Text: first}})
	p.Add(strings.Repeat(" ", detail), strings.Repeat(" ", detail+2), details)
}

// holders names the claims that hold the devices lost at a step.
func (p *page) holders(holders []explain.Holder) {
	limit := p.Limit(maxHolders, len(holders))
	for _, h := range holders[:limit] {
		text := fmt.Sprintf(" has %s (%s)", words.Count(len(h.Devices), "device"), strings.Join(about(h), ", "))
		p.Add(strings.Repeat(" ", detail), strings.Repeat(" ", detail+2), layout.Span(styled.Name, h.Claim.String()), layout.Span(styled.Plain, text))
	}
	if len(holders) > limit {
		p.Add(strings.Repeat(" ", detail), "", styled.Span{Text: fmt.Sprintf("and %s more%s", words.Count(len(holders)-limit, "claim"), p.Hint("shows all")), Role: styled.Dim})
	}
}

// about describes a holder: its state, its pods, its age.
func about(h explain.Holder) []string {
	var parts []string
	switch h.State {
	case inspect.ClaimDeleting:
		parts = append(parts, "being deleted")
	case inspect.ClaimAllocated:
		parts = append(parts, "unused")
	}
	for i, pod := range h.Pods {
		if i == 2 {
			parts = append(parts, fmt.Sprintf("%d more pods", len(h.Pods)-2))
			break
		}
		parts = append(parts, "pod "+pod.Name)
	}
	if h.Age != "" {
		parts = append(parts, "for "+h.Age)
	}
	if len(parts) == 0 {
		parts = []string{"pod unknown"}
	}
	return parts
}

// details lists the reasons that are about devices together.
func (p *page) details(reasons []explain.Reason) {
	for _, r := range reasons {
		if r.Code == allocator.NotEnoughDevices && r.Path != "" && strings.HasSuffix(r.Path, ".count") {
			continue // its numbers are in the rows
		}
		spans := []styled.Span{layout.Span(styled.Plain, r.Message)}
		if r.Code != allocator.NotEnoughDevices && r.Path != "" {
			spans = append(spans, layout.Span(styled.Dim, " ("+r.Path+")"))
		}
		p.Add(strings.Repeat(" ", detail), strings.Repeat(" ", detail+2), spans...)
	}
}
