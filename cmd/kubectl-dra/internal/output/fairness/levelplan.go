package fairness

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// PriorityLevelPlan says what a change of priority levels or FlowSchemas would make of the limits and of
// where requests go.
type PriorityLevelPlan struct {
	output.Head
	ServerConcurrency output.ServerConcurrency `json:"serverConcurrency"`
	// Levels are all levels, before and after, by name.
	Levels []LevelChange `json:"levels"`
	// Moved are typical requests that go elsewhere: of DRA's actors, and one for each rule of each
	// FlowSchema.
	Moved []MovedRequest `json:"moved"`
	// Dangling are the FlowSchemas that lead to no level afterwards.
	Dangling []flowcontrol.Dangling `json:"danglingFlowSchemas,omitempty"`
	// TakenBack are the changes that the API server takes back by itself.
	TakenBack []TakenBack `json:"takenBack,omitempty"`
}

// TakenBack is a change that the API server takes back within a minute.
type TakenBack struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Certain is false where the objects do not tell, because they were written by hand.
	Certain bool   `json:"certain"`
	Message string `json:"message"`
	// Command is what keeps the change.
	Command string `json:"command"`
}

func takenBack(t flowcontrol.TakenBack) TakenBack {
	why := fmt.Sprintf("because its annotation %s is true", flowcontrol.AutoUpdate)
	if !t.Certain {
		why = fmt.Sprintf("unless its annotation %s is false", flowcontrol.AutoUpdate)
	}
	return TakenBack{
		Kind: t.Kind, Name: t.Name, Certain: t.Certain,
		Message: fmt.Sprintf("the API server takes the change of %s %s back within a minute, %s", t.Kind, t.Name, why),
		Command: fmt.Sprintf("kubectl annotate %s %s %s=false --overwrite", strings.ToLower(t.Kind), t.Name, flowcontrol.AutoUpdate),
	}
}

// LevelChange is a level before and after; one of them is absent for a level that comes or goes.
type LevelChange struct {
	Name   string       `json:"name"`
	Before *LevelLimits `json:"before,omitempty"`
	After  *LevelLimits `json:"after,omitempty"`
}

// LevelLimits are the limits of a level in seats, as in a PriorityLevelList.
type LevelLimits struct {
	Shares    int                  `json:"shares"`
	Nominal   int                  `json:"nominal"`
	Lendable  int                  `json:"lendable"`
	Borrowing *int                 `json:"borrowing,omitempty"`
	Lower     int                  `json:"lower"`
	Upper     int                  `json:"upper"`
	Queuing   *flowcontrol.Queuing `json:"queuing,omitempty"`
}

// MovedRequest is a request that goes elsewhere.
type MovedRequest struct {
	// Actor is who asks, where it is somebody of DRA.
	Actor  string      `json:"actor,omitempty"`
	User   string      `json:"user"`
	Groups []string    `json:"groups"`
	Verb   string      `json:"verb"`
	What   string      `json:"what"`
	From   Destination `json:"before"`
	To     Destination `json:"after"`
}

// Destination is where a request goes.
type Destination struct {
	FlowSchema    string `json:"flowSchema"`
	PriorityLevel string `json:"priorityLevel"`
}

// LevelPlan compares the limits and destinations before a change with those after it.
func LevelPlan(before, after flowcontrol.Resolved, moved []flowcontrol.Moved, dangling []flowcontrol.Dangling, back []flowcontrol.TakenBack) *PriorityLevelPlan {
	p := &PriorityLevelPlan{
		Head: output.HeadOf("PriorityLevelPlan"), ServerConcurrency: output.ServerConcurrency{Limit: after.ServerConcurrency, Source: before.Source},
		Levels: []LevelChange{}, Moved: words.Each(moved, movedRequest),
		Dangling: dangling, TakenBack: output.Optional(back, takenBack),
	}
	changes := map[string]LevelChange{}
	for i := range before.Levels {
		level := &before.Levels[i]
		changes[level.Name] = LevelChange{Name: level.Name, Before: levelLimits(level)}
	}
	for i := range after.Levels {
		level := &after.Levels[i]
		changes[level.Name] = LevelChange{Name: level.Name, Before: changes[level.Name].Before, After: levelLimits(level)}
	}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		p.Levels = append(p.Levels, changes[name])
	}
	return p
}

func levelLimits(level *flowcontrol.Level) *LevelLimits {
	return &LevelLimits{
		Shares: level.Shares, Nominal: level.Nominal, Lendable: level.Lendable, Borrowing: level.Borrowing, Lower: level.Lower, Upper: level.Upper,
		Queuing: level.Queuing,
	}
}

func movedRequest(m flowcontrol.Moved) MovedRequest {
	r := &m.Probe.Request
	out := MovedRequest{
		User: r.User, Groups: r.Groups, Verb: r.Info.Verb, What: r.Resource(),
		From: Destination{m.Before.Schema, m.Before.Level}, To: Destination{m.After.Schema, m.After.Level},
	}
	switch {
	case out.What == "":
		out.What = r.URL.Path
	case r.Info.APIGroup != "":
		out.What += " of " + r.Info.APIGroup
	}
	if a := m.Probe.Actor; a != nil {
		out.Actor = (&DRAActor{Role: string(a.Role), Driver: a.Driver}).name()
	}
	return out
}

// Write writes the plan for people.
func (e *PriorityLevelPlan) Write(p *output.Page) {
	rows := [][]string{{"LEVEL", "SHARES", "NominalCL", "LendableCL", "BorrowingCL", ""}}
	for _, l := range e.Levels {
		rows = append(rows, l.row())
	}
	p.Paragraph("", "  ", fmt.Sprintf("of %d seats of the server, if that were applied:", e.ServerConcurrency.Limit))
	p.Rows(rows)
	p.WriteString("\n")
	lines := e.movedText()
	if len(lines) == 0 {
		p.Paragraph("", "", "No request goes elsewhere.")
	} else {
		p.Paragraph("", "", "These requests go elsewhere:")
	}
	for _, line := range lines {
		p.Paragraph("  ", "    ", line)
	}
	for _, d := range e.Dangling {
		p.Paragraph("", "  ", fmt.Sprintf("FlowSchema %s leads to no level: %s does not exist, so the server passes over it", d.Schema, d.Level))
	}
	if len(e.TakenBack) > 0 {
		p.WriteString("\n")
	}
	for _, t := range e.TakenBack {
		p.Paragraph("! ", "  ", t.Message+":")
		p.WriteString("    " + t.Command + "\n")
	}
}

// movedText says which requests go elsewhere, those of several at once where all else is the same.
func (e *PriorityLevelPlan) movedText() []string {
	var order []string
	who := map[string][]string{}
	for _, m := range e.Moved {
		text := fmt.Sprintf("%s %s: from %s to %s", m.Verb, m.What, m.From.text(), m.To.text())
		name := m.User
		if m.User == flowcontrol.AnyAccount {
			name = "any service account"
		}
		switch {
		case m.Actor != "" && name == m.User:
			name = m.Actor + " (" + m.User + ")"
		case m.Actor != "":
			name = m.Actor
		}
		if who[text] == nil {
			order = append(order, text)
		}
		who[text] = words.AppendNew(who[text], name)
	}
	return words.Each(order, func(text string) string { return strings.Join(who[text], ", ") + ": " + text })
}

func (d Destination) text() string {
	return fmt.Sprintf("%s (FlowSchema %s)", d.PriorityLevel, d.FlowSchema)
}

// row has what changes as "before → after".
func (l *LevelChange) row() []string {
	before, after, mark := l.Before, l.After, ""
	switch {
	case before == nil:
		before, mark = after, "new"
	case after == nil:
		after, mark = before, "gone"
	}
	cells := func(l *LevelLimits) []string {
		return []string{fmt.Sprint(l.Shares), fmt.Sprint(l.Nominal), fmt.Sprint(l.Lendable), borrowingText(l.Borrowing)}
	}
	row := append([]string{l.Name}, cells(after)...)
	for i, was := range cells(before) {
		if is := row[i+1]; was != is {
			row[i+1] = was + " → " + is
		}
	}
	return append(row, mark)
}

func borrowingText(borrowing *int) string {
	if borrowing == nil {
		return "unlimited"
	}
	return fmt.Sprint(*borrowing)
}
