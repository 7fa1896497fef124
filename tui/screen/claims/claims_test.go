package claims

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// After a survey that took long, the next change waits; what is supposed does not, and neither does anything
// after a short one.
func TestSurveysRest(t *testing.T) {
	begins := func(took time.Duration, prepare func(s *Screen, w *screen.World)) bool {
		s, w := New(), screentest.Demo(t)
		screentest.Settle(w, s, screen.Shown{})
		s.rest = time.Now().Add(took)
		w = w.Next(2, w.Snapshot.Next(*w.Snapshot.Objects(), inspect.Config{Revision: 2, Features: w.Snapshot.Features()}))
		prepare(s, w)
		return s.survey.Running()
	}
	send := func(messages ...tea.Msg) func(*Screen, *screen.World) {
		return func(s *Screen, w *screen.World) {
			for _, m := range messages {
				s.Update(w, m)
			}
		}
	}
	if !begins(0, send(screen.Changed{})) {
		t.Error("after a short survey, none begins when the claims change")
	}
	if begins(time.Minute, send(screen.Changed{}, screen.Changed{})) {
		t.Error("after a long survey, another begins at once")
	}
	if !begins(time.Minute, func(s *Screen, w *screen.World) {
		s.Update(w, screen.Changed{})
		s.rest = time.Time{}
		s.Update(w, rested{})
	}) {
		t.Error("after the recess of a long survey, none begins")
	}
	if begins(time.Minute, func(s *Screen, w *screen.World) {
		s.Update(w, screen.Changed{})
		s.Update(w, screen.Hidden{})
		s.rest = time.Time{}
		s.Update(w, rested{})
	}) {
		t.Error("a survey begins for a view that is hidden")
	}
	if !begins(time.Minute, func(s *Screen, w *screen.World) {
		w.Supposed, w.Actual = []screen.Change{{Kind: screen.ReleaseClaim}}, w
		s.Update(w, screen.Changed{})
	}) {
		t.Error("after a long survey, none begins when something is supposed")
	}
}
