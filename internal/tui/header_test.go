package tui

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kubectl-dra/kubectl-dra/inspect"
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
		texts[u.Driver] = u.text()
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
	if mixed.text() != "2/8+75%" || mixed.share() != 0.75 {
		t.Errorf("%s, %v; want 2/8+75%%, 0.75", mixed.text(), mixed.share())
	}
}
