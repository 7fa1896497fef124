package cel

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestNarrowing: words narrow the list of devices, and nothing else. The device under the cursor stays,
// another selector is narrowed too, and without words all are listed again.
func TestNarrowing(t *testing.T) {
	w := screentest.Demo(t)
	s := New()
	screentest.Settle(w, s, screen.Shown{})
	names := func() (out []string) {
		for i := range s.list.rows.Len() {
			out = append(out, s.list.rows.a.lab.devices[s.list.rows.order[i]].ID.String())
		}
		return out
	}
	all, matched := len(names()), s.list.a.trial.Matched
	screentest.Settle(w, s, screen.Filter{Text: "gpu-a-02 !gpu-0"})
	if got := names(); len(got) != 8+2-1 {
		t.Errorf("%q", got) // eight GPUs without the first, and two NICs
	}
	if s.list.a.trial.Matched != matched || s.State().Status != "9 of 127 devices" || s.State().Filter != "gpu-a-02 !gpu-0" {
		t.Errorf("%d match, and the status is %q", s.list.a.trial.Matched, s.State().Status)
	}
	screentest.Settle(w, s, screentest.Key("j"))
	before := s.State().Selection
	screentest.Settle(w, s, screen.Filter{Text: "gpu-a-02 gpu.example.com"})
	if s.State().Selection != before || before.Name != "gpu.example.com/gpu-a-02/gpu-2" {
		t.Errorf("the cursor was at %v, and is at %v", before, s.State().Selection)
	}
	s.ed.Set(`device.driver == "nic.example.com"`)
	screentest.Settle(w, s, s.tried.try(w, s.ed.Text())())
	if got := names(); len(got) != 8 {
		t.Errorf("with another selector it lists %q", got)
	}
	if text := s.View(w, 80, 19); strings.Contains(text, "panic") {
		t.Error(text)
	}
	screentest.Settle(w, s, screen.Filter{Text: "NIC-1"})
	if got := names(); len(got) != 8 {
		t.Errorf("%q", got)
	}
	s.ed.Set("")
	screentest.Settle(w, s, s.tried.try(w, s.ed.Text())())
	screentest.Settle(w, s, screen.Filter{})
	if got := names(); len(got) != all {
		t.Errorf("%d of %d are listed", len(got), all)
	}
}
