package tui

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/poison"
)

// TestNoTextReachesTheScreen plants hostile text in every field of the objects of the demo cluster and looks
// at every page.
func TestNoTextReachesTheScreen(t *testing.T) {
	worlds := poison.Plant(func() inspect.Objects {
		objects, err := demo.Objects()
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}, poison.Text)
	for i, world := range worlds {
		if i%testwork.InFull(1, 12) != 0 {
			continue
		}
		config := inspect.Config{Revision: 1, Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()}
		d := start(t, Options{
			Source: Static(inspect.New(world.Objects, config)), Origin: "demo", Cluster: poison.Text, User: poison.Text,
			Profile: colorprofile.NoTTY, Clock: demo.Now, NoWriter: poison.Text,
		}, 120, 40)
		look := func(keys ...string) {
			d.press(keys...)
			if problem := poison.Check(d.frame()); problem != "" {
				t.Errorf("after %q, the screen shows %s", keys, problem)
			}
		}
		for _, view := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
			look(view)
			for range 1 + i%3 {
				look("down")
			}
			for _, page := range []string{"enter", "e", "f", "y", "m", "?", ":", "n", "w"} {
				look(page)
				look("esc")
			}
			look("p", "enter")
			look("v")
			look("esc")
		}
		look("/p", "enter")
		look("esc")
	}
}
