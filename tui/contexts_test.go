package tui

import (
	"errors"
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestContexts: ":ctx" lists the clusters of the kubeconfig, and the one that is chosen is left for. One that
// is shown, or cannot be used, is not.
func TestContexts(t *testing.T) {
	begin := func() *driver {
		return start(t, Options{
			Source: Static(demoSnapshot(t)), Profile: colorprofile.NoTTY, Clock: demo.Now, View: "storage", Asked: askedOfDemo,
			Contexts: []string{"home", "prod-east", "prod-west"}, Context: "home",
			CheckContext: func(name string) error {
				if name == "prod-west" {
					return errors.New("no such user")
				}
				return nil
			},
		}, 120, 40)
	}
	for name, tc := range map[string]struct {
		keys []string
		next string
		says string
	}{
		"chosen of the list":    {[]string{":", "ctx", "enter", "down", "enter"}, "prod-east", ""},
		"typed in the list":     {[]string{":", "contexts", "enter", "east", "enter"}, "prod-east", ""},
		"named at once":         {[]string{":", "ctx prod-east", "enter"}, "prod-east", ""},
		"the one that is shown": {[]string{":", "context home", "enter"}, "", `context "home" is shown already`},
		"one that is broken":    {[]string{":", "ctx prod-west", "enter"}, "", `context "prod-west" cannot be used: no such user`},
		"none":                  {[]string{":", "ctx nowhere", "enter"}, "", "no such name"},
	} {
		t.Run(name, func(t *testing.T) {
			d := begin()
			d.press(tc.keys...)
			if d.m.next != tc.next {
				t.Errorf("goes to %q, want %q\n%s", d.m.next, tc.next, d.frame())
			}
			d.shows(tc.says)
		})
	}
	d := begin()
	d.press(":", "ctx", "enter")
	d.shows("home", "the cluster that is shown", "prod-west", "another cluster")
	d = drive(t, 120, 40, "claims") // the demo has no kubeconfig
	d.press(":", "ctx", "enter")
	d.shows("no such name")
}

// TestLeavingAgain: who first goes to another context, is told that something is being written, and then
// quits, quits.
func TestLeavingAgain(t *testing.T) {
	d := drive(t, 120, 40, "claims")
	d.m.leave("prod")
	if d.press("q"); d.m.next != "" {
		t.Errorf("q goes to %q", d.m.next)
	}
}
