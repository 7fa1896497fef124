package objects_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/detail"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/objects"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestPanel: what the page about an object says stands below its list, or beside it where there is room, and
// follows the cursor. Of no object it says nothing.
func TestPanel(t *testing.T) {
	w := screentest.Demo(t)
	for _, size := range [][2]int{{80, 19}, {200, 45}} {
		s := objects.NewRules(detail.About)
		screentest.Settle(w, s, screen.Shown{})
		text := s.View(w, size[0], size[1])
		for _, want := range []string{"example.com/maintenance=firmware:NoSchedule", "Taints 8 devices", "dev/notebook-ana does not"} {
			if !strings.Contains(text, want) {
				t.Errorf("%v lacks %q:\n%s", size, want, text)
			}
		}
	}
	s := objects.NewPods(detail.About)
	screentest.Settle(w, s, screen.Shown{})
	if text := s.View(w, 80, 19); !strings.Contains(text, "── dev/thumbnails  ✗ refused") || !strings.Contains(text, "is not helpful") {
		t.Errorf("the message of the scheduler is cut:\n%s", text)
	}
	screentest.Settle(w, s, screentest.Key("j"))
	if text := s.View(w, 80, 19); !strings.Contains(text, "── dev/transcode-8k  ✗ refused") {
		t.Errorf("it does not follow the cursor:\n%s", text)
	}
	if text := s.View(w, 60, 10); strings.Contains(text, "──") {
		t.Errorf("a low screen has a panel:\n%s", text)
	}
	none := objects.NewRules(detail.About)
	empty := screentest.World(t, inspect.Objects{})
	screentest.Settle(empty, none, screen.Shown{})
	if text := strings.TrimSpace(none.View(empty, 200, 45)); !strings.HasSuffix(text, "no rules") {
		t.Errorf("of nothing it says\n%s", text)
	}
}

// TestPoolsOfOneNode: pools of several drivers have the name of their node, so the driver is shown on any
// screen; and numbers in names count by value.
func TestPoolsOfOneNode(t *testing.T) {
	w := screentest.Demo(t)
	s := objects.NewPools(detail.About)
	screentest.Settle(w, s, screen.Shown{})
	for line := range strings.Lines(s.View(w, 60, 40)) {
		if strings.Contains(line, "gpu-a-01") && !strings.Contains(line, "gpu  ") && !strings.Contains(line, "nic  ") {
			t.Errorf("of which driver is %q?", line)
		}
	}
	o := *w.Snapshot.Objects()
	o.Slices = slices.Clone(o.Slices)
	for _, name := range []string{"n10", "n2"} {
		slice := o.Slices[len(o.Slices)-1].DeepCopy()
		slice.Name, slice.Spec.Driver, slice.Spec.Pool.Name, slice.Spec.Pool.ResourceSliceCount = name, "zz.example.com", name, 1
		o.Slices = append(o.Slices, slice)
	}
	w = screentest.World(t, o)
	s = objects.NewPools(detail.About)
	screentest.Settle(w, s, screen.Shown{})
	if text := s.Plain(w, 0); strings.Index(text, " n2 ") > strings.Index(text, " n10 ") || !strings.Contains(text, " n2 ") {
		t.Errorf("n10 comes before n2:\n%s", text)
	}
}
