package causes

import (
	"context"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// fixesKey is the key that shows the commands of what helps against the cause of the row.
func (s *Screen) fixesKey() screen.Key {
	r := s.Row()
	key := screen.Key{Name: "commands", Press: []string{reading.FixKey}, Help: "the commands of the first change that helps, whole; again: of the next"}
	switch {
	case r == nil || r.cause < 0:
		key.Off = "select what is stuck first"
	case r.soFar:
		key.Off = "what helps is not tried yet"
	case len(r.triage.Causes[r.cause].Fixes) == 0:
		key.Off = "of the changes that were tried none helps"
	default:
		key.Short = "commands"
		version := s.answer.Version
		if r.triage != s.answer.Value {
			version = -1 // of an answer before that
		}
		key.Do = func(*screen.World) tea.Cmd {
			return screen.Send(screen.Open{Page: screen.Fixes, Ref: r.ref, Screen: newFixes(r, version)})
		}
	}
	return key
}

// caused is a cause in the triage that it is of.
type caused struct {
	of *explain.Triage
	at int
}

// newFixes makes the page about the cause of a row, which begins with the commands of its first fix. The row
// is one of a world with that version; of later ones all is worked out anew.
func newFixes(r *row, version int) screen.Screen {
	known, key := caused{r.triage, r.cause}, r.triage.Causes[r.cause].Key
	p := reading.New(reading.Config[caused]{
		Ref: r.ref, Patience: patience, More: "all that is stuck because of it, by name, and the commands of every fix",
		Ask: func(ctx context.Context, w *screen.World) (caused, error) {
			if w.Version == version {
				return known, nil
			}
			t, err := look(ctx, w, nil)
			if err != nil {
				return caused{}, err
			}
			at := slices.IndexFunc(t.Causes, func(c explain.Cause) bool { return c.Key == key })
			if at < 0 {
				return caused{}, errors.New("nothing is stuck because of this any more")
			}
			return caused{t, at}, nil
		},
		Lines: func(c caused, o reading.Layout) []styled.Line {
			cause := &c.of.Causes[c.at]
			if o.Part == 0 || o.Part > len(cause.Fixes) {
				return text.CauseLines(c.of, c.at, o.Options())
			}
			return text.CauseFixLines(cause, o.Part-1, o.Options())
		},
		Fixes: func(c caused) [][]string {
			return words.Each(c.of.Causes[c.at].Fixes, func(f explain.CauseFix) []string { return f.Commands })
		},
	})
	p.ShowPart(1)
	return p
}
