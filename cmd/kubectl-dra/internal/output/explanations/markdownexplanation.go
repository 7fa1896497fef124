package explanations

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/markdown"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Markdown implements Document. Of explanations that say the same, only the first is written, with the names of all.
func (l *ExplanationList) Markdown(p *markdown.Document) {
	written := map[*explain.Explanation]*Explanation{}
	var answers []*explain.Explanation
	for _, item := range l.Items {
		written[item.answer] = item
		answers = append(answers, item.answer)
	}
	for _, group := range text.Alike(answers) {
		written[group[0]].markdown(p, text.Subjects(group)...)
	}
}

// Markdown implements Document.
func (e *Explanation) Markdown(p *markdown.Document) { e.markdown(p) }

// markdown writes the verdict, why, fixes, nodes, and what it is based on. It is that of all subjects which are named.
func (e *Explanation) markdown(p *markdown.Document, subjects ...string) {
	said := text.SentencesOf(e.answer)
	p.Headline(markdown.Text(said.Sign + " " + e.Verdict + ": " + e.Message))
	if len(subjects) > 1 {
		p.Title(fmt.Sprintf("The same is true of %d:", len(subjects)), markdown.Names(subjects, markdown.MaxNames))
	}
	for _, about := range said.About {
		p.Paragraph(markdown.Text(about))
	}
	devicesTable(p, e, said)
	problemList(p, e, said)
	p.List("Containers:", entries(said.Containers))
	if len(said.Causes) > 0 {
		p.List("Why: "+said.Why, entries(said.Causes))
		p.Paragraph(markdown.Text(said.Alone))
	}
	if s := e.Search; s != nil && s.Message != "" && s.Timeout != string(explain.NoTimeout) {
		p.Title("Timeout:", markdown.Text(s.Message))
	}
	helps := e.Preemption != nil && e.Preemption.Possible
	if helps {
		p.Title("Preemption:", markdown.Text(e.Preemption.Message))
	}
	fixList(p, e, said)
	nodesTable(p, e, said)
	if e.Preemption != nil && !helps {
		p.Title("Preemption:", markdown.Text(e.Preemption.Message))
	}
	p.List(said.WaitsFor+":", entries(said.Waits))
	p.List("The scheduler's own message:", entries(said.Scheduler))
	p.List("Events:", entries(said.Events))
	e.Basis.MarkdownWith(p, e.Partial)
}

// devices writes the devices that the subject has or would get.
func devicesTable(p *markdown.Document, e *Explanation, said *text.Sentences) {
	if e.Allocation == nil || len(e.Allocation.Devices) == 0 {
		return
	}
	several := slices.ContainsFunc(e.answer.Allocation.Devices, func(d explain.Device) bool {
		return d.Claim != e.answer.Allocation.Devices[0].Claim
	})
	columns := []string{"Request", "Device", "Remarks"}
	if several {
		columns = slices.Insert(columns, 0, "Claim")
	}
	var rows [][]markdown.Inline
	for i := range e.Allocation.Devices {
		d := &e.Allocation.Devices[i]
		var remarks []string
		if d.AdminAccess {
			remarks = append(remarks, "admin access")
		}
		for _, name := range sortedKeys(d.ConsumedCapacity) {
			remarks = append(remarks, "takes "+d.ConsumedCapacity[name]+" of "+name)
		}
		remarks = append(remarks, said.Reported[i]...)
		row := []markdown.Inline{
			markdown.Code(d.Request), markdown.Code(d.Driver + "/" + d.Pool + "/" + d.Device), markdown.Text(strings.Join(remarks, ", ")),
		}
		if several {
			row = slices.Insert(row, 0, markdown.Code(d.Claim))
		}
		rows = append(rows, row)
	}
	p.Table(said.Devices+":", columns, rows)
}

// problems writes what keeps a pod that has its devices from running.
func problemList(p *markdown.Document, e *Explanation, said *text.Sentences) {
	if e.Lifecycle == nil || len(e.Lifecycle.Problems) == 0 {
		return
	}
	p.Title(said.Problems + ":")
	for i := range e.Lifecycle.Problems {
		pr := &e.Lifecycle.Problems[i]
		message := pr.Message
		if pr.Object.Kind == "Pod" && pr.Object != e.Subject {
			message = "pod " + pr.Object.Name + ": " + message
		}
		p.Numbered(i+1, markdown.Text(message), func() {
			var items []markdown.Inline
			if pr.Said != "" {
				items = append(items, markdown.Code(words.OneLine(pr.Said)))
			}
			p.Bullets(append(items, markdown.Text("who acts: "+said.Who[i]))...)
			p.Commands(pr.Commands...)
		})
	}
}

// fixes writes the fixes with the numbers by which --fix knows them.
func fixList(p *markdown.Document, e *Explanation, said *text.Sentences) {
	for i := range e.Advice {
		p.Title("First:", markdown.Text(adviceText(&e.Advice[i])))
		p.Commands(e.Advice[i].Commands...)
	}
	no := e.Verdict == string(explain.Unsatisfiable) || e.Verdict == string(explain.Invalid)
	if len(e.Fixes) == 0 && len(e.NoHelp) == 0 {
		if no && len(said.Causes) > 0 {
			p.Title("Fixes:", markdown.Text("none found"))
		}
		return
	}
	if len(e.Fixes) == 0 {
		p.Title("Fixes:", markdown.Text("none found"))
	}
	for i := range e.Fixes {
		f, about := &e.Fixes[i], &said.Fixes[i]
		switch {
		case i == 0:
			p.Title("Fixes", markdown.Text("that were tried; "+about.Who+" can:"))
		case about.Who != said.Fixes[i-1].Who:
			p.Title("Or", markdown.Text(about.Who+" can:"))
		}
		message := markdown.Text(f.Message)
		if about.Where != "" {
			message = markdown.Join(message, markdown.Text("→"), markdown.Text(about.Where))
		}
		p.Numbered(i+1, message, func() {
			p.Bullets(append(markdown.Texts(about.Beside), markdown.Texts(f.Remarks)...)...)
			p.Commands(f.Commands...)
		})
	}
	p.List("", markdown.Texts(e.NoHelp))
}

func adviceText(a *Advice) string {
	return text.ActorName(explain.Actor(a.Actor)) + " can " + a.Message
}

// nodes writes what is in the way by node.
func nodesTable(p *markdown.Document, e *Explanation, said *text.Sentences) {
	if e.Volume != nil {
		volumeTable(p, e.Volume)
		return
	}
	title := "Nodes that refuse:"
	p.Table(title, []string{"Count", "Nodes", "What is in the way"}, output.Each(said.Nodes, func(n text.NodeSentence) []markdown.Inline {
		list := make([]string, len(n.Nodes))
		for i, name := range n.Nodes {
			list[i] = string(name)
		}
		return []markdown.Inline{markdown.Count(len(list)), markdown.Names(list, markdown.MaxNames), markdown.Text(n.Text)}
	}))
	if e.Nodes.Total > 0 {
		p.Paragraph(markdown.Text(fmt.Sprintf("It fits on %d of %s.", e.Nodes.Allocatable, words.Count(e.Nodes.Total, "node"))))
	}
}

// volumeNodes writes where a volume can be.
func volumeTable(p *markdown.Document, v *Volume) {
	signs := map[string]string{string(explain.VolumeFits): "✓", string(explain.VolumeRefused): "✗"}
	p.Table("Nodes:", []string{"", "Node", "Offered", "Missing", "What decides"}, output.Each(v.Nodes, func(n VolumeNode) []markdown.Inline {
		why := make([]string, len(n.Reasons))
		for i, r := range n.Reasons {
			why[i] = r.Message
		}
		for _, t := range n.Together {
			why = append(why, t.Message)
		}
		by := markdown.Code(n.Rule)
		if n.DecidedBy != nil {
			by = markdown.Join(markdown.Text(n.DecidedBy.Kind), markdown.Code(output.Subject(*n.DecidedBy).FullName()))
		}
		sign := signs[n.Answer]
		if sign == "" {
			sign = "?"
		}
		return []markdown.Inline{
			markdown.Text(sign), markdown.Code(n.Node), markdown.Code(n.Offered), markdown.Code(n.Missing),
			markdown.Join(by, markdown.Text(strings.Join(why, "; "))),
		}
	}))
}

// Markdown implements Document. It writes the causes, each with whom it keeps and what helps.
func (t *Triage) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(text.Headline(text.TriageLines(t.answer, text.Unwrapped()))))
	if best := text.BestChange(t.answer); best != "" {
		p.Paragraph(markdown.Text(best))
	}
	for i := range t.Causes {
		c := &t.Causes[i]
		p.Numbered(i+1, markdown.Strong(markdown.Text(c.Message)), func() {
			items := []markdown.Inline{markdown.Join(markdown.Count(len(c.Subjects)), markdown.Text("stuck:"), markdown.Names(output.Each(c.Subjects, func(s StuckSubject) string {
				return s.FullName()
			}), markdown.MaxNames))}
			seen := map[string]bool{c.Message: true}
			for _, s := range c.Subjects {
				if !seen[s.Message] && len(seen) <= markdown.MaxNames {
					items = append(items, markdown.Join(markdown.Code(s.FullName()), markdown.Text(s.Message)))
				}
				seen[s.Message] = true
			}
			var commands []string
			for j := range c.Advice {
				items = append(items, markdown.Text(adviceText(&c.Advice[j])))
				commands = append(commands, c.Advice[j].Commands...)
			}
			for _, f := range c.Fixes {
				items = append(items, markdown.Join(
					markdown.Strong(markdown.Text(fmt.Sprintf("unblocks %d", f.Frees))), markdown.Text(f.Message),
					markdown.Text(upTo(f.Actor)),
				))
			}
			if len(c.Fixes)+len(c.Advice) == 0 {
				items = append(items, markdown.Text(strings.TrimPrefix(upTo(c.Actor), "; ")))
			}
			p.Bullets(items...)
			p.Commands(append(commands, c.Commands...)...)
		})
	}
	if len(t.NotLookedInto) > 0 {
		p.Title("Not looked into:", markdown.Names(output.FullNames(t.NotLookedInto), markdown.MaxNames))
	}
	if len(t.Depends) > 0 {
		p.Title("Depending on the nodes that kube-scheduler chooses for others:", markdown.Names(output.FullNames(t.Depends), markdown.MaxNames))
	}
	for _, name := range sortedKeys(t.OtherSchedulers) {
		p.Title("Waiting for another scheduler,", markdown.Code(name), markdown.Text(":"), markdown.Names(output.FullNames(t.OtherSchedulers[name]), markdown.MaxNames))
	}
	t.Basis.MarkdownWith(p, t.Partial)
}

// upTo says who has to act, if that is not the user.
func upTo(actor string) string {
	if actor == "" || actor == string(explain.User) {
		return ""
	}
	return "(up to " + text.ActorName(explain.Actor(actor)) + ")"
}

// entries are what is said of something, each in a text.
func entries(list []text.Entry) []markdown.Inline {
	return markdown.Each(list, func(e text.Entry) markdown.Inline { return markdown.Join(markdown.Code(e.Name), markdown.Text(e.Text)) })
}
