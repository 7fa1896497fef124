package tui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestMadeUpLevels pins what is shown of a cluster in which somebody deleted what every server needs: the
// levels exempt and catch-all, and their FlowSchemas, which it makes up.
func TestMadeUpLevels(t *testing.T) {
	mandatory := []string{"exempt", "catch-all"}
	s := demoSnapshot(t).With(func(o *inspect.Objects) {
		o.PriorityLevels = slices.DeleteFunc(o.PriorityLevels, func(l *flowcontrolv1.PriorityLevelConfiguration) bool { return slices.Contains(mandatory, l.Name) })
		o.FlowSchemas = slices.DeleteFunc(o.FlowSchemas, func(f *flowcontrolv1.FlowSchema) bool { return slices.Contains(mandatory, f.Name) })
	})
	for _, g := range []struct {
		name, view string
		at         screen.Ref
		keys       []string
	}{
		{"made-up-levels", "priority", screen.Ref{Kind: screen.PriorityLevel, Name: "catch-all"}, nil},
		{"detail-level-made-up", "priority", screen.Ref{Kind: screen.PriorityLevel, Name: "catch-all"}, []string{"enter"}},
		{"detail-exempt-made-up", "priority", screen.Ref{Kind: screen.PriorityLevel, Name: "exempt"}, []string{"enter"}},
		{"yaml-made-up", "priority", screen.Ref{Kind: screen.PriorityLevel, Name: "catch-all"}, []string{"y"}},
	} {
		for _, size := range [][2]int{{80, 24}, {120, 35}} {
			name := fmt.Sprintf("%s-%dx%d", g.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := start(t, Options{
					Source: Static(s), Origin: "demo", Cluster: "demo", View: g.view, Profile: colorprofile.NoTTY,
					Clock: demo.Now, NoWriter: "the demo cluster cannot be written",
				}, size[0], size[1])
				d.send(screen.Go{View: g.view, Ref: g.at})
				for _, key := range g.keys {
					d.frame() // what a key does may depend on what was drawn
					d.press(key)
				}
				frame := d.frame()
				if strings.Contains(frame, "is gone") {
					t.Error("it says that the level is gone")
				}
				screentest.Compare(t, name, frame+"\n")
			})
		}
	}
}
