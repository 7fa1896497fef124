package nodes

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/scenario"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestCountsAgree holds the picture of each node, the numbers beside it and those of get nodes against each
// other, for the demo cluster and every scenario.
func TestCountsAgree(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	snapshots := map[string]*inspect.Snapshot{
		"demo": inspect.New(objects, inspect.Config{Health: demo.Health(), Features: inspect.DefaultFeatures(inspect.NewestMinor)}),
	}
	paths, err := filepath.Glob("../../../testdata/scenarios/*.txtar")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d scenarios: %v", len(paths), err)
	}
	for _, path := range paths {
		s, err := scenario.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		snapshots[s.Name] = s.Snapshot
	}
	for name, s := range snapshots {
		t.Run(name, func(t *testing.T) { agree(t, screen.NewWorld(t.Context(), 1, s)) })
	}
}

func agree(t *testing.T, w *screen.World) {
	t.Helper()
	rows, err := build(t.Context(), w, byState, true, screen.Ref{})
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]inspect.NodeStatus{}
	for _, n := range w.Snapshot.NodeStatuses() {
		status[string(n.Name)] = n
	}
	for i := range rows {
		r := &rows[i]
		if r.devices != status[r.name].Devices {
			t.Errorf("%s shows %+v, get nodes %+v", r.name, r.devices, status[r.name].Devices)
		}
		for _, p := range r.drivers {
			drawn := p.picture(drawing{chosen: -1}).String()
			of := func(marks string) (n int) {
				for _, mark := range marks {
					n += strings.Count(drawn, string(mark))
				}
				return n
			}
			if p.count.Total != len(p.devices) || p.count.Free != of("□") || p.count.Used < of("■◧") || p.count.Used > of("■◧▨✗") || p.count.Blocked != of("·") || p.count.Tainted > of("▨") || p.count.Unreachable > of("✗") || p.count.Used+p.count.Unusable()+p.count.Free != len(p.devices) {
				t.Errorf("%s draws %q for %+v of %s", r.name, drawn, p.count, p.driver)
			}
			if whole := status[r.name].Drivers[p.driver]; p.count.Total > whole.Total || p.count.Free > whole.Free {
				t.Errorf("%s has %+v of %s, get nodes says %+v", r.name, p.count, p.driver, whole)
			}
		}
	}
}

// TestEachStateHasItsCell: a state that is drawn as another one falsifies the picture.
func TestEachStateHasItsCell(t *testing.T) {
	seen := map[inspect.DeviceState]bool{}
	for _, c := range screen.Looks {
		seen[c.State] = true
	}
	want := map[inspect.DeviceState]bool{
		inspect.DeviceFree: true, inspect.DevicePartial: true, inspect.DeviceAllocated: true, inspect.DeviceBlocked: true, inspect.DeviceTainted: true, inspect.DeviceUnreachable: true,
	}
	if !maps.Equal(seen, want) {
		t.Errorf("cells for %v, want %v", seen, want)
	}
}
