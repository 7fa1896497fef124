package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/widget"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// place is where ":" can go.
type place struct {
	text string // as typed
	view string
	ref  screen.Ref
}

// found are the places that a text may mean.
type found struct {
	text string
	hits []place
}

// goFound goes to the best place that was found: an object that has no view of its own is shown in detail.
func (m *model) goFound(f found) tea.Cmd {
	if len(f.hits) == 0 {
		return m.say(styled.Warn, fmt.Sprintf("nothing is called %q", f.text))
	}
	best := f.hits[0]
	if best.view == "" {
		return m.open(screen.Open{Page: screen.Detail, Ref: best.ref})
	}
	m.enter(best.ref.Namespace)
	return m.goTo(screen.Go{View: best.view, Ref: best.ref})
}

// places lists where one can go in a world, views first. It takes time.
func places(w *screen.World) []place {
	var all []place
	for _, v := range viewTable {
		all = append(all, place{text: v.name, view: v.name})
	}
	if w.Snapshot == nil {
		return all
	}
	objects := w.Snapshot.Objects()
	add := func(kind screen.Kind, word, view, namespace, name string) {
		ref := screen.Ref{Kind: kind, Namespace: namespace, Name: name}
		all = append(all, place{word + " " + ref.String(), view, ref})
	}
	for _, c := range objects.Claims {
		add(screen.Claim, "claim", "claims", c.Namespace, c.Name)
	}
	for _, n := range w.Snapshot.Nodes() {
		if n.Name != string(inspect.PseudoNode) {
			add(screen.Node, "node", "nodes", "", n.Name)
		}
	}
	for _, p := range objects.Pods {
		add(screen.Pod, "pod", "", p.Namespace, p.Name)
	}
	for _, t := range objects.Templates {
		add(screen.Template, "template", "", t.Namespace, t.Name)
	}
	for _, c := range objects.Classes {
		add(screen.Class, "class", "", "", c.Name)
	}
	devices := w.Devices()
	for i := range devices {
		add(screen.Device, "device", "devices", "", devices[i].ID.String())
	}
	return all
}

// search returns the places that a text may mean, the best first.
func search(all []place, text string) []place {
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

// closeness is how well a place fits to what was typed, of which the last word is the name.
func closeness(p place, text string) int {
	words := strings.Fields(text)
	if len(words) == 0 {
		return 0
	}
	name := words[len(words)-1]
	switch {
	case p.text == text, p.ref.Name == name, p.ref.String() == name, strings.HasSuffix(p.ref.Name, "/"+name):
		return 2
	case strings.HasPrefix(p.text, text), p.ref.Name != "" && strings.HasPrefix(p.ref.Name, name):
		return 1
	}
	return 0
}

// askName lets the user go anywhere by name.
func (m *model) askName() tea.Cmd {
	world := m.world
	in := &input{prompt: widget.Prompt{Label: ":", Hint: "a view, or the name of a claim, pod, node, device, class or template"}}
	var job screen.Job[[]place]
	var hits []place
	in.typed = func(text string) tea.Cmd {
		return job.Start(m.world, func(context.Context) ([]place, error) { return search(places(world), text), nil })
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
		if strings.TrimSpace(text) == "" {
			return nil
		}
		return m.find.Start(m.world, func(context.Context) (found, error) { return found{text, search(places(world), text)}, nil })
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
