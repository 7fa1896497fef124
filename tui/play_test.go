package tui

import (
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// player is a scribe for a cluster that is only played.
type player struct{ *scribe }

func (player) Refuses(action Action, ref screen.Ref) string {
	if ref.Kind == screen.Device {
		return ""
	}
	return "no " + string(action) + " here"
}

// TestOnlyAPlayerReleasesAndTaints: no other Writer has keys for it.
func TestOnlyAPlayerReleasesAndTaints(t *testing.T) {
	d := drive(t, 120, 30, "nodes")
	s := &scribe{}
	d.m.options.Writer = s
	has := func(action Action) bool {
		return slices.ContainsFunc(d.m.keys(), func(k screen.Key) bool { return k.Name == string(action) })
	}
	if has(Release) || has(Taint) {
		t.Error("keys that would end pods and taint devices of a real cluster")
	}
	d.press("R", "T")
	d.shows("no such key: T")
	d.m.options.Writer = player{s}
	d.press("R")
	d.shows("R release: no release here")
	d.press("enter")
	d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-02/gpu-0"}})
	d.press("T")
	d.shows("status of taint gpu.example.com/gpu-a-02/gpu-0")
	d.press("esc", "R", "esc")
	if want := []string{"taint gpu.example.com/gpu-a-02/gpu-0", "release gpu.example.com/gpu-a-02/gpu-0"}; !slices.Equal(s.planned, want) {
		t.Errorf("planned %q, want %q", s.planned, want)
	}
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-0"}})
	d.press("w", "3")
	d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-02/gpu-0"}})
	d.press("T")
	d.shows("not while something is supposed")
	if len(s.written) > 0 {
		t.Errorf("written: %q", s.written)
	}
}
