package tui

import (
	"testing"

	"github.com/charmbracelet/colorprofile"
)

// TestRejectingIsNoted: a level that begins to reject requests, while the view of priority levels is read, is
// a change.
func TestRejectingIsNoted(t *testing.T) {
	d, life := alive(t, Options{Profile: colorprofile.NoTTY, Levels: demoLoad(t)}, 100, 40)
	d.press("4")
	for range 40 {
		d.pass()
	}
	d.press("9", "/", "rejecting", "enter")
	d.send(arrived{life.Step()})
	d.shows("rejecting level workload-low", "rejected")
}
