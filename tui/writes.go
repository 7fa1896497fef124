package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// writes are what changes the cluster, or, of a cluster that is only played, what can be done to it.
type writes struct {
	*worlds
	plan   screen.Job[Plan]
	commit screen.Job[string]
	of     screen.Ref // what is planned or written for
}

// locked says why nothing can be written now, or "".
func (m *writes) locked() string {
	switch {
	case m.options.Writer == nil:
		return m.options.NoWriter
	case m.commit.Running():
		return "something is being written already"
	case len(m.hypotheses) > 0:
		return "not while something is supposed: W forgets it"
	case m.planning():
		return "not on a page about what would be: Esc leaves it"
	case len(m.state().Marked) > 0:
		return "writes are for one claim at a time: Esc clears the marks"
	}
	return ""
}

// off says why an action cannot be done to an object, or "".
func (m *writes) off(action Action, ref screen.Ref) string {
	if why := m.locked(); why != "" {
		return why
	}
	if player, ok := m.options.Writer.(Player); ok && (action == Release || action == Taint) {
		if ref.Kind == screen.None {
			return "nothing is selected"
		}
		if action == Release && ref.Kind == screen.Claim && m.base != nil && disruption.HoldsNothing(m.base, ref) != "" {
			return disruption.HoldsNothing(m.base, ref)
		}
		return player.Refuses(action, ref)
	}
	if ref.Kind != screen.Claim {
		return "select a claim first"
	}
	if m.base == nil {
		return ""
	}
	claim, ok := m.base.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name})
	switch allocated := ok && claim.Status.Allocation != nil; {
	case ok && action == Allocate && allocated:
		return ref.String() + " is allocated already"
	case ok && action == Deallocate && !allocated:
		return ref.String() + " is not allocated"
	}
	return ""
}

// key is the key of an action. Pressed, it works out what would be written, to be confirmed.
func (m *writes) key(action Action, press, help string) screen.Key {
	ref := m.state().Selection
	return screen.Key{Name: string(action), Press: []string{press}, Short: string(action), Help: help, Off: m.off(action, ref), Do: func(*screen.World) tea.Cmd {
		writer := m.options.Writer
		m.of = ref
		m.say(styled.Dim, "working out what would be written for "+ref.String()+" …")
		return m.plan.Await(m.world, func(ctx context.Context) (Plan, error) { return writer.Plan(ctx, action, ref) })
	}}
}

// keys are the keys of all actions, some of which there are only for a cluster that is played.
func (m *writes) keys() screen.Keys {
	keys := screen.Keys{
		m.key(Allocate, "A", "allocate; first shows what would be written"),
		m.key(Deallocate, "D", "take an unused claim's devices back; first shows what would be written"),
	}
	if _, ok := m.options.Writer.(Player); ok {
		keys = append(keys, m.key(Release, "R", "demo: let the pods of a claim end, so that it gives its devices back"),
			m.key(Taint, "T", "demo: put a DeviceTaintRule on a device, or take it away again"))
	}
	return keys
}

// take asks whether a plan shall be carried out, and tells how that went.
func (m *writes) take(msg tea.Msg) (tea.Cmd, bool) {
	if result, ok := m.plan.Take(msg); ok {
		m.remark = screen.Say{}
		if result.Err != nil {
			m.popup = refusal(result.Err.Error())
		} else {
			m.popup = m.confirmation(result.Value)
		}
		return nil, true
	}
	if result, ok := m.commit.Take(msg); ok {
		if result.Err != nil {
			return m.say(styled.Bad, result.Err.Error()), true
		}
		m.note(screen.Wrote, m.of, result.Value)
		return m.say(styled.Good, result.Value), true
	}
	return nil, false
}

// refusal says why nothing will be written. It stays until it is taken note of: who expects to be asked may
// be typing yes.
func refusal(why string) *popup {
	return &popup{title: "nothing is written", stays: true, text: []styled.Line{styled.Text(styled.Bad, inspect.Sanitize(why))}, widest: widestRefusal}
}

const (
	// widestRefusal and widestPlan are how many columns a refusal, and what would be written, take at most.
	widestRefusal = 70
	widestPlan    = 160
	// yes is what has to be typed before something is written: more than a key that is pressed from habit.
	yes = "yes"
)

// confirmation shows exactly what will be written, and writes it when the user has typed so.
func (m *writes) confirmation(plan Plan) *popup {
	p := &popup{title: "write this to the cluster?", widest: widestPlan, answer: widget.Prompt{Label: " " + yes + "? "}}
	for line := range strings.SplitSeq(strings.TrimRight(plan.Text(), "\n"), "\n") {
		p.text = append(p.text, styled.Text(styled.Plain, inspect.Sanitize(line)))
	}
	p.text = append(p.text, nil, styled.Line{{Text: "To write it, type "}, {Text: yes, Role: styled.Accent}, {Text: " and press "}, {Text: "⏎", Role: styled.Accent}, {Text: "; Esc leaves all as it is."}})
	p.confirm = func() tea.Cmd {
		m.say(styled.Dim, "writing, and then watching for a few seconds that nobody else takes the same devices …")
		return m.commit.Await(m.world, plan.Execute)
	}
	return p
}
