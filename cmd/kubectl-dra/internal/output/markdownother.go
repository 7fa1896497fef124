package output

import (
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

func (p *markdownPage) diff(d *Diff) {
	p.heading(diffHeadline(len(d.Flips), len(d.Changed), len(d.Partial)+len(d.Undecided) == 0))
	p.Bullets(momentText("from", d.From), momentText("to", d.To))
	for i := range d.Flips[:min(len(d.Flips), maxMarkdownRows)] {
		f := &d.Flips[i]
		p.Numbered(i+1, f.text(), func() { p.Bullets(culprits(f.By, f.UndoneBy)...) })
	}
	if rest := len(d.Flips) - maxMarkdownRows; rest > 0 {
		p.Paragraph(markdown.Text(fmt.Sprintf("and %d more", rest)))
	}
	p.list("New:", each(d.Made, func(f Flip) markdown.Inline { return f.text() }))
	p.list("Gone:", each(d.Gone, func(f Flip) markdown.Inline { return f.text() }))
	p.table("Objects that changed:", []string{"Kind", "Made", "Gone", "Changed"}, each(d.Changed, func(c ChangeSum) []markdown.Inline {
		return []markdown.Inline{markdown.Text(c.Kind), count(c.Made), count(c.Gone), count(c.Changed)}
	}))
	if len(d.Undecided) > 0 {
		p.title("Not decided about, because too many wait:", names(fullNames(d.Undecided), maxMarkdownNames))
	}
	p.list("Partial view:", texts(d.Partial))
}

func momentText(lead string, m Moment) markdown.Inline {
	return markdown.Join(markdown.Text(lead), markdown.Code(m.Source), markdown.Text("at"), markdown.Code(stamp(m.Time)))
}

// text says of a subject what held, and what holds.
func (f *Flip) text() markdown.Inline {
	kind := "claim"
	if f.Subject.Kind == "Pod" {
		kind = "pod"
	}
	name := markdown.Join(markdown.Text(kind), markdown.Code(f.Subject.fullName()))
	before, after := whereaboutsText(f.Had, f.NodeBefore), whereaboutsText(f.Has, f.NodeAfter)
	switch {
	case f.From != "" && f.From == f.To:
		return markdown.Join(name, markdown.Text("moved from"), before, markdown.Text("to"), after)
	case f.From == "":
		return markdown.Join(name, markdown.Text(f.To), after)
	case f.To == "":
		return markdown.Join(name, markdown.Text(f.From), before)
	case !after.Empty():
		return markdown.Join(name, markdown.Text(f.From+" → "+f.To), after)
	case !before.Empty():
		return markdown.Join(name, markdown.Text(f.From+" → "+f.To), markdown.Text("– it had"), before)
	}
	return markdown.Join(name, markdown.Text(f.From+" → "+f.To))
}

func whereaboutsText(devices []string, node string) markdown.Inline {
	if len(devices) == 0 {
		return markdown.Code(node)
	}
	return names(devices, maxMarkdownNames)
}

// culprits say what flipped a verdict.
func culprits(by []ChangedObject, undone *bool) []markdown.Inline {
	if len(by) == 0 {
		return texts([]string{"by what was not found out: too much changed"})
	}
	out := each(by, func(c ChangedObject) markdown.Inline {
		if c.Kind == "" {
			return markdown.Text("by another release or features of the scheduler, or other objects that could be read")
		}
		name := Subject{Namespace: c.Namespace, Name: c.Name}.fullName()
		return markdown.Join(markdown.Text("by "+c.Kind), markdown.Code(name), markdown.Text(changeWords[c.Change]), names(c.Fields, shownFields))
	})
	if undone != nil && !*undone {
		out = append(out, markdown.Text("to undo that would not be enough: something else that changed is in the way too"))
	}
	return out
}

// changeWords say what became of an object.
var changeWords = map[string]string{"Made": "which is new", "Gone": "which is gone", "Changed": "which changed"}

func (p *markdownPage) since(s *Since) {
	p.heading(s.Message)
	if s.RecordedUntil != nil {
		p.Paragraph(markdown.Text("Recording was broken off before that, at " + stamp(*s.RecordedUntil)))
	}
	if s.Stopped != nil {
		p.Bullets(culprits(s.By, s.UndoneBy)...)
	}
	p.Paragraph(markdown.Text(fmt.Sprintf("Decided at %d of %s of the log.", s.Looked, words.Count(s.Moments, "moment"))))
}

func (p *markdownPage) priorityLevel(e *PriorityLevelExplanation) {
	p.Heading(p.level, markdown.Join(markdown.Text("Priority level"), markdown.Code(e.Level.Name)))
	printer := &levelPrinter{PriorityLevelExplanation: e, pageWriter: pageWriter{document: &p.Document}}
	printer.print()
}

func (p *markdownPage) actors(list *DRAActorList) {
	p.heading("Where those ask the API server on whom devices depend")
	for i := range list.Items {
		a := &list.Items[i]
		p.title(a.name(), markdown.Text(a.asText()))
		p.table("", []string{"Request", "Priority level", "FlowSchema", "Waiting", "Rejected"}, each(a.Asks, func(r ActorRequest) []markdown.Inline {
			return []markdown.Inline{
				markdown.Text(r.Verb + " " + r.Resource), markdown.Code(r.PriorityLevel), markdown.Code(r.FlowSchema), optionalCount(r.Queued), optionalCount(r.Rejected),
			}
		}))
		if a.Crowded {
			p.Paragraph(markdown.Text("Every service account asks at that level: a pod that floods the server holds it up."))
		}
	}
}

func optionalCount(n *int) markdown.Inline {
	if n == nil {
		return markdown.Text("?")
	}
	return count(*n)
}

func (p *markdownPage) levelPlan(e *PriorityLevelPlan) {
	p.heading(fmt.Sprintf("Of %d seats of the server, if that were applied", e.ServerConcurrency.Limit))
	p.table("", []string{"Level", "Shares", "NominalCL", "LendableCL", "BorrowingCL", "Widest list", ""}, each(e.Levels, func(l LevelChange) []markdown.Inline {
		row := l.row()
		return append([]markdown.Inline{markdown.Code(row[0])}, texts(row[1:])...)
	}))
	lines := e.movedText()
	if len(lines) == 0 {
		p.Paragraph(markdown.Text("No request goes elsewhere."))
	}
	p.list("These requests go elsewhere:", texts(lines))
	p.list("", each(e.Dangling, func(d DanglingFlowSchema) markdown.Inline {
		return markdown.Join(markdown.Text("FlowSchema"), markdown.Code(d.Name), markdown.Text("leads to no level: there is no"), markdown.Code(d.PriorityLevel))
	}))
	p.list("", each(e.TakenBack, func(t TakenBack) markdown.Inline {
		return markdown.Join(markdown.Text(t.Message+":"), markdown.Code(t.Command))
	}))
}

func (p *markdownPage) selectorTest(s *SelectorTest) {
	headline := fmt.Sprintf("The selector matches %s%s", ofTotal(s.Matched, s.Total), inScope(s.Scope))
	switch {
	case !s.Valid:
		headline = "The selector does not compile"
	case s.Failed > 0:
		headline += fmt.Sprintf(", and fails on %d", s.Failed)
	}
	p.heading(headline)
	if s.Subject != nil {
		p.Paragraph(markdown.Join(markdown.Text(s.Subject.Kind), markdown.Code(s.Subject.fullName()), markdown.Code(s.Path)))
	}
	p.Paragraph(markdown.Code(oneLineExpression(s.Expression)))
	if s.Error != nil {
		p.Paragraph(markdown.Text(s.Error.Message))
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		p.Numbered(i+1, markdown.Join(markdown.Strong(markdown.Text(f.Severity)), markdown.Text(f.Message)), func() {
			p.Bullets(each(f.Suggestions, func(a Suggestion) markdown.Inline {
				return markdown.Join(markdown.Text("instead,"), markdown.Text(a.Effect), markdown.Text(fmt.Sprintf("(matches %d):", a.Matched)), markdown.Code(oneLineExpression(a.Expression)))
			})...)
		})
	}
	p.table("Devices:", []string{"Device", "Node", "Result", "Terms"}, each(s.Devices, func(d *TestedDevice) []markdown.Inline {
		var terms []markdown.Inline
		for _, t := range d.Terms {
			if t.Value != "true" {
				terms = append(terms, markdown.Code(oneLineExpression(t.Expression)), markdown.Text("is"), markdown.Text(t.Value))
			}
		}
		if d.Error != "" {
			terms = append(terms, markdown.Text(d.Error))
		}
		return []markdown.Inline{markdown.Code(d.Driver + "/" + d.Pool + "/" + d.Device), markdown.Code(d.Node), markdown.Text(d.Result), markdown.Join(terms...)}
	}))
}
