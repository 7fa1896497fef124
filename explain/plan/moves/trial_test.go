package moves

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestTrialRefuses: moves that do not work are refused, whoever proposes them.
func TestTrialRefuses(t *testing.T) {
	o := busyFarm(3, 6) // two devices are free on each node
	o.Templates = append(o.Templates, explaintest.Template("many", 4, ""))
	c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
	p, err := newProblem(t.Context(), c, explaintest.Worker("target", "many"), maxAsks)
	if err != nil {
		t.Fatal(err)
	}
	on0, on1 := p.on[0], p.on[1]
	for name, tt := range map[string]struct {
		steps []step
		node  int
		works bool
	}{
		"two to two nodes":             {[]step{{on0[0], 1}, {on0[1], 2}}, 0, true},
		"two to one node":              {[]step{{on0[0], 1}, {on0[1], 1}}, 0, true},
		"too few":                      {[]step{{on0[0], 1}}, 0, false},
		"room on another node":         {[]step{{on0[0], 1}, {on0[1], 2}}, 1, false},
		"three to a node with room":    {[]step{{on0[0], 1}, {on0[1], 1}, {on0[2], 1}}, 0, false},
		"to the node that they are on": {[]step{{on0[0], 0}, {on0[1], 0}}, 0, false},
		"into the room that was made":  {[]step{{on0[0], 2}, {on0[1], 2}, {on1[0], 0}}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := p.try(t.Context(), tt.steps, tt.node)
			if err != nil {
				t.Fatal(err)
			}
			if works := r != nil; works != tt.works {
				t.Errorf("it works: %t, want %t", works, tt.works)
			}
		})
	}
}
