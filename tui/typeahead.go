package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// maxTypeahead is how many keys wait at most: more than anybody types ahead.
const maxTypeahead = 1000

// holdKey keeps a key for later and reports whether it did. What a user types ahead, such as /train-0⏎e, is meant for
// what will be selected, so it waits until that is known. Esc and q do not: they give up what was typed ahead.
func (m *model) holdKey(k tea.KeyPressMsg) bool {
	if slices.Contains([]string{"esc", "q"}, k.String()) {
		m.typeahead = nil
		m.find.Stop()
		return false
	}
	if !m.mustWait(k) {
		return false
	}
	if len(m.typeahead) < maxTypeahead {
		m.typeahead = append(m.typeahead, k)
	}
	return true
}

// mustWait reports whether a key is about something that is not known yet.
func (m *model) mustWait(k tea.KeyPressMsg) bool {
	return m.unsettled() &&
		(m.find.Running() || len(m.typeahead) > 0 || !slices.Contains(m.navigation(), m.keys().Action(k.String())))
}

// unsettled reports whether what keys are about is being worked out. Text can be typed all the same.
func (m *model) unsettled() bool {
	if m.popup != nil || m.input != nil || m.typing() {
		return false
	}
	s, ok := m.top().(screen.Pending)
	return m.find.Running() || ok && s.Unsettled()
}

// navigation are the actions that lead to other places, wherever the cursor is.
func (m *model) navigation() []keymap.Action {
	actions := []keymap.Action{nextView, prevView, filter, namespace, anyNamespace, goName, help}
	for _, v := range m.views {
		actions = append(actions, keymap.Action(v.name))
	}
	return actions
}

// replayKeys presses the keys that were typed ahead, as far as it is known now what they are about.
func (m *model) replayKeys() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.typeahead) > 0 && !m.unsettled() {
		k := m.typeahead[0]
		rest := m.typeahead[1:]
		m.typeahead = nil
		cmds = append(cmds, m.press(k))
		m.typeahead = append(m.typeahead, rest...)
	}
	return tea.Batch(cmds...)
}
