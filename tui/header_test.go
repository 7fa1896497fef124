package tui

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestHeaderWhileReading: while the cluster is being read the header says of what there is more to come, and
// counts no devices of which it knows only some.
func TestHeaderWhileReading(t *testing.T) {
	syncing := inspect.Health{State: inspect.Syncing}
	for want, reading := range map[string][]inspect.Resource{
		"◌ reading resourceslices":            {inspect.Slices},
		"◌ reading resourceslices and 2 more": {inspect.Nodes, inspect.Pods, inspect.Slices},
	} {
		health := map[inspect.Resource]inspect.Health{}
		for _, r := range reading {
			health[r] = syncing
		}
		m := newModel(t.Context(), Options{})
		m.base = demoSnapshot(t).WithHealth(health)
		if got := screen.HealthText(m.base, "").String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		w := screen.NewWorld(t.Context(), 1, m.base)
		if _, ok := m.tally.Take(m.tally.Look(w)()); !ok || len(m.tally.Now.Usage) > 0 || len(m.tally.Now.Namespaces) == 0 {
			t.Errorf("while %v are being read: %v free, namespaces %v", reading, m.tally.Now.Usage, m.tally.Now.Namespaces)
		}
	}
}

// TestHeaderWithoutClaims: where not all claims could be read more devices may be taken, and the header says
// so.
func TestHeaderWithoutClaims(t *testing.T) {
	for state, want := range map[inspect.HealthState]string{inspect.Synced: "  free  gpu", inspect.Forbidden: "  free at most  gpu"} {
		m := newModel(t.Context(), Options{})
		m.base = demoSnapshot(t).WithHealth(map[inspect.Resource]inspect.Health{inspect.Claims: {State: state}})
		m.tally.Take(m.tally.Look(screen.NewWorld(t.Context(), 1, m.base))())
		if got := (frame{m}).usageLine(200).String(); !strings.HasPrefix(got, want) {
			t.Errorf("claims are %q: %q, want %q", state, got, want)
		}
	}
}
