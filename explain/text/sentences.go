package text

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Sentences are what Lines says of an explanation, besides what the explanation itself has in words, for layouts of other kinds. They
// are not sanitised.
type Sentences struct {
	// Sign is that of the answer: ✓, ✗, ! or ?.
	Sign string
	// About says what was asked about exactly, and together with what.
	About []string
	// Devices is the heading of the devices, and Reported, by the index of a device, what is reported of it.
	Devices  string
	Reported map[int][]string
	// Problems is the heading of the problems of the lifecycle, and Who, for each, who can do something about it.
	Problems string
	Who      []string
	// Containers are those that do not run, Waits what is waited for, under the heading WaitsFor, Scheduler what the scheduler
	// said, and Events what happened, as far as that is not said elsewhere.
	Containers, Waits, Scheduler, Events []Entry
	WaitsFor                             string
	// Why is the heading of Causes, the parts of the conflict or what fails, and Alone says which of them it helps to give up.
	Why    string
	Causes []Entry
	Alone  string
	// Fixes belong to the fixes of the explanation.
	Fixes []FixSentences
	// Nodes are the nodes that refuse, those together of which the same is to be said, and those first that come nearest.
	Nodes []NodeSentence
}

// Entry says something about something. Name may be empty.
type Entry struct{ Name, Text string }

// FixSentences are about a fix.
type FixSentences struct {
	// Who has to act, Where it would then fit, and Beside, what else is in the way.
	Who    string
	Where  string
	Beside []string
}

// NodeSentence is what is to be said of some nodes.
type NodeSentence struct {
	Nodes []inspect.NodeName
	Text  string
}

// unwrapped is a width at which no line is broken.
const unwrapped = 1 << 30

// SentencesOf returns what is said of an explanation.
func SentencesOf(e *explain.Explanation) *Sentences {
	p := &page{opts: Options{Width: unwrapped}, e: e}
	sign, _ := signOf(e)
	s := &Sentences{Sign: sign, Reported: map[int][]string{}, WaitsFor: waitsHeading(e.Verdict)}
	for _, part := range []func(){p.turn, p.joint, p.workload} {
		for _, entry := range p.entriesOf(part, 0) {
			s.About = append(s.About, entry.Text)
		}
	}
	if e.Allocation != nil {
		s.Devices = devicesHeading(e)
		for i := range e.Allocation.Devices {
			s.Reported[i] = p.reports(&e.Allocation.Devices[i])
		}
	}
	if l := e.Lifecycle; l != nil {
		s.Problems = p.problemsHeading(l)
		for i := range l.Problems {
			s.Who = append(s.Who, who(&l.Problems[i]))
		}
	}
	s.Containers = p.entriesOf(p.containers, 1)
	s.Events = p.entriesOf(p.events, 1)
	s.Waits = p.entriesOf(func() { p.notes(s.WaitsFor, e.Waits) }, 1)
	s.Scheduler = p.entriesOf(func() { p.notes("", e.Scheduler) }, 1)
	s.addCauses(e)
	for i := range e.Fixes {
		f := &e.Fixes[i]
		said := FixSentences{Who: actorsText(f.Actors(e.Subject)), Where: fixWhere(f)}
		for k := range f.OtherBlockers {
			said.Beside = append(said.Beside, besideText(&f.OtherBlockers[k]))
		}
		s.Fixes = append(s.Fixes, said)
	}
	names, texts := summarize(e)
	for i := range texts {
		s.Nodes = append(s.Nodes, NodeSentence{names[i], texts[i].text})
	}
	return s
}

// addCauses adds what is in the way.
func (s *Sentences) addCauses(e *explain.Explanation) {
	add := func(r *explain.Requirement) {
		var entry Entry
		if r.Holder != nil {
			entry.Name, entry.Text = heldText(r)
		} else {
			entry.Name, entry.Text = requirementText(e, r)
		}
		s.Causes = append(s.Causes, entry)
	}
	switch {
	case e.Conflict != nil:
		s.Why, s.Alone = conflictHeading(e, e.Conflict), aloneHelps(e, e.Conflict)
		for i := range e.Conflict.Requirements {
			add(&e.Conflict.Requirements[i])
		}
	case e.Failure != nil:
		s.Why = failureHeading(e.Failure)
		add(&e.Failure.Requirement)
	}
}

// entriesOf returns the lines of a part of the page, but for those of its heading. A line that begins with a name has that as its
// name.
func (p *page) entriesOf(part func(), heading int) []Entry {
	p.lines = nil
	part()
	lines := p.lines
	p.lines = nil
	var out []Entry
	for _, line := range lines[min(heading, len(lines)):] {
		var entry Entry
		for i, span := range line {
			if entry.Name == "" && span.Role == styled.Name && strings.TrimSpace(line[:i].String()) == "" {
				entry.Name = span.Text
				continue
			}
			entry.Text += span.Text
		}
		entry.Text = strings.TrimPrefix(words.OneLine(entry.Text), ": ")
		out = append(out, entry)
	}
	return slices.Clip(out)
}

// Headline is the first line of what Lines and its like return.
func Headline(lines []styled.Line) string {
	if len(lines) == 0 {
		return ""
	}
	return lines[0].String()
}

// Unwrapped are options with which no line is broken, for Headline.
func Unwrapped() Options { return Options{Width: unwrapped} }
