package tui

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestGoldenViews pins whole views, at every size that they are looked at.
func TestGoldenViews(t *testing.T) {
	defer func(zone *time.Location) { time.Local = zone }(time.Local)
	time.Local = time.UTC // changes have times of day
	for _, view := range []string{"usage", "changes", "queues"} {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {120, 35}, {200, 50}, {300, 100}} {
			name := fmt.Sprintf("%s-%dx%d", view, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				screentest.Compare(t, name, drive(t, size[0], size[1], view).frame()+"\n")
			})
		}
	}
}
