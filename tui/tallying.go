package tui

import (
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// tallying decides when the header counts and the recorder compares. Nobody waits for either, and in a large cluster that is
// busy they take more than the rows that are shown, so they rest for several times as long as they took. The zero value is
// ready.
type tallying struct {
	// took is how long both have worked since begun, in nanoseconds.
	took    atomic.Int64
	begun   time.Time
	missed  *screen.World // the newest world that came meanwhile
	waiting bool
}

const (
	// tallyBreath is how long it is from one tally to the next, as a multiple of what one takes.
	tallyBreath = 8
	// quickTally is what a tally may take that needs no rest, tallyLate how old the newest may become.
	quickTally = 5 * time.Millisecond
	tallyLate  = 500 * time.Millisecond
)

// tallied ends the rest.
type tallied struct{}

// wait returns how long it is until the next tally.
func (t *tallying) wait(now time.Time) time.Duration {
	took := time.Duration(t.took.Load())
	if took <= quickTally {
		return 0
	}
	return min(tallyBreath*took, tallyLate) - now.Sub(t.begun)
}

// timed adds to took what work takes.
func timed[T any](took *atomic.Int64, work func() T) T {
	defer func(begun time.Time) { took.Add(int64(time.Since(begun))) }(time.Now())
	return work()
}

// tally lets the header and the recorder look at a world, at once or in a while: then at the newest.
func (m *model) tally(w *screen.World) tea.Cmd {
	t := &m.tallying
	if t.waiting {
		t.missed = w
		return nil
	}
	if wait := t.wait(time.Now()); wait > 0 {
		t.missed, t.waiting = w, true
		return tea.Tick(wait, func(time.Time) tea.Msg { return tallied{} })
	}
	t.begun = time.Now()
	t.took.Store(0)
	return tea.Batch(m.header.refresh(w, &t.took), m.record.record(w, &t.took))
}

// endRest tallies what came during the rest.
func (m *model) endRest() tea.Cmd {
	w := m.tallying.missed
	m.tallying.missed, m.tallying.waiting = nil, false
	return m.tally(w)
}
