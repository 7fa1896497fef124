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
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

const (
	// mostGarbage is how much garbage may be made before it is collected, in percent of what is in use, for a cluster that is
	// small, and readingGarbage while one is being read: what is in use grows then anyway.
	mostGarbage, readingGarbage = 400, 100
	// cheapGarbage is an amount of garbage that is not worth collecting, in bytes. To collect it takes a busy cluster of 5,000 nodes a
	// tenth of a second, in which keys wait for processors, and it has made that much in four.
	cheapGarbage = 256 << 20
	// plentiful is how large the heap may become, in bytes, before garbage is collected sooner than usual, and leastGarbage how
	// much there may be even then, in percent.
	plentiful, leastGarbage = 760 << 20, 20
	// resting is how long nothing may have been worked out before memory that nobody needs any more is given back, and restless how
	// long that is waited for after everything was read.
	resting, restless = 3 * time.Second, 30 * time.Second
	// worthwhile is how much more memory than the last time must have been taken, in bytes, and seldomWorthwhile where that was
	// little: more than the garbage that there may be anyway, or memory would be given back only to be taken again.
	worthwhile, seldomWorthwhile = 64 << 20, cheapGarbage + worthwhile
)

// garbage lets a program that has little in memory collect its garbage rarely, with a small cluster that was a third of all it
// did, and one that has much in memory often. The zero value does nothing.
type garbage struct {
	mu      sync.Mutex
	usual   int       // how much garbage the caller allows, in percent; 0 unless the program decides
	percent int       // that is set
	read    time.Time // when everything had been read; zero before that
	changed time.Time // when something was last seen to be worked out
	worked  time.Duration
	left    uint64 // the memory that was taken after some was given back, in bytes
}

// burden is what the program does and takes.
type burden struct {
	underWay bool // something is being worked out, or somebody presses keys
	done     time.Duration
	taken    uint64 // memory, in bytes
}

// burdenNow returns what the program does and takes now. touched is when a key was pressed last: to give memory back takes a moment,
// in which the next one would have to wait.
func burdenNow(touched time.Time) burden {
	taken := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(taken)
	return burden{screen.Working() || time.Since(touched) < resting, screen.Worked(), taken[0].Value.Uint64() - taken[1].Value.Uint64()}
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

// giveBack gives memory back to the system when what follows from the objects has been worked out, which takes more than it leaves
// behind, and nothing else has to be. Where that never happens it does so once.
func (g *garbage) giveBack(now time.Time, w burden) tea.Cmd {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.underWay || w.done != g.worked {
		g.worked, g.changed = w.done, now
	}
	rests := now.Sub(g.changed) >= resting || g.left == 0 && now.Sub(g.read) >= restless
	more := uint64(worthwhile)
	if g.left > 0 && g.left < plentiful/2 {
		more = seldomWorthwhile
	}
	if g.usual == 0 || g.read.IsZero() || !rests || w.taken < g.left+more {
		return nil
	}
	g.left = w.taken // until it is known how much is
	return func() tea.Msg {
		debug.FreeOSMemory()
		left := burdenNow(time.Time{}).taken
		g.mu.Lock()
		defer g.mu.Unlock()
		g.left = left
		return nil
	}
}
