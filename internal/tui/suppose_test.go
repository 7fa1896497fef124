package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
)

// Who holds a claim has to end for its release: what they take of a node besides devices is free as well, and no view says of
// the claim what is only so because of that.
func TestSupposingAReleaseEndsPods(t *testing.T) {
	d := drive(t, 140, 60, "causes")
	d.shows("ml pretrain-2")
	d.press(":", "ml/pretrain-1", "enter", "w")
	for _, artefact := range []string{"no pod uses it", "waiting for the scheduler"} {
		if row := line(d.frame(), "pretrain-1"); row == "" || strings.Contains(row, artefact) {
			t.Errorf("of the claim it says: %s", row)
		}
	}
	d.press("e")
	if frame := d.frame(); strings.Contains(frame, "no pod uses the claim") {
		t.Errorf("the explanation says what is only supposed:\n%s", frame)
	}
	d.press("esc", "7")
	if row := line(strings.ReplaceAll(d.frame(), "└ ", "▸ "), "pretrain-2"); row != "" {
		t.Errorf("a pod that is helped is stuck: %s", row)
	}
}

// The key goes to and fro also on a node that is only supposed, whose row goes.
func TestSupposingTheSameNodeAgain(t *testing.T) {
	d := drive(t, 120, 30, "nodes")
	d.press(":", "node gpu-a-02", "enter", "w", "down")
	if got := d.m.top().Selection().Name; got != "gpu-a-02-what-if-a" {
		t.Fatalf("the cursor is at %s", got)
	}
	for i, want := range []int{0, 1, 0, 1} {
		if d.press("w"); len(d.m.hypotheses) != want || want == 1 && d.m.hypotheses[0].Ref.Name != "gpu-a-02" {
			t.Errorf("after w number %d: %v", i+1, d.m.hypotheses)
		}
	}
}

// Rules that have nothing to do with what is supposed stay, and every device but the one keeps exactly its taints.
func TestSupposingKeepsOtherTaints(t *testing.T) {
	base := demoSnapshot(t)
	taints := func(s *inspect.Snapshot) map[string]string {
		out := map[string]string{}
		for _, d := range s.Devices() {
			out[d.ID.String()] = fmt.Sprint(d.State, d.Device.Taints)
		}
		return out
	}
	written := func() (text string) {
		for _, slice := range base.Objects().Slices {
			for i := range slice.Spec.Devices {
				text += fmt.Sprint(slice.Spec.Devices[i].Taints)
			}
		}
		return text
	}
	was, before := taints(base), written()
	for device, rules := range map[string]int{"gpu.example.com/gpu-a-03/gpu-5": 1, "gpu.example.com/gpu-a-04/gpu-1": 0} {
		s := applyAll(base, []screen.Change{{Kind: screen.IgnoreTaint, Ref: screen.Ref{Kind: screen.Device, Name: device}}})
		if got := len(s.Objects().TaintRules); got != rules {
			t.Errorf("%s: %d rules are left, want %d", device, got, rules)
		}
		for id, now := range taints(s) {
			if id == device && now != "Free[]" || id != device && now != was[id] {
				t.Errorf("%s tolerated: %s was %s and is %s", device, id, was[id], now)
			}
		}
	}
	if written() != before {
		t.Error("the cluster as it is was written to")
	}
}

// To tolerate the taints of one device takes rules out of the snapshot, and not from what is told of others.
func TestSupposingLeavesRulesToOthers(t *testing.T) {
	d := drive(t, 140, 40, "nodes")
	at := func(name string) {
		d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: name}})
	}
	at("gpu.example.com/gpu-a-04/gpu-2")
	d.press("w")
	at("gpu.example.com/gpu-a-04/gpu-1")
	d.shows("WHAT IF", "by the rule firmware-gpu-a-04")
	d.press("2")
	d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Device, Name: "gpu.example.com/gpu-a-04/gpu-1"}})
	d.shows("WHAT IF", "set by")
}
