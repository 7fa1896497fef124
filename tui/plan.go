package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// prepare works out what an action would write, to be confirmed.
func (m *model) prepare(action Action, ref screen.Ref) tea.Cmd {
	writer := m.options.Writer
	m.remark = screen.Say{Text: "working out what would be written for " + ref.String() + " …", Role: styled.Dim}
	return m.plan.Await(m.world, func(ctx context.Context) (Plan, error) { return writer.Plan(ctx, action, ref) })
}

// takePlan asks whether a plan shall be carried out, and tells how that went.
func (m *model) takePlan(msg tea.Msg) (tea.Cmd, bool) {
	if result, ok := m.plan.Take(msg); ok {
		m.remark = screen.Say{}
		if result.Err != nil {
			m.popup = refusal(result.Err.Error())
			return nil, true
		}
		m.popup = m.confirmation(result.Value)
		return nil, true
	}
	if result, ok := m.commit.Take(msg); ok {
		if result.Err != nil {
			return m.say(styled.Bad, result.Err.Error()), true
		}
		return m.say(styled.Good, result.Value), true
	}
	return nil, false
}

// refusal says why nothing will be written. It stays until it is taken note of: who expects to be asked may be typing yes.
func refusal(why string) *popup {
	return &popup{title: "nothing is written", stays: true, text: []styled.Line{styled.Text(styled.Bad, inspect.Sanitize(why))}, widest: widestRefusal}
}

// widestRefusal is how many columns the text of a refusal takes at most.
const widestRefusal = 70

// widestPlan is how many columns what would be written takes at most.
const widestPlan = 160

// yes is what has to be typed before something is written: more than a key that is pressed from habit.
const yes = "yes"

// confirmation shows exactly what will be written, and writes it when the user has typed so.
func (m *model) confirmation(plan Plan) *popup {
	p := &popup{title: "write this to the cluster?", widest: widestPlan, answer: widget.Prompt{Label: " " + yes + "? "}}
	for line := range strings.SplitSeq(strings.TrimRight(plan.Text(), "\n"), "\n") {
		p.text = append(p.text, styled.Text(styled.Plain, inspect.Sanitize(line)))
	}
	p.text = append(p.text, nil, styled.Line{{Text: "To write it, type "}, {Text: yes, Role: styled.Accent}, {Text: " and press "}, {Text: "⏎", Role: styled.Accent}, {Text: "; Esc leaves all as it is."}})
	p.confirm = func() tea.Cmd {
		m.remark = screen.Say{Text: "writing, and then watching for a few seconds that nobody else takes the same devices …", Role: styled.Dim}
		return m.commit.Await(m.world, plan.Execute)
	}
	return p
}
