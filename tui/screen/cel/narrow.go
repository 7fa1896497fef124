package cel

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// narrowed are the devices of an answer that the user's words let pass.
type narrowed struct {
	a     *answer
	order []int
}

// FilterText implements screen.Filterer.
func (s *Screen) FilterText() string { return s.words }

// FilterHint implements screen.FilterHinter: a device of the list has a name, a node and a driver, and no columns that are compared.
func (s *Screen) FilterHint() string { return "words of device, pool, node, driver · !word" }

// narrowTo lists only the devices whose names have some words. What the selector does stays what it is:
// a filter hides devices, but does not change what there is.
func (s *Screen) narrowTo(w *screen.World, words string) tea.Cmd {
	s.words = words
	if s.lastValid == nil {
		return nil
	}
	return s.fill(w)
}

// pick begins to look for the devices that the words let pass. Until they are found, those stay that are listed.
func (s *Screen) pick(w *screen.World, order []int) tea.Cmd {
	a, words := s.lastValid, strings.Fields(strings.ToLower(s.words))
	return s.narrowing.Start(w, func(ctx context.Context) (*narrowed, error) {
		n := &narrowed{a: a}
		for i, subject := range order {
			if i%1000 == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if d := &a.lab.devices[subject]; passes(words, strings.ToLower(d.ID.Pool+"/"+d.ID.Device+" "+string(d.Node)+" "+d.ID.Driver)) {
				n.order = append(n.order, subject)
			}
		}
		return n, nil
	})
}

// passes reports whether a text has all words, and none of those with a "!".
func passes(words []string, text string) bool {
	for _, word := range words {
		word, not := strings.CutPrefix(word, "!")
		if word != "" && strings.Contains(text, word) == not {
			return false
		}
	}
	return true
}

// takeNarrowed lists what was found. The device under the cursor stays, if it is among that.
func (s *Screen) takeNarrowed(n *narrowed) {
	id, had := s.selected()
	s.rows = &deviceRows{n.a, n.order}
	s.table.SetRows(s.rows, n.a.natural, 0)
	if had {
		s.moveTo(id)
	}
}
