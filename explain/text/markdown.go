package text

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// unwrapped is a width at which no line is broken.
const unwrapped = 1 << 30

// markdownPage is a document that is being written. What the page says in lines becomes lists.
type markdownPage struct {
	*markdown.Document
	page
}

func newMarkdownPage(d *markdown.Document, e *explain.Explanation) *markdownPage {
	return &markdownPage{d, page{opts: Options{Width: unwrapped}, e: e}}
}

// MarkdownAll writes the answers to several questions. Of those that say the same, only the first is written,
// with the names of all.
func MarkdownAll(d *markdown.Document, all []*explain.Explanation) {
	for _, group := range Alike(all) {
		newMarkdownPage(d, group[0]).explanation(Subjects(group))
	}
}

// Markdown writes an explanation: the verdict, why, fixes, nodes, and what it is based on.
func Markdown(d *markdown.Document, e *explain.Explanation) { newMarkdownPage(d, e).explanation(nil) }

// explanation writes an explanation that is that of all subjects which are named.
func (p *markdownPage) explanation(subjects []string) {
	e := p.e
	sign, _ := signOf(e)
	p.Headline(markdown.Text(sign + " " + string(e.Verdict) + ": " + e.Message))
	if len(subjects) > 1 {
		p.Title(fmt.Sprintf("The same is true of %d:", len(subjects)), markdown.Names(subjects, markdown.MaxNames))
	}
	for _, part := range []func(){p.turn, p.joint, p.workload} {
		for _, text := range p.entriesOf(part, 0) {
			p.Paragraph(text)
		}
	}
	p.devicesTable()
	p.problemList()
	p.List("Containers:", p.entriesOf(p.containers, 1))
	why := p.causes()
	if s := e.Search; s != nil && s.Message != "" && s.Risk != explain.NoTimeout {
		p.Title("Timeout:", markdown.Text(s.Message))
	}
	preemption := func(helps bool) {
		if e.Preemption != nil && helps == p.preemptionHelps() {
			p.Title("Preemption:", markdown.Text(e.Preemption.Message))
		}
	}
	preemption(true)
	p.fixList(why)
	p.nodesTable()
	preemption(false)
	waits := waitsHeading(e.Verdict)
	p.List(waits+":", p.entriesOf(func() { p.notes(waits, e.Waits) }, 1))
	p.List("The scheduler's own message:", p.entriesOf(func() { p.notes("", e.Scheduler) }, 1))
	p.List("Events:", p.entriesOf(p.events, 1))
	MarkdownBasis(p.Document, e.Basis, e.Partial)
}

// MarkdownBasis says at the end what an answer is based on: what could not be read, and which scheduler it is
// about.
func MarkdownBasis(d *markdown.Document, b explain.Basis, partial []string) {
	d.List("Partial view:", markdown.Texts(partial))
	if b.Version == "" {
		return
	}
	sentence := markdown.Text(fmt.Sprintf("Decided as kube-scheduler %s does (%s allocator; %s)", b.Version, strings.ToLower(string(b.Variant)), b.Source))
	if when := cmp.Or(b.AsOf, b.Read); !when.IsZero() {
		sentence = markdown.Join(sentence, markdown.Text("from what was there at"), markdown.Code(when.UTC().Format("2006-01-02 15:04:05 UTC")))
	}
	d.List("Basis:", append([]markdown.Inline{sentence}, markdown.Texts(b.Remarks)...))
}

// devicesTable writes the devices that the subject has or would get.
func (p *markdownPage) devicesTable() {
	a := p.e.Allocation
	if a == nil || len(a.Devices) == 0 {
		return
	}
	several := slices.ContainsFunc(a.Devices, func(d explain.Device) bool { return d.Claim != a.Devices[0].Claim })
	columns := []string{"Request", "Device", "Remarks"}
	if several {
		columns = slices.Insert(columns, 0, "Claim")
	}
	var rows [][]markdown.Inline
	for i := range a.Devices {
		d := &a.Devices[i]
		var remarks []string
		if d.Admin {
			remarks = append(remarks, "admin access")
		}
		for _, name := range slices.Sorted(maps.Keys(d.Consumed)) {
			q := d.Consumed[name]
			remarks = append(remarks, "takes "+q.String()+" of "+string(name))
		}
		remarks = append(remarks, p.reports(d)...)
		row := []markdown.Inline{markdown.Code(d.Request), markdown.Code(d.ID.String()), markdown.Text(strings.Join(remarks, ", "))}
		if several {
			row = slices.Insert(row, 0, markdown.Code(d.Claim.String()))
		}
		rows = append(rows, row)
	}
	p.Table(devicesHeading(p.e)+":", columns, rows)
}

// problemList writes what keeps a pod that has its devices from running.
func (p *markdownPage) problemList() {
	l := p.e.Lifecycle
	if l == nil || len(l.Problems) == 0 {
		return
	}
	p.Title(p.problemsHeading(l) + ":")
	for i := range l.Problems {
		pr := &l.Problems[i]
		message := pr.Message
		if pr.Object.Kind == "Pod" && pr.Object != p.e.Subject {
			message = "pod " + pr.Object.Name + ": " + message
		}
		p.Numbered(i+1, markdown.Text(message), func() {
			var items []markdown.Inline
			if pr.Said != "" {
				items = append(items, markdown.Code(words.OneLine(pr.Said)))
			}
			p.Bullets(append(items, markdown.Text("who acts: "+who(pr)))...)
			p.Commands(pr.Commands...)
		})
	}
}

// causes writes what is in the way, and reports whether anything is.
func (p *markdownPage) causes() bool {
	e := p.e
	var causes []explain.Requirement
	why, alone := "", ""
	switch {
	case e.Conflict != nil:
		why, alone, causes = conflictHeading(e, e.Conflict), aloneHelps(e, e.Conflict), e.Conflict.Requirements
	case e.Failure != nil:
		why, causes = failureHeading(e.Failure), []explain.Requirement{e.Failure.Requirement}
	}
	if len(causes) == 0 {
		return false
	}
	p.List("Why: "+why, markdown.Each(causes, func(r explain.Requirement) markdown.Inline {
		name, text := requirementText(e, &r)
		if r.Holder != nil {
			name, text = heldText(&r)
		}
		return markdown.Join(markdown.Code(name), markdown.Text(text))
	}))
	p.Paragraph(markdown.Text(alone))
	return true
}

// fixList writes the fixes with the numbers by which --fix knows them. why: it was said what is in the way.
func (p *markdownPage) fixList(why bool) {
	e := p.e
	for i := range e.Advice {
		p.Title("First:", markdown.Text(adviceText(&e.Advice[i])))
		p.Commands(e.Advice[i].Commands...)
	}
	no := e.Verdict == explain.Unsatisfiable || e.Verdict == explain.Invalid
	if len(e.Fixes) == 0 && (len(e.NoHelp) > 0 || no && why) {
		p.Title("Fixes:", markdown.Text("none found"))
	}
	before := ""
	for i := range e.Fixes {
		f := &e.Fixes[i]
		switch who := actorsText(f.Actors(e.Subject)); {
		case i == 0:
			p.Title("Fixes", markdown.Text("that were tried; "+who+" can:"))
			before = who
		case who != before:
			p.Title("Or", markdown.Text(who+" can:"))
			before = who
		}
		message := markdown.Text(f.Message)
		if where := fixWhere(f); where != "" {
			message = markdown.Join(message, markdown.Text("→"), markdown.Text(where))
		}
		p.Numbered(i+1, message, func() {
			var items []markdown.Inline
			for k := range f.OtherBlockers {
				items = append(items, markdown.Text(besideText(&f.OtherBlockers[k])))
			}
			p.Bullets(append(items, markdown.Texts(f.Remarks)...)...)
			p.Commands(f.Commands...)
		})
	}
	p.List("", markdown.Texts(e.NoHelp))
}

// nodesTable writes what is in the way by node.
func (p *markdownPage) nodesTable() {
	if p.e.Volume != nil {
		p.volumeTable(p.e.Volume)
		return
	}
	names, texts := summarize(p.e)
	var rows [][]markdown.Inline
	for i, text := range texts {
		rows = append(rows, []markdown.Inline{markdown.Count(len(names[i])), namesOf(names[i]), markdown.Text(text.text)})
	}
	p.Table("Nodes that refuse:", []string{"Count", "Nodes", "What is in the way"}, rows)
	if n := p.e.Nodes; n.Total > 0 {
		p.Paragraph(markdown.Text(fmt.Sprintf("It fits on %d of %s.", n.Allocatable, words.Count(n.Total, "node"))))
	}
}

// volumeTable writes where a volume can be.
func (p *markdownPage) volumeTable(v *explain.Volume) {
	var rows [][]markdown.Inline
	for i := range v.Nodes {
		n := &v.Nodes[i]
		var why []string
		for _, r := range n.Reasons {
			why = append(why, r.Message)
		}
		for k := range n.Together {
			why = append(why, n.Together[k].Words())
		}
		by := markdown.Code(string(n.Rule))
		if n.By.Kind != "" {
			by = markdown.Join(markdown.Text(n.By.Kind), markdown.Code(explain.Subject{Namespace: n.By.Namespace, Name: n.By.Name}.FullName()))
		}
		sign := cmp.Or(map[explain.VolumeAnswer]string{explain.VolumeFits: "✓", explain.VolumeRefused: "✗"}[n.Answer], "?")
		rows = append(rows, []markdown.Inline{
			markdown.Text(sign), markdown.Code(string(n.Node)), markdown.Code(sizeText(n.Offered)), markdown.Code(sizeText(n.Missing)),
			markdown.Join(by, markdown.Text(strings.Join(why, "; "))),
		})
	}
	p.Table("Nodes:", []string{"", "Node", "Offered", "Missing", "What decides"}, rows)
}

// MarkdownTriage writes the causes of a triage, each with whom it keeps and what helps.
func MarkdownTriage(d *markdown.Document, t *explain.Triage) {
	headline(d, TriageLines(t, Options{Width: unwrapped}))
	if best := BestChange(t); best != "" {
		d.Paragraph(markdown.Text(best))
	}
	for i := range t.Causes {
		c := &t.Causes[i]
		d.Numbered(i+1, markdown.Strong(markdown.Text(c.Message)), func() {
			items := []markdown.Inline{markdown.Join(markdown.Count(len(c.Subjects)), markdown.Text("stuck:"), namesOf(subjectsOf(c)))}
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
			for j := range c.Fixes {
				f := &c.Fixes[j]
				items = append(items, markdown.Join(
					markdown.Strong(markdown.Text(fmt.Sprintf("unblocks %d", len(f.Frees)))), markdown.Text(f.Message), markdown.Text(upTo(f.Actor(f.Of))),
				))
			}
			if len(c.Fixes)+len(c.Advice) == 0 {
				items = append(items, markdown.Text(upTo(c.Actor)))
			}
			d.Bullets(items...)
			d.Commands(append(commands, c.Commands...)...)
		})
	}
	if len(t.NotLookedInto) > 0 {
		d.Title("Not looked into:", namesOf(t.NotLookedInto))
	}
	if len(t.Depends) > 0 {
		d.Title("Depending on the nodes that kube-scheduler chooses for others:", namesOf(t.Depends))
	}
	for _, name := range slices.Sorted(maps.Keys(t.OtherSchedulers)) {
		d.Title("Waiting for another scheduler,", markdown.Code(name), markdown.Text(":"), namesOf(t.OtherSchedulers[name]))
	}
	MarkdownBasis(d, t.Basis, t.Partial)
}

// upTo says who has to act, if that is not the user.
func upTo(actor explain.Actor) string {
	if actor == "" || actor == explain.User {
		return ""
	}
	return "(up to " + ActorName(actor) + ")"
}

func adviceText(a *explain.Advice) string { return ActorName(a.Actor) + " can " + a.Message }

// headline writes the first of some lines as the headline.
func headline(d *markdown.Document, lines []styled.Line) {
	d.Headline(markdown.Text(lines[0].String()))
}

// namesOf names some of several things, by their full names.
func namesOf[T any](list []T) markdown.Inline {
	names := make([]string, len(list))
	for i := range list {
		switch item := any(list[i]).(type) {
		case explain.Subject:
			names[i] = item.FullName()
		case explain.Device:
			names[i] = item.ID.String()
		default:
			names[i] = fmt.Sprint(item)
		}
	}
	return markdown.Names(names, markdown.MaxNames)
}

// placedTable writes where pods go.
func placedTable(d *markdown.Document, title string, pods []explain.PlacedPod) {
	var rows [][]markdown.Inline
	for _, pod := range pods {
		rows = append(rows, []markdown.Inline{markdown.Code(pod.Subject.FullName()), anyOf(pod.Node, pod.AnyOf), namesOf(pod.Devices)})
	}
	d.Table(title, []string{"Pod", "Node", "Devices"}, rows)
}

// anyOf names a node, and how many others kube-scheduler may choose instead.
func anyOf(node inspect.NodeName, n int) markdown.Inline {
	if n > 1 {
		return markdown.Join(markdown.Code(string(node)), markdown.Text(fmt.Sprintf("(any of %d)", n)))
	}
	return markdown.Code(string(node))
}

// pendingList writes who is left waiting, those together that wait for the same.
func pendingList(d *markdown.Document, title string, pods []explain.PendingPod) {
	var order []string
	by := map[string][]explain.Subject{}
	for _, pod := range pods {
		if by[pod.Message] == nil {
			order = append(order, pod.Message)
		}
		by[pod.Message] = append(by[pod.Message], pod.Subject)
	}
	d.List(title, markdown.Each(order, func(message string) markdown.Inline {
		return markdown.Join(namesOf(by[message]), markdown.Text("– "+message))
	}))
}

// MarkdownPlan writes a plan.
func MarkdownPlan(d *markdown.Document, plan *explain.Plan) {
	headline(d, PlanLines(plan, Options{Width: unwrapped}))
	d.List("", markdown.Texts(plan.Replay.Remarks))
	placedTable(d, "Where the pods go:", plan.Replay.Placed)
	pendingList(d, "Left waiting:", plan.Replay.Pending)
	if j := plan.Joint; j != nil && len(plan.Replay.Pending) > 0 {
		switch j.Verdict {
		case explain.Feasible:
			placedTable(d, "All can be placed, in this order and on these nodes:", j.Placed)
		case explain.Infeasible:
			d.Title("No order and no choice of nodes places all:", markdown.Text(j.Message))
			if len(j.Conflict) > 0 {
				d.Title("These cannot be placed together:", markdown.Names(fullNames(j.Conflict), markdown.MaxRows))
			}
		default:
			d.Title("Whether all can be placed is not known:", markdown.Text(j.Message))
		}
	}
	if len(plan.Changes) > 0 {
		d.Title("Changes that were tried:")
	}
	for i := range plan.Changes {
		d.Numbered(i+1, markdown.Text(plan.Changes[i].Message), func() { d.Commands(plan.Changes[i].Commands...) })
	}
	MarkdownBasis(d, plan.Basis, plan.Partial)
}

// MarkdownDisruption writes what becomes of pods.
func MarkdownDisruption(d *markdown.Document, of *explain.Disruption) {
	headline(d, DisruptionLines(of, Options{Width: unwrapped}))
	d.List("", markdown.Texts(of.Replay.Remarks))
	var rows [][]markdown.Inline
	for i := range of.Gone {
		g := &of.Gone[i]
		then := markdown.Text(string(g.Then))
		switch {
		case g.Again != nil:
			then = markdown.Join(markdown.Text("placed again on"), anyOf(g.Again.Node, g.Again.AnyOf), namesOf(g.Again.Devices))
		case g.Pending != nil:
			then = markdown.Text("left waiting: " + g.Pending.Message)
		case g.Then == explain.NeverComes:
			then = markdown.Text("gone for good")
		}
		because := g.Cause
		if seconds := int64(g.After.Seconds()); seconds > 0 {
			because += fmt.Sprintf(", after %d s", seconds)
		}
		rows = append(rows, []markdown.Inline{markdown.Code(g.Subject.FullName()), markdown.Code(string(g.Node)), markdown.Text(because), then})
	}
	d.Table("Pods that go:", []string{"Pod", "Node", "Because", "Then"}, rows)
	rows = nil
	for _, c := range of.Claims {
		rows = append(rows, []markdown.Inline{markdown.Code(c.Claim.String()), namesOf(c.Devices)})
	}
	d.Table("Claims that lose their devices:", []string{"Claim", "Devices"}, rows)
	placedTable(d, "Placed by that:", of.Gains)
	pendingList(d, "No longer placed:", of.Losses)
	d.List("Besides:", markdown.Each(of.Besides, func(n explain.Note) markdown.Inline {
		return markdown.Join(markdown.Text(n.Kind), markdown.Code(explain.Subject{Namespace: n.Namespace, Name: n.Name}.FullName()), markdown.Text(n.Message))
	}))
	d.List("", markdown.Texts(of.Remarks))
	MarkdownBasis(d, of.Basis, of.Partial)
}

// moveTable writes moves in their order.
func moveTable(d *markdown.Document, moves []explain.Move) {
	var rows [][]markdown.Inline
	for i, m := range moves {
		rows = append(rows, []markdown.Inline{
			markdown.Count(i + 1), markdown.Code(m.Pod.FullName()), markdown.Code(string(m.From)), anyOf(m.To, m.AnyOf), namesOf(m.Closed), markdown.Code(m.Owner),
		})
	}
	d.Table("Moves, in this order:", []string{"Nr", "Pod", "From", "To", "Cordoned meanwhile", "Made by"}, rows)
}

// MarkdownMoves writes what makes room.
func MarkdownMoves(d *markdown.Document, m *explain.Moves) {
	headline(d, MovesLines(m, Options{Width: unwrapped}))
	moveTable(d, m.Moves)
	if m.Target != nil {
		placedTable(d, "Then it fits:", []explain.PlacedPod{*m.Target})
	}
	switch {
	case len(m.Moves) == 0:
	case m.Proven:
		d.Paragraph(markdown.Text("Fewer moves do not do."))
	default:
		d.Paragraph(markdown.Text(fmt.Sprintf("At least %d are needed.", m.AtLeast)))
	}
	d.List("May not be moved:", markdown.Each(m.Fixed, func(f explain.FixedPods) markdown.Inline {
		return markdown.Join(markdown.Text(f.Key+":"), namesOf(f.Pods))
	}))
	d.List("", markdown.Texts(m.Doubts))
	if len(m.Commands) > 0 {
		d.Title("Commands:")
		d.Commands(m.Commands...)
	}
	d.List("", markdown.Texts(m.Remarks))
	MarkdownBasis(d, m.Basis, m.Partial)
}

// MarkdownDefragmentation writes how many claims fit after a few moves.
func MarkdownDefragmentation(d *markdown.Document, of *explain.Defragmentation) {
	headline(d, DefragmentationLines(of, len(of.Moves), Options{Width: unwrapped}))
	var rows [][]markdown.Inline
	for _, r := range of.Rows {
		rows = append(rows, []markdown.Inline{markdown.Count(r.Moves), markdown.Count(r.Copies)})
	}
	d.Table("Copies that fit:", []string{"After so many moves", "Copies"}, rows)
	moveTable(d, of.Moves)
	d.List("", markdown.Texts(of.Doubts))
	MarkdownBasis(d, of.Basis, of.Partial)
}

// MarkdownShapes writes a plan of nodes.
func MarkdownShapes(d *markdown.Document, plan *explain.ShapePlan) {
	headline(d, ShapeLines(plan, Options{Width: unwrapped}))
	var rows [][]markdown.Inline
	for _, a := range plan.Shapes {
		kind := markdown.Join(markdown.Text(fmt.Sprintf("%d ×", a.Count)), markdown.Code(a.Name))
		rows = append(rows, []markdown.Inline{kind, markdown.Text(string(a.Verdict)), markdown.Text(a.Why)})
	}
	d.Table("Nodes to add:", []string{"Nodes", "Verdict", "Why"}, rows)
	pendingList(d, "Waiting for what none of these nodes brings:", plan.Stuck)
	d.List("Not tried:", markdown.Texts(plan.Untried))
	MarkdownBasis(d, plan.Basis, plan.Partial)
}

// entriesOf returns the lines of a part of the page, but for those of its heading, each as a text. A name
// that a line begins with is code.
func (p *page) entriesOf(part func(), heading int) []markdown.Inline {
	p.lines = nil
	part()
	lines := p.lines
	p.lines = nil
	var out []markdown.Inline
	for _, line := range lines[min(heading, len(lines)):] {
		name, text := "", ""
		for i, span := range line {
			if name == "" && span.Role == styled.Name && strings.TrimSpace(line[:i].String()) == "" {
				name = span.Text
				continue
			}
			text += span.Text
		}
		out = append(out, markdown.Join(markdown.Code(name), markdown.Text(strings.TrimPrefix(words.OneLine(text), ": "))))
	}
	return out
}
