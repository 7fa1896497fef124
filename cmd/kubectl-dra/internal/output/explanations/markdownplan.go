package explanations

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// placed writes where pods go.
func placedTable(p *markdown.Document, title string, pods []PlacedPod) {
	p.Table(title, []string{"Pod", "Node", "Devices"}, output.Each(pods, func(pod PlacedPod) []markdown.Inline {
		return []markdown.Inline{markdown.Code(pod.Pod), anyOf(pod.Node, pod.AnyOf), markdown.Names(pod.Devices, markdown.MaxNames)}
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
func pendingList(p *markdown.Document, title string, pods []PendingPod) {
	var order []string
	by := map[string][]string{}
	for _, pod := range pods {
		if by[pod.Message] == nil {
			order = append(order, pod.Message)
		}
		by[pod.Message] = append(by[pod.Message], pod.Pod)
	}
	p.List(title, output.Each(order, func(message string) markdown.Inline {
		return markdown.Join(markdown.Names(by[message], markdown.MaxNames), markdown.Text("– "+message))
	}))
}

// Markdown implements Document.
func (plan *Plan) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.PlanLines(plan.answer, text.Unwrapped()))))
	p.List("", markdown.Texts(plan.Replay.Remarks))
	placedTable(p, "Where the pods go:", plan.Replay.Placed)
	pendingList(p, "Left waiting:", plan.Replay.Pending)
	if j := plan.Joint; j != nil && len(plan.Replay.Pending) > 0 {
		switch explain.JointVerdict(j.Verdict) {
		case explain.Feasible:
			placedTable(p, "All can be placed, in this order and on these nodes:", j.Placed)
		case explain.Infeasible:
			p.Title("No order and no choice of nodes places all:", markdown.Text(j.Message))
			if len(j.Conflict) > 0 {
				p.Title("These cannot be placed together:", markdown.Names(j.Conflict, markdown.MaxRows))
			}
		default:
			p.Title("Whether all can be placed is not known:", markdown.Text(j.Message))
		}
	}
	changeList(p, plan.Changes)
	plan.Basis.MarkdownWith(p, plan.Partial)
}

// changes writes changes with which it goes well.
func changeList(p *markdown.Document, changes []Fix) {
	if len(changes) == 0 {
		return
	}
	p.Title("Changes that were tried:")
	for i := range changes {
		p.Numbered(i+1, markdown.Text(changes[i].Message), func() { p.Commands(changes[i].Commands...) })
	}
}

// Markdown implements Document.
func (d *Disruption) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.DisruptionLines(d.answer, text.Unwrapped()))))
	p.List("", markdown.Texts(d.Replay.Remarks))
	p.Table("Pods that go:", []string{"Pod", "Node", "Because", "Then"}, output.Each(d.Gone, func(g GonePod) []markdown.Inline {
		then := markdown.Text(g.Then)
		switch {
		case g.Again != nil:
			then = markdown.Join(markdown.Text("placed again on"), anyOf(g.Again.Node, g.Again.AnyOf), markdown.Names(g.Again.Devices, markdown.MaxNames))
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
	p.Table("Claims that lose their devices:", []string{"Claim", "Devices"}, output.Each(d.Claims, func(c LostClaim) []markdown.Inline {
		return []markdown.Inline{markdown.Code(c.Claim), markdown.Names(c.Devices, markdown.MaxNames)}
	}))
	placedTable(p, "Placed by that:", d.Gains)
	pendingList(p, "No longer placed:", d.Losses)
	p.List("Besides:", output.Each(d.Besides, func(n Note) markdown.Inline {
		return markdown.Join(markdown.Text(n.Kind), markdown.Code(output.Subject{Namespace: n.Namespace, Name: n.Name}.FullName()), markdown.Text(n.Message))
	}))
	p.List("", markdown.Texts(d.Remarks))
	d.Basis.MarkdownWith(p, d.Partial)
}

// moveList writes moves in their order.
func moveTable(p *markdown.Document, moves []Move) {
	var rows [][]markdown.Inline
	for i, m := range moves {
		rows = append(rows, []markdown.Inline{
			markdown.Count(i + 1), markdown.Code(m.Pod), markdown.Code(m.From), anyOf(m.To, m.AnyOf), markdown.Names(m.Closed, markdown.MaxNames), markdown.Code(m.Owner),
		})
	}
	p.Table("Moves, in this order:", []string{"Nr", "Pod", "From", "To", "Cordoned meanwhile", "Made by"}, rows)
}

// Markdown implements Document.
func (m *MovesPlan) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.MovesLines(m.answer, text.Unwrapped()))))
	moveTable(p, m.Moves)
	if m.Target != nil {
		placedTable(p, "Then it fits:", []PlacedPod{*m.Target})
	}
	if len(m.Moves) > 0 {
		least := fmt.Sprintf("At least %d are needed.", m.Minimum.AtLeast)
		if m.Minimum.Proven {
			least = "Fewer moves do not do."
		}
		p.Paragraph(markdown.Text(least))
	}
	p.List("May not be moved:", output.Each(m.Fixed, func(f FixedPods) markdown.Inline {
		return markdown.Join(markdown.Text(f.Reason+":"), markdown.Names(f.Pods, markdown.MaxNames))
	}))
	p.List("", markdown.Texts(m.Doubts))
	if len(m.Commands) > 0 {
		p.Title("Commands:")
		p.Commands(m.Commands...)
	}
	p.List("", markdown.Texts(m.Remarks))
	m.Basis.MarkdownWith(p, m.Partial)
}

// Markdown implements Document.
func (d *DefragmentPlan) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.DefragmentationLines(d.answer, len(d.Moves), text.Unwrapped()))))
	p.Table("Copies that fit:", []string{"After so many moves", "Copies"}, output.Each(d.Defragment, func(r DefragmentRow) []markdown.Inline {
		return []markdown.Inline{markdown.Count(r.Moves), markdown.Count(r.Copies)}
	}))
	moveTable(p, d.Moves)
	p.List("", markdown.Texts(d.Doubts))
	d.Basis.MarkdownWith(p, d.Partial)
}

// Markdown implements Document.
func (s *ShapePlan) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.ShapeLines(s.answer, text.Unwrapped()))))
	p.Table("Nodes to add:", []string{"Nodes", "Verdict", "Price for an hour", "Why"}, output.Each(s.Shapes, func(a Shape) []markdown.Inline {
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
	pendingList(p, "Waiting for what none of these nodes brings:", s.Stuck)
	p.List("Not tried:", markdown.Texts(s.Untried))
	s.Basis.MarkdownWith(p, s.Partial)
}
