package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// placed writes where pods go.
func (p *markdownPage) placed(title string, pods []PlacedPod) {
	p.table(title, []string{"Pod", "Node", "Devices"}, each(pods, func(pod PlacedPod) []markdown.Inline {
		return []markdown.Inline{markdown.Code(pod.Pod), anyOf(pod.Node, pod.AnyOf), names(pod.Devices, maxMarkdownNames)}
	}))
}

// anyOf names a node, and how many others kube-scheduler may choose instead.
func anyOf(node string, n int) markdown.Inline {
	if n > 1 {
		return markdown.Join(markdown.Code(node), markdown.Text(fmt.Sprintf("(any of %d)", n)))
	}
	return markdown.Code(node)
}

// pending writes who is left waiting, those together that wait for the same.
func (p *markdownPage) pending(title string, pods []PendingPod) {
	var order []string
	by := map[string][]string{}
	for _, pod := range pods {
		if by[pod.Message] == nil {
			order = append(order, pod.Message)
		}
		by[pod.Message] = append(by[pod.Message], pod.Pod)
	}
	p.list(title, each(order, func(message string) markdown.Inline {
		return markdown.Join(names(by[message], maxMarkdownNames), markdown.Text("– "+message))
	}))
}

func (p *markdownPage) plan(plan *Plan) {
	p.heading(text.Headline(text.PlanLines(plan.answer, text.Unwrapped())))
	p.list("", texts(plan.Replay.Remarks))
	p.placed("Where the pods go:", plan.Replay.Placed)
	p.pending("Left waiting:", plan.Replay.Pending)
	if j := plan.Joint; j != nil && len(plan.Replay.Pending) > 0 {
		switch explain.JointVerdict(j.Verdict) {
		case explain.Feasible:
			p.placed("All can be placed, in this order and on these nodes:", j.Placed)
		case explain.Infeasible:
			p.title("No order and no choice of nodes places all:", markdown.Text(j.Message))
			if len(j.Conflict) > 0 {
				p.title("These cannot be placed together:", names(j.Conflict, maxMarkdownRows))
			}
		default:
			p.title("Whether all can be placed is not known:", markdown.Text(j.Message))
		}
	}
	p.changes(plan.Changes)
	p.basis(plan.Basis, plan.Partial)
}

// changes writes changes with which it goes well.
func (p *markdownPage) changes(changes []Fix) {
	if len(changes) == 0 {
		return
	}
	p.title("Changes that were tried:")
	for i := range changes {
		p.Numbered(i+1, markdown.Text(changes[i].Message), func() { p.Commands(changes[i].Commands...) })
	}
}

func (p *markdownPage) disruption(d *Disruption) {
	p.heading(text.Headline(text.DisruptionLines(d.answer, text.Unwrapped())))
	p.list("", texts(d.Replay.Remarks))
	p.table("Pods that go:", []string{"Pod", "Node", "Because", "Then"}, each(d.Gone, func(g GonePod) []markdown.Inline {
		then := markdown.Text(g.Then)
		switch {
		case g.Again != nil:
			then = markdown.Join(markdown.Text("placed again on"), anyOf(g.Again.Node, g.Again.AnyOf), names(g.Again.Devices, maxMarkdownNames))
		case g.Pending != nil:
			then = markdown.Text("left waiting: " + g.Pending.Message)
		case g.Then == string(explain.NeverComes):
			then = markdown.Text("gone for good")
		}
		because := g.Cause
		if g.AfterSeconds > 0 {
			because += fmt.Sprintf(", after %d s", g.AfterSeconds)
		}
		return []markdown.Inline{markdown.Code(g.Pod), markdown.Code(g.Node), markdown.Text(because), then}
	}))
	p.table("Claims that lose their devices:", []string{"Claim", "Devices"}, each(d.Claims, func(c LostClaim) []markdown.Inline {
		return []markdown.Inline{markdown.Code(c.Claim), names(c.Devices, maxMarkdownNames)}
	}))
	p.placed("Placed by that:", d.Gains)
	p.pending("No longer placed:", d.Losses)
	p.list("Besides:", each(d.Besides, func(n Note) markdown.Inline {
		return markdown.Join(markdown.Text(n.Kind), markdown.Code(Subject{Namespace: n.Namespace, Name: n.Name}.fullName()), markdown.Text(n.Message))
	}))
	p.list("", texts(d.Remarks))
	p.basis(d.Basis, d.Partial)
}

// moveList writes moves in their order.
func (p *markdownPage) moveList(moves []Move) {
	var rows [][]markdown.Inline
	for i, m := range moves {
		rows = append(rows, []markdown.Inline{
			count(i + 1), markdown.Code(m.Pod), markdown.Code(m.From), anyOf(m.To, m.AnyOf), names(m.Closed, maxMarkdownNames), markdown.Code(m.Owner),
		})
	}
	p.table("Moves, in this order:", []string{"Nr", "Pod", "From", "To", "Cordoned meanwhile", "Made by"}, rows)
}

func (p *markdownPage) moves(m *MovesPlan) {
	p.heading(text.Headline(text.MovesLines(m.answer, text.Unwrapped())))
	p.moveList(m.Moves)
	if m.Target != nil {
		p.placed("Then it fits:", []PlacedPod{*m.Target})
	}
	if len(m.Moves) > 0 {
		least := fmt.Sprintf("At least %d are needed.", m.Minimum.AtLeast)
		if m.Minimum.Proven {
			least = "Fewer moves do not do."
		}
		p.Paragraph(markdown.Text(least))
	}
	p.list("May not be moved:", each(m.Fixed, func(f FixedPods) markdown.Inline {
		return markdown.Join(markdown.Text(f.Reason+":"), names(f.Pods, maxMarkdownNames))
	}))
	p.list("", texts(m.Doubts))
	if len(m.Commands) > 0 {
		p.title("Commands:")
		p.Commands(m.Commands...)
	}
	p.list("", texts(m.Remarks))
	p.basis(m.Basis, m.Partial)
}

func (p *markdownPage) defragment(d *DefragmentPlan) {
	p.heading(text.Headline(text.DefragmentationLines(d.answer, len(d.Moves), text.Unwrapped())))
	p.table("Copies that fit:", []string{"After so many moves", "Copies"}, each(d.Defragment, func(r DefragmentRow) []markdown.Inline {
		return []markdown.Inline{count(r.Moves), count(r.Copies)}
	}))
	p.moveList(d.Moves)
	p.list("", texts(d.Doubts))
	p.basis(d.Basis, d.Partial)
}

func (p *markdownPage) shapes(s *ShapePlan) {
	p.heading(text.Headline(text.ShapeLines(s.answer, text.Unwrapped())))
	p.table("Nodes to add:", []string{"Nodes", "Verdict", "Price for an hour", "Why"}, each(s.Shapes, func(a Shape) []markdown.Inline {
		var kinds []markdown.Inline
		for _, n := range a.Nodes {
			kinds = append(kinds, markdown.Text(fmt.Sprintf("%d ×", n.Count)), markdown.Code(n.Name))
		}
		price := ""
		if a.Price != nil {
			price = fmt.Sprintf("%.2f", *a.Price) + " " + s.Currency
		}
		return []markdown.Inline{markdown.Join(kinds...), markdown.Text(a.Verdict), markdown.Text(price), markdown.Text(a.Why)}
	}))
	p.pending("Waiting for what none of these nodes brings:", s.Stuck)
	p.list("Not tried:", texts(s.Untried))
	p.basis(s.Basis, s.Partial)
}
