package tui

import (
	"os"
	"runtime/debug"
	"runtime/metrics"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// mostGarbage is how much garbage may be made before it is collected, in percent of what is in use, for a cluster that is
	// small.
	mostGarbage = 400
	// cheapGarbage is an amount of garbage that is not worth collecting, in bytes.
	cheapGarbage = 128 << 20
)

// garbage lets a program that has little in memory collect its garbage rarely: with a small cluster that was a third of all it
// did. The zero value does nothing.
type garbage struct {
	percent int // that is set
	usual   int // as of the caller, for a large cluster
}

// begin finds out what is usual, unless the user has chosen something.
func (g *garbage) begin() {
	if os.Getenv("GOGC") == "" {
		g.usual = debug.SetGCPercent(100)
		debug.SetGCPercent(g.usual)
		g.percent = g.usual
	}
}

// end sets what was set before begin.
func (g *garbage) end() {
	if g.percent != 0 {
		debug.SetGCPercent(g.usual)
	}
}

// adapt looks at how much is in use. While a cluster is being read that is about to grow.
func (g *garbage) adapt(s *inspect.Snapshot) {
	if g.percent == 0 || s == nil {
		return
	}
	for _, r := range shownResources {
		if s.Health(r).State == inspect.Syncing {
			return
		}
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if percent := garbageFor(live[0].Value.Uint64(), g.usual); percent < g.percent || percent > g.percent*5/4 {
		g.percent = percent
		debug.SetGCPercent(percent)
	}
}

// garbageFor returns how many percent of so many bytes may be garbage: as usual at least.
func garbageFor(live uint64, usual int) int {
	return max(usual, int(min(cheapGarbage*100/max(1, live), mostGarbage))) //nolint:gosec // at most mostGarbage
}
