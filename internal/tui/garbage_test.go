package tui

import (
	"runtime/debug"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Little in memory lets more garbage lie about, a large cluster as much as usual, one that is being read too; and in the end it is
// as it was.
func TestGarbage(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 4 << 20: 400, 64 << 20: 200, 128 << 20: 100, 1 << 30: 50} {
		if got := garbageFor(live, 50); got != want {
			t.Errorf("with %d MiB in use, %d %% may be garbage, want %d", live>>20, got, want)
		}
	}
	before := debug.SetGCPercent(77)
	defer debug.SetGCPercent(before)
	now := func() int { p := debug.SetGCPercent(100); debug.SetGCPercent(p); return p }
	t.Setenv("GOGC", "")
	var g garbage
	g.begin()
	s := demoSnapshot(t)
	g.adapt(s.WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: {State: inspect.Syncing}}))
	if got := now(); got != 77 {
		t.Errorf("while pods are being read, %d %% may be garbage", got)
	}
	g.adapt(s)
	if got := now(); got <= 77 || got > mostGarbage || got != g.percent {
		t.Errorf("then %d %% may be garbage", got)
	}
	g.end()
	if got := now(); got != 77 {
		t.Errorf("in the end %d %% may be garbage", got)
	}
	t.Setenv("GOGC", "50")
	g = garbage{}
	g.begin()
	g.adapt(s)
	g.end()
	if got := now(); got != 77 {
		t.Errorf("against the will of the user, %d %% may be garbage", got)
	}
}
