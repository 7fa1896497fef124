package cli

import (
	"testing"
	"time"
)

// TestGarbagePercent: what is small is collected as usual, and what is large does not double.
func TestGarbagePercent(t *testing.T) {
	for _, test := range []struct {
		live uint64 // MiB
		want int
	}{{0, 100}, {1, 100}, {410, 100}, {550, 49}, {660, 24}, {800, 20}, {820, 20}, {4000, 20}} {
		if got := garbagePercent(test.live<<20, time.Minute, time.Minute); got != test.want {
			t.Errorf("with %d MiB in use: %d %%, want %d %%", test.live, got, test.want)
		}
	}
	if got := garbagePercent(800<<20, time.Minute, time.Second); got != 60 {
		t.Errorf("in a cluster that never rests: %d %%, want 60 %%", got)
	}
	if got := garbagePercent(800<<20, time.Second, time.Second); got != 20 {
		t.Errorf("while it is read: %d %%, want 20 %%", got)
	}
}
