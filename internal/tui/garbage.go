package tui

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// mostGarbage is how much garbage may be made before it is collected, in percent of what is in use, for a cluster that is
	// small, and readingGarbage while one is being read: what is in use grows then anyway.
	mostGarbage, readingGarbage = 400, 100
	// cheapGarbage is an amount of garbage that is not worth collecting, in bytes.
	cheapGarbage = 128 << 20
	// plentiful is how large the heap may become, in bytes, before garbage is collected sooner than usual, and leastGarbage how
	// much there may be even then, in percent.
	plentiful, leastGarbage = 760 << 20, 20
	// resting is how long nothing may have been worked out before memory is given back that only reading took, and restless how long
	// that is waited for at most.
	resting, restless = 3 * time.Second, 30 * time.Second
)

// garbage lets a program that has little in memory collect its garbage rarely, with a small cluster that was a third of all it
// did, and one that has much in memory often. The zero value does nothing.
type garbage struct {
	mu      sync.Mutex
	usual   int       // how much garbage the caller allows, in percent; 0 unless the program decides
	percent int       // that is set
	read    time.Time // when everything had been read; zero before that
	given   bool      // memory was given back since
	worked  time.Duration
	changed time.Time // when worked was last seen to grow
}

// begin finds out what is usual, unless the user has chosen something, and looks at what is in use after each collection.
func (g *garbage) begin() {
	if os.Getenv("GOGC") != "" {
		return
	}
	g.mu.Lock()
	g.usual = debug.SetGCPercent(readingGarbage)
	g.percent = g.usual
	g.mu.Unlock()
	g.adapt()
	g.afterCollection()
}

// afterCollection adapts whenever the collector has run, by an object that it always collects.
func (g *garbage) afterCollection() {
	runtime.AddCleanup(&[64]byte{}, func(g *garbage) {
		if g.adapt() {
			g.afterCollection()
		}
	}, g)
}

// end sets what was set before begin.
func (g *garbage) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.usual != 0 {
		debug.SetGCPercent(g.usual)
		g.usual = 0
	}
}

// look notes when everything has been read.
func (g *garbage) look(s *inspect.Snapshot) {
	if s == nil || beingRead(s, shownResources...) {
		return
	}
	g.mu.Lock()
	if g.read.IsZero() {
		g.read = time.Now()
		g.changed = g.read
	}
	g.mu.Unlock()
	g.adapt()
}

// adapt looks at how much is in use. It returns false when the program does not decide how much garbage there may be.
func (g *garbage) adapt() bool {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.usual == 0 {
		return false
	}
	percent := garbageFor(live[0].Value.Uint64(), g.usual, g.read.IsZero())
	if percent < g.percent || percent > g.percent*5/4 {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
	return true
}

// garbageFor returns how many percent of so many bytes may be garbage: as usual, or more where that is little, or less where it
// is much.
func garbageFor(live uint64, usual int, reading bool) int {
	live = max(1, live)
	percent := max(usual, int(min(cheapGarbage*100/live, mostGarbage))) //nolint:gosec // at most mostGarbage
	if reading {
		percent = max(usual, readingGarbage)
	}
	room := (plentiful - min(live, plentiful)) * 100 / live
	return min(percent, max(leastGarbage, int(min(room, mostGarbage)))) //nolint:gosec // at most mostGarbage
}

// giveBack gives memory back to the system once, when what follows from the first view of everything has been worked out: all that
// takes more than what it leaves behind. It is given how long the program has worked.
func (g *garbage) giveBack(now time.Time, worked time.Duration) tea.Cmd {
	g.mu.Lock()
	defer g.mu.Unlock()
	if worked != g.worked {
		g.worked, g.changed = worked, now
	}
	if g.usual == 0 || g.given || g.read.IsZero() || now.Sub(g.changed) < resting && now.Sub(g.read) < restless {
		return nil
	}
	g.given = true
	return func() tea.Msg {
		debug.FreeOSMemory()
		return nil
	}
}
