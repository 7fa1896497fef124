package tui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// A snapshot that comes soon after another is shown a little later, with what has come in the meantime; one
// that comes after a while is shown at once.
func TestSnapshotsThatComeFast(t *testing.T) {
	first := demoSnapshot(t)
	next := func(revision int64) *inspect.Snapshot {
		return first.Next(*first.Objects(), inspect.Config{Revision: revision, Features: first.Features(), Time: first.Time()})
	}
	m := driveLarge(t, first, "claims")
	m.rebuilt = time.Time{}
	m.takeSnapshot(next(2))
	if got := m.world.Snapshot.Revision(); got != 2 {
		t.Errorf("revision %d is shown after a while, want 2", got)
	}
	m.rebuilt = time.Now().Add(time.Hour) // so that this test is never too slow
	m.Update(arrived{next(3)})
	m.takeSnapshot(next(4))
	if got := m.world.Snapshot.Revision(); got != 2 || !m.throttled {
		t.Errorf("revision %d is shown at once, want 2", got)
	}
	m.Update(paced{})
	if got := m.world.Snapshot.Revision(); got != 4 || m.throttled {
		t.Errorf("revision %d is shown then, want 4", got)
	}
	for work, want := range map[time.Duration]time.Duration{0: pace, 100 * time.Millisecond: 400 * time.Millisecond, time.Minute: busyPace} {
		if got := pauseFor(work); got != want {
			t.Errorf("after %v of work the next world comes after %v, want %v", work, got, want)
		}
	}
}

// What rests by itself does not make worlds come later, however long it takes.
func TestWorldsDoNotWaitForWorkThatRests(t *testing.T) {
	synctest.Test(t, testWorldsDoNotWait) // where nothing but waiting takes time
}

func testWorldsDoNotWait(t *testing.T) {
	m := driveLarge(t, demoSnapshot(t), "claims")
	work := func(context.Context) (int, error) { time.Sleep(2 * pace); return 0, nil }
	var later, atOnce screen.Job[int]
	m.rebuilt, m.worked = time.Now(), screen.WorkedAtOnce()
	later.StartLater(m.world, work)()
	if m.takeSnapshot(m.base); m.throttled {
		t.Error("a world waits for a multiple of what work took that nobody waits for")
	}
	m.rebuilt, m.worked = time.Now(), screen.WorkedAtOnce()
	atOnce.Start(m.world, work)()
	if m.takeSnapshot(m.base); !m.throttled {
		t.Error("a world does not wait")
	}
}

// A world that comes when no key was pressed for a while says so, and with the next key it no longer does.
func TestIdleWorld(t *testing.T) {
	first := demoSnapshot(t)
	m := driveLarge(t, first, "causes")
	m.change(first, nil)
	if m.world.Idle {
		t.Error("nobody is thought to be there")
	}
	m.touched = time.Now().Add(-2 * idleAfter)
	m.Update(ticked{})
	m.change(first, nil)
	if !m.world.Idle {
		t.Error("somebody is thought to be there who has not pressed a key for long")
	}
	m.Update(tea.KeyPressMsg{Code: 'j', Text: "j"})
	if m.world.Idle {
		t.Error("nobody is thought to be there who has pressed a key")
	}
	m.change(first, nil)
	if m.world.Idle {
		t.Error("nobody is thought to be there a moment after a key")
	}
}
