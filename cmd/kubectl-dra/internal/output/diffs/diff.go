package diffs

import (
	"fmt"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/markdown"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Diff is the wire form of what changed between two moments.
type Diff struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	From       Moment           `json:"from"`
	To         Moment           `json:"to"`
	Changed    []ChangeSum      `json:"changed"`
	Flips      []Flip           `json:"flips"`
	Made       []Flip           `json:"made"`
	Gone       []Flip           `json:"gone"`
	Undecided  []output.Subject `json:"undecided,omitempty"`
	Partial    []string         `json:"partial"`
}

// Moment is where one side of a comparison is from.
type Moment struct {
	Source string    `json:"source"`
	Time   time.Time `json:"time"`
}

// ChangeSum is how many objects of a kind changed.
type ChangeSum struct {
	Kind    string `json:"kind"`
	Made    int    `json:"made"`
	Gone    int    `json:"gone"`
	Changed int    `json:"changed"`
}

// Flip is a claim or pod of which something else holds.
type Flip struct {
	Subject output.Subject `json:"subject"`
	From    string         `json:"from,omitempty" enum:"explain.Verdict"`
	To      string         `json:"to,omitempty" enum:"explain.Verdict"`
	Had     []string       `json:"had,omitempty"`
	Has     []string       `json:"has,omitempty"`
	// NodeBefore and NodeAfter are those of a pod.
	NodeBefore string `json:"nodeBefore,omitempty"`
	NodeAfter  string `json:"nodeAfter,omitempty"`
	// By are the changes that did it: a minimal set.
	By []ChangedObject `json:"by,omitempty"`
	// UndoneBy says whether undoing these changes is enough too.
	UndoneBy *bool `json:"undoneBy,omitempty"`
}

// ChangedObject is an object that changed.
type ChangedObject struct {
	// Kind is empty for what is no object: the release of the scheduler, its features, and what could be
	// read.
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	// Change is Made, Gone or Changed.
	Change string `json:"change" enum:"Made,Gone,Changed"`
	// Fields are those that changed, the first of them.
	Fields []string `json:"fields,omitempty"`
}

// maxFields is how many fields of a changed object are named.
const maxFields = 8

// NewDiff returns the wire form of a comparison.
func NewDiff(d *flip.Diff, from, to Moment) *Diff {
	out := &Diff{
		APIVersion: output.APIVersion, Kind: "Diff", From: from, To: to, Changed: []ChangeSum{},
		Flips: output.Each(d.Flips, newFlip), Made: output.Each(d.Made, newFlip), Gone: output.Each(d.Gone, newFlip),
		Undecided: output.Optional(d.Undecided, output.NewSubject), Partial: output.OrEmpty(d.Partial),
	}
	for _, c := range d.Counts {
		out.Changed = append(out.Changed, ChangeSum{Kind: c.Kind.Name, Made: c.Made, Gone: c.Gone, Changed: c.Changed})
	}
	return out
}

func newFlip(f flip.Flip) Flip {
	out := Flip{
		Subject: output.Subject(f.Subject), From: string(f.Before), To: string(f.After), Had: output.DeviceNames(f.Had), Has: output.DeviceNames(f.Has),
		NodeBefore: string(f.From), NodeAfter: string(f.To), By: changedObjects(f.By.Changes),
	}
	if len(out.By) > 0 {
		undoing := f.By.Undoing
		out.UndoneBy = &undoing
	}
	return out
}

func changedObjects(changes []flip.Change) []ChangedObject {
	var out []ChangedObject
	for i := range changes {
		c := &changes[i]
		if c.Change == nil {
			out = append(out, ChangedObject{Change: changeName(c)})
			continue
		}
		o := c.Object()
		fields, _ := c.Fields(maxFields)
		out = append(out, ChangedObject{Kind: c.Kind.Name, Namespace: o.GetNamespace(), Name: o.GetName(), Change: changeName(c), Fields: fields})
	}
	return out
}

// changeName says in a word what became of an object.
func changeName(c *flip.Change) string {
	switch {
	case c.Change != nil && c.Before == nil:
		return "Made"
	case c.Change != nil && c.After == nil:
		return "Gone"
	}
	return "Changed"
}

// Markdown implements Document.
func (d *Diff) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(diffHeadline(len(d.Flips), len(d.Changed), len(d.Partial)+len(d.Undecided) == 0)))
	p.Bullets(momentText("from", d.From), momentText("to", d.To))
	for i := range d.Flips[:min(len(d.Flips), markdown.MaxRows)] {
		f := &d.Flips[i]
		p.Numbered(i+1, f.text(), func() { p.Bullets(culprits(f.By, f.UndoneBy)...) })
	}
	if rest := len(d.Flips) - markdown.MaxRows; rest > 0 {
		p.Paragraph(markdown.AndMore(rest))
	}
	p.List("New:", output.Each(d.Made, func(f Flip) markdown.Inline { return f.text() }))
	p.List("Gone:", output.Each(d.Gone, func(f Flip) markdown.Inline { return f.text() }))
	p.Table("Objects that changed:", []string{"Kind", "Made", "Gone", "Changed"}, output.Each(d.Changed, func(c ChangeSum) []markdown.Inline {
		return []markdown.Inline{markdown.Text(c.Kind), markdown.Count(c.Made), markdown.Count(c.Gone), markdown.Count(c.Changed)}
	}))
	if len(d.Undecided) > 0 {
		p.Title("Not decided about, because too many wait:", markdown.Names(output.FullNames(d.Undecided), markdown.MaxNames))
	}
	p.List("Partial view:", markdown.Texts(d.Partial))
}

func momentText(lead string, m Moment) markdown.Inline {
	return markdown.Join(markdown.Text(lead), markdown.Code(m.Source), markdown.Text("at"), markdown.Code(output.Stamp(m.Time)))
}

// text says of a subject what held, and what holds.
func (f *Flip) text() markdown.Inline {
	kind := "claim"
	if f.Subject.Kind == "Pod" {
		kind = "pod"
	}
	name := markdown.Join(markdown.Text(kind), markdown.Code(f.Subject.FullName()))
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
	return markdown.Names(devices, markdown.MaxNames)
}

// culprits say what flipped a verdict.
func culprits(by []ChangedObject, undone *bool) []markdown.Inline {
	if len(by) == 0 {
		return markdown.Texts([]string{"by what was not found out: too much changed"})
	}
	out := output.Each(by, func(c ChangedObject) markdown.Inline {
		if c.Kind == "" {
			return markdown.Text("by another release or features of the scheduler, or other objects that could be read")
		}
		name := output.Subject{Namespace: c.Namespace, Name: c.Name}.FullName()
		return markdown.Join(markdown.Text("by "+c.Kind), markdown.Code(name), markdown.Text(changeWords[c.Change]), markdown.Names(c.Fields, shownFields))
	})
	if undone != nil && !*undone {
		out = append(out, markdown.Text("to undo that would not be enough: something else that changed is in the way too"))
	}
	return out
}

// changeWords say what became of an object.
var changeWords = map[string]string{"Made": "which is new", "Gone": "which is gone", "Changed": "which changed"}

// Markdown implements Document.
func (s *Since) Markdown(p *markdown.Document) {
	p.Headline(markdown.Text(s.Message))
	if s.RecordedUntil != nil {
		p.Paragraph(markdown.Text("Recording was broken off before that, at " + output.Stamp(*s.RecordedUntil)))
	}
	if s.Stopped != nil {
		p.Bullets(culprits(s.By, s.UndoneBy)...)
	}
	p.Paragraph(markdown.Text(fmt.Sprintf("Decided at %d of %s of the log.", s.Looked, words.Count(s.Moments, "moment"))))
}
