package tui

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestUsage holds the numbers of the header against the devices of the demo cluster, and counts what overlaps by what
// is left of its counters.
func TestUsage(t *testing.T) {
	all := demoSnapshot(t).Inventory()
	used, total := map[string]int{}, map[string]int{}
	devices := all.Devices()
	for i := range devices {
		d := &devices[i]
		total[d.ID.Driver]++
		if d.Held() {
			used[d.ID.Driver]++
		}
	}
	texts := map[string]string{}
	for _, u := range usageOf(all.Drivers) {
		if u.Devices.Used != used[u.Driver] || u.Devices.Total != total[u.Driver] {
			t.Errorf("%s: %d of %d used, want %d of %d", u.Driver, u.Devices.Used, u.Devices.Total, used[u.Driver], total[u.Driver])
		}
		texts[u.Driver] = screen.FreeOfDriver(&u.DriverStatus)
	}
	// Of the memory of the four GPUs 80Gi, 60Gi, 80Gi and 60Gi are taken, of 28 compute slices 24.
	for driver, want := range map[string]string{"gpu.example.com": "18/64", "fpga.example.com": "0/5", "nic.example.com": "13/18", "mig.example.com": "12%"} {
		if texts[driver] != want {
			t.Errorf("%s: %s, want %s", driver, texts[driver], want)
		}
	}
	mixed := driverUse{inspect.DriverStatus{
		Devices: inspect.DeviceCount{Total: 16, Used: 7, Free: 9, AtOnce: 9}, Whole: inspect.DeviceCount{Total: 8, Used: 6, Free: 2, AtOnce: 2},
		Counters: []inspect.CounterStatus{{Counter: "memory", Total: resource.MustParse("80Gi"), Left: resource.MustParse("60Gi")}},
	}}
	if text := screen.FreeOfDriver(&mixed.DriverStatus); text != "2/8+75%" || mixed.share() != 0.75 {
		t.Errorf("%s, %v; want 2/8+75%%, 0.75", text, mixed.share())
	}
}

// TestHeaderWhileReading: while the cluster is being read the header says of what there is more to come, and counts no devices of
// which it knows only some.
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
		if got := (frame{m}).healthText().String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		w := screen.NewWorld(t.Context(), 1, m.base)
		if _, ok := m.tally.take(m.tally.look(w)()); !ok || len(m.tally.now.usage) > 0 || len(m.tally.now.namespaces) == 0 {
			t.Errorf("while %v are being read: %v free, namespaces %v", reading, m.tally.now.usage, m.tally.now.namespaces)
		}
	}
}

// TestHeaderWithoutClaims: where not all claims could be read more devices may be taken, and the header says so.
func TestHeaderWithoutClaims(t *testing.T) {
	for state, want := range map[inspect.HealthState]string{inspect.Synced: "  free  gpu", inspect.Forbidden: "  free at most  gpu"} {
		m := newModel(t.Context(), Options{})
		m.base = demoSnapshot(t).WithHealth(map[inspect.Resource]inspect.Health{inspect.Claims: {State: state}})
		m.tally.take(m.tally.look(screen.NewWorld(t.Context(), 1, m.base))())
		if got := (frame{m}).usageLine(200).String(); !strings.HasPrefix(got, want) {
			t.Errorf("claims are %q: %q, want %q", state, got, want)
		}
	}
}
