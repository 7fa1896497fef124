package tui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/keymap"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// mostHeld is how many keys wait at most: more than anybody types ahead.
const mostHeld = 1000

// hold keeps a key for later and reports whether it did. What a user types ahead, such as /train-0⏎e, is meant for
// what will be selected, so it waits until that is known. Esc and q do not: they give up what was typed ahead.
func (m *model) hold(k tea.KeyPressMsg) bool {
	if slices.Contains([]string{"esc", "q"}, k.String()) {
		m.held = nil
		m.find.Stop()
		return false
	}
	if !m.waits(k) {
		return false
	}
	if len(m.held) < mostHeld {
		m.held = append(m.held, k)
	}
	return true
}

// waits reports whether a key is about something that is not known yet.
func (m *model) waits(k tea.KeyPressMsg) bool {
	return m.unsettled() &&
		(m.find.Running() || len(m.held) > 0 || !slices.Contains(m.ways(), m.keys().Action(k.String())))
}

// unsettled reports whether what keys are about is being worked out. Text can be typed all the same.
func (m *model) unsettled() bool {
	if m.popup != nil || m.input != nil || m.typing() {
		return false
	}
	s, ok := m.top().(screen.Settler)
	return m.find.Running() || ok && s.Unsettled()
}

// ways are the actions that lead to other places, wherever the cursor is.
func (m *model) ways() []keymap.Action {
	actions := []keymap.Action{nextView, prevView, filter, namespace, goName, help}
	for _, v := range m.views {
		actions = append(actions, keymap.Action(v.name))
	}
	return actions
}

// release presses the keys that were held, as far as it is known now what they are about.
func (m *model) release() tea.Cmd {
	var cmds []tea.Cmd
	for len(m.held) > 0 && !m.unsettled() {
		k := m.held[0]
		rest := m.held[1:]
		m.held = nil
		cmds = append(cmds, m.press(k))
		m.held = append(m.held, rest...)
	}
	return tea.Batch(cmds...)
}
