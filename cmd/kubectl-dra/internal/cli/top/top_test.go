package top

import (
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// TestShownFirst: what a view shows is read first, and all of it is among what is read at all.
func TestShownFirst(t *testing.T) {
	for view, want := range map[string]inspect.Resource{
		"": inspect.Claims, "claims": inspect.Claims, "devices": inspect.Slices, "pools": inspect.Slices, "drivers": inspect.Slices, "nodes": inspect.Nodes, "pods": inspect.Pods,
	} {
		if !slices.Contains(shownFirst[view], want) || view != "" && !slices.Contains(tui.Views(), view) {
			t.Errorf("view %q does not begin with %s but with %v", view, want, shownFirst[view])
		}
	}
	for _, view := range tui.Views() {
		for _, r := range shownFirst[view] {
			if !slices.Contains(inspect.Resources(), r) {
				t.Errorf("view %q waits for %s, which is not read", view, r)
			}
		}
	}
}
