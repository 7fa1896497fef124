package diffs

import (
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// Diff is the wire form of what changed between two moments.
type Diff struct {
	output.Head
	From      Moment            `json:"from"`
	To        Moment            `json:"to"`
	Changed   []ChangeSum       `json:"changed"`
	Flips     []Flip            `json:"flips"`
	Made      []Flip            `json:"made"`
	Gone      []Flip            `json:"gone"`
	Undecided []explain.Subject `json:"undecided,omitempty"`
	Partial   []string          `json:"partial"`
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
	Subject explain.Subject `json:"subject"`
	From    string          `json:"from,omitempty" enum:"explain.Verdict"`
	To      string          `json:"to,omitempty" enum:"explain.Verdict"`
	Had     []string        `json:"had,omitempty"`
	Has     []string        `json:"has,omitempty"`
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
		Head: output.HeadOf("Diff"), From: from, To: to, Changed: []ChangeSum{},
		Flips: words.Each(d.Flips, newFlip), Made: words.Each(d.Made, newFlip), Gone: words.Each(d.Gone, newFlip),
		Undecided: d.Undecided, Partial: output.OrEmpty(d.Partial),
	}
	for _, c := range d.Counts {
		out.Changed = append(out.Changed, ChangeSum{Kind: c.Kind.Name, Made: c.Made, Gone: c.Gone, Changed: c.Changed})
	}
	return out
}

// Headline implements output.Headliner.
func (d *Diff) Headline() string {
	return diffHeadline(len(d.Flips), len(d.Changed), len(d.Partial)+len(d.Undecided) == 0)
}

func newFlip(f flip.Flip) Flip {
	return Flip{
		Subject: f.Subject, From: string(f.Before), To: string(f.After), Had: output.DeviceNames(f.Had), Has: output.DeviceNames(f.Has),
		NodeBefore: string(f.From), NodeAfter: string(f.To), By: changedObjects(f.By.Changes), UndoneBy: undoneBy(f.By),
	}
}

func undoneBy(c flip.Culprits) *bool {
	if len(c.Changes) == 0 {
		return nil
	}
	return &c.Undoing
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
