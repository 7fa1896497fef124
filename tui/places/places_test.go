package places

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// TestPlannedPutsTheNameFirst: who types all of a name means that object, and no other that has it in its
// name.
func TestPlannedPutsTheNameFirst(t *testing.T) {
	x := &Index{Plans: map[screen.Page][]screen.Kind{
		screen.Drain: {screen.Node}, screen.Lose: {screen.Node}, screen.Delete: {screen.Namespace}, screen.Taint: {screen.Device},
	}}
	var all []Place
	for _, name := range []string{"ab", "b", "bc"} {
		all = append(all, Place{Text: "node " + name, Ref: screen.Ref{Kind: screen.Node, Name: name}})
	}
	for _, text := range []string{"drain b", "plan drain b", "drain node b", "drain node/b", "lose no b"} {
		if got := x.planned(all, text); len(got) != 3 || got[0].Ref.Name != "b" {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, text := range []string{"drain", "delete b", "taint b", "drain x", "node b"} {
		if got := x.planned(all, text); len(got) > 0 {
			t.Errorf("%s: %v", text, got)
		}
	}
}
