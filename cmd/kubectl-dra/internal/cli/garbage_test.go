package cli

import "testing"

// TestGarbagePercent: what is small is collected as usual, and what is large does not double.
func TestGarbagePercent(t *testing.T) {
	for _, test := range []struct {
		live uint64 // MiB
		want int
	}{{0, 100}, {1, 100}, {380, 100}, {550, 38}, {600, 26}, {760, 20}, {820, 20}, {4000, 20}} {
		if got := garbagePercent(test.live << 20); got != test.want {
			t.Errorf("with %d MiB in use: %d %%, want %d %%", test.live, got, test.want)
		}
	}
}
