package output

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/internal/clusters"
)

// TestTaintRulesOfDevices: of a taint that a DeviceTaintRule sets, get devices names the rule; of a driver's
// own, none.
func TestTaintRulesOfDevices(t *testing.T) {
	const gpu = "gpu.example.com/"
	for _, item := range Devices(clusters.Demo(t)).Items {
		d := item.(*Device)
		switch d.Driver + "/" + d.Pool + "/" + d.Device {
		case gpu + "gpu-a-04/gpu-3":
			want := []Taint{{
				Key: "example.com/maintenance", Value: "firmware", Effect: "NoSchedule",
				Rules: []explain.TaintRule{{Name: "firmware-gpu-a-04", Age: "150m", Manager: "firmware-updater"}},
			}}
			if diff := cmp.Diff(want, d.Taints); diff != "" {
				t.Error("(-want +got):\n" + diff)
			}
			if row := strings.Join(deviceTable.Row(d), " "); !strings.Contains(row, "NoSchedule by DeviceTaintRule firmware-gpu-a-04 (150m old, by firmware-updater)") {
				t.Errorf("the table says %q", row)
			}
		case gpu + "gpu-a-03/gpu-5":
			if len(d.Taints) != 1 || d.Taints[0].Rules != nil {
				t.Errorf("the driver's taint: %v", d.Taints)
			}
		}
	}
}
