package tui

import (
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// In a cluster in which the header and the recorder have much to do, they look at the newest of the worlds that come while they
// rest, and in a small one at each.
func TestTallying(t *testing.T) {
	first := demoSnapshot(t)
	m := driveLarge(t, first, "claims")
	next := func() {
		revision := m.world.Snapshot.Revision() + 1
		m.change(first.Next(*first.Objects(), inspect.Config{Revision: revision, Features: first.Features(), Time: first.Time()}), nil)
	}
	seen := func() int64 { return m.tally.before.Snapshot.Revision() }
	quick := func() { // as if nothing took time, and the machine were never busy
		m.tally.job.Stop()
		m.tally.now.took = 0
	}
	quick()
	for range 3 {
		next()
		if seen() != m.world.Snapshot.Revision() {
			t.Errorf("revision %d is looked at, want %d", seen(), m.world.Snapshot.Revision())
		}
		quick()
	}
	m.tally.now.took, m.tally.begun = time.Hour, time.Now().Add(time.Hour) // so that this test is never too slow
	before := seen()
	for range 3 {
		next()
	}
	if seen() != before || !m.tally.resting {
		t.Errorf("revision %d is looked at during the rest", seen())
	}
	m.tally.now.took, m.tally.begun = 0, time.Time{}
	m.Update(rested{})
	if seen() != m.world.Snapshot.Revision() || m.tally.resting {
		t.Errorf("then revision %d is looked at, want %d", seen(), m.world.Snapshot.Revision())
	}
	for took, want := range map[time.Duration]time.Duration{0: 0, quickTally: 0, 20 * time.Millisecond: 160 * time.Millisecond, time.Minute: tallyLate} {
		if got := restAfter(took); got != want {
			t.Errorf("after %v of work the next comes after %v, want %v", took, got, want)
		}
	}
}
