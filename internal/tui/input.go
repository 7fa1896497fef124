package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// input is a line that the user types into.
type input struct {
	prompt widget.Prompt
	// typed is called after every change, done with the text on Enter, left on Esc.
	typed, done func(text string) tea.Cmd
	left        func() tea.Cmd
	// complete proposes whole texts for what was typed.
	complete func(text string) []string
	// take takes results of the input's own work. It may be nil.
	take func(tea.Msg) bool
}

func nothing(string) tea.Cmd { return nil }

func (m *model) pressInput(k tea.KeyPressMsg) tea.Cmd {
	in := m.input
	switch k.String() {
	case "esc":
		m.input = nil
		if in.left != nil {
			return in.left()
		}
		return nil
	case "enter":
		m.input = nil
		return in.done(in.prompt.Value())
	case "tab":
		if in.complete != nil {
			if proposals := in.complete(in.prompt.Value()); len(proposals) > 0 {
				in.prompt.SetValue(commonPrefix(proposals, in.prompt.Value()))
			}
			return m.typed()
		}
		return nil
	}
	if in.prompt.Press(k) {
		return m.typed()
	}
	return nil
}

// typed follows a change of the text.
func (m *model) typed() tea.Cmd {
	in := m.input
	if in.complete != nil {
		in.prompt.Hint = hint(in.complete(in.prompt.Value()))
	}
	return in.typed(in.prompt.Value())
}

const maxProposals = 8

// hint shows names that come from the cluster.
func hint(proposals []string) string {
	shown := make([]string, min(maxProposals, len(proposals)))
	for i := range shown {
		shown[i] = inspect.Sanitize(proposals[i])
	}
	if len(proposals) > maxProposals {
		return fmt.Sprintf("%s … (%d)", strings.Join(shown, "  "), len(proposals))
	}
	return strings.Join(shown, "  ")
}

// commonPrefix is as much as all proposals agree on, but at least what was typed.
func commonPrefix(proposals []string, typed string) string {
	prefix := proposals[0]
	for _, p := range proposals[1:] {
		for !strings.HasPrefix(p, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	prefix = strings.ToValidUTF8(prefix, "")
	if len(prefix) < len(typed) {
		return typed
	}
	return prefix
}

// askFilter lets the user type a filter, which takes effect at once. Esc brings back the one before.
func (m *model) askFilter() tea.Cmd {
	s := m.top()
	before := s.(screen.Filterer).FilterText()
	in := &input{prompt: widget.Prompt{Label: "/", Hint: "word · column=value · column>number · !word"}}
	in.prompt.SetValue(before)
	in.typed = func(text string) tea.Cmd { return m.update(s, screen.Filter{Text: text}) }
	in.done = nothing
	in.left = func() tea.Cmd { return m.update(s, screen.Filter{Text: before}) }
	m.input = in
	return nil
}

// askNamespace lets the user choose a namespace.
func (m *model) askNamespace() tea.Cmd {
	names := m.header.namespaces
	in := &input{prompt: widget.Prompt{Label: "namespace: "}, typed: nothing}
	in.complete = func(text string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, text) })
	}
	in.done = func(text string) tea.Cmd {
		text = strings.TrimSpace(text)
		if text == "all" || text == "*" {
			text = ""
		}
		if text != "" && m.base != nil && !slices.Contains(names, text) {
			return m.say(styled.Warn, fmt.Sprintf("there is nothing to show in a namespace %q", text))
		}
		m.setNamespace(text)
		return m.update(m.top(), screen.Changed{})
	}
	in.prompt.Hint = "all  " + hint(names)
	m.input = in
	return nil
}
