package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// place is where ":" can go.
type place struct {
	text string // as typed
	view string
	ref  screen.Ref
}

// places lists where one can go in a snapshot, views first.
func places(s *inspect.Snapshot) []place {
	var all []place
	for _, v := range viewTable {
		all = append(all, place{text: v.name, view: v.name})
	}
	if s == nil {
		return all
	}
	for _, c := range s.Objects().Claims {
		ref := screen.Ref{Kind: screen.Claim, Namespace: c.Namespace, Name: c.Name}
		all = append(all, place{"claim " + ref.String(), "claims", ref})
	}
	for _, n := range s.Nodes() {
		all = append(all, place{"node " + n.Name, "nodes", screen.Ref{Kind: screen.Node, Name: n.Name}})
	}
	return all
}

// found are the places that a text may mean.
func found(all []place, text string) []place {
	words := strings.Fields(strings.ToLower(text))
	var hits []place
	for _, p := range all {
		name := strings.ToLower(p.text)
		if slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(name, w) }) {
			continue
		}
		hits = append(hits, p)
	}
	slices.SortStableFunc(hits, func(a, b place) int { return closeness(b, text) - closeness(a, text) })
	return hits
}

// closeness is how well a place fits to what was typed.
func closeness(p place, text string) int {
	switch {
	case p.text == text, p.ref.Name == text, p.ref.String() == text:
		return 2
	case strings.HasPrefix(p.text, text), p.ref.Name != "" && strings.HasPrefix(p.ref.Name, text):
		return 1
	}
	return 0
}

// askName lets the user go anywhere by name.
func (m *model) askName() tea.Cmd {
	snapshot := m.world.Snapshot
	in := &input{prompt: widget.Prompt{Label: ":", Hint: "a view, claim or node"}}
	var job screen.Job[[]place]
	var hits []place
	in.typed = func(text string) tea.Cmd {
		return job.Start(m.world, func(context.Context) ([]place, error) { return found(places(snapshot), text), nil })
	}
	in.take = func(msg tea.Msg) bool {
		result, ok := job.Take(msg)
		if ok {
			hits = result.Value
			in.prompt.Hint = placesHint(hits)
		}
		return ok
	}
	in.done = func(text string) tea.Cmd {
		if job.Running() || hits == nil {
			hits = found(places(snapshot), text)
		}
		if strings.TrimSpace(text) == "" {
			return nil
		}
		if len(hits) == 0 {
			return m.say(theme.Warn, fmt.Sprintf("nothing is called %q", text))
		}
		return m.goTo(screen.Go{View: hits[0].view, Ref: hits[0].ref})
	}
	m.input = in
	return nil
}

func placesHint(hits []place) string {
	texts := make([]string, 0, 4)
	for _, p := range hits[:min(4, len(hits))] {
		texts = append(texts, inspect.Sanitize(p.text))
	}
	if len(hits) > 4 {
		texts = append(texts, fmt.Sprintf("… (%d)", len(hits)))
	}
	if len(hits) == 0 {
		return "nothing is called so"
	}
	return "⏎ " + strings.Join(texts, "  ")
}
