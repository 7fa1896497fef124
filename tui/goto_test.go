package tui

import (
	"strings"
	"testing"
)

// TestPlaces: what ":" takes, in the words of kubectl and of k9s.
func TestPlaces(t *testing.T) {
	for text, want := range map[string]string{
		"pods": "[Pods]", "po": "[Pods]", "nodes": "[3 Nodes]", "classes": "[Classes]", "deviceclasses": "[Classes]",
		"templates": "[Templates]", "rules": "[Rules]", "devicetaintrules": "[Rules]", "drivers": "[Drivers]", "slices": "[Pools]",
		"ns": "[Namespaces]", "why": "[7 Causes]", "claim/train-0": "▸ ml train-0", "claim ml/train-0": "▸ ml train-0",
		"rc train-0": "▸ ml train-0", "pod/train-0": "── detail ml/train-0", "pod train-0": "── detail ml/train-0",
		"ns infer": "ns: infer", "namespace infer": "ns: infer", "class gpu.example.com": "── detail gpu.example.com",
		"driver nic.example.com": "── detail nic.example.com", "rule firmware-gpu-a-04": "── detail firmware-gpu-a-04",
		"pods infer": "ns: infer", "po infer": "[Pods]", "claims inf": "ns: infer", "usage all": "ns: all",
		"pool fabric": "── detail fpga.example.com/fabric", "gpu-b-03": "▸ gpu-b-03",
	} {
		t.Run(text, func(t *testing.T) {
			d := drive(t, 120, 40, "storage")
			d.press(":", text, "enter")
			d.shows(want)
		})
	}
}

func TestUnknownPlace(t *testing.T) {
	d := drive(t, 120, 40, "storage")
	d.press(":", "nosuchthing")
	d.shows("no such name")
	d.press("enter")
	d.shows(`no such name: "nosuchthing"`, "[5 Storage]")
}

// TestMisspeltPlace: what is spelt like it is offered, and told.
func TestMisspeltPlace(t *testing.T) {
	for text, want := range map[string]string{
		"ndoes": "did you mean nodes?", "claim trian-0": "did you mean claim ml/train-0", "pod llm-70b-9": "did you mean pod infer/llm-70b-",
		"clasess": "did you mean classes?", "gpu-b-93": "did you mean node gpu-b-03",
	} {
		d := drive(t, 120, 40, "storage")
		d.press(":", text)
		d.shows("no such name; ↓ takes the closest spelling")
		d.press("enter")
		d.shows("no such name: ", want, "[5 Storage]")
	}
	d := drive(t, 120, 40, "storage")
	d.press(":", "ndoes", "down", "enter")
	d.shows("[3 Nodes]")
}

// TestPlacesAreChosen: ↓ and Tab choose one of those that are listed, ↑ goes back to what was typed.
func TestPlacesAreChosen(t *testing.T) {
	d := drive(t, 120, 40, "storage")
	d.press(":")
	d.shows("claims", "view, also key 1", "more")
	d.press("down", "tab")
	d.shows("▸ devices")
	d.press("up", "up")
	if strings.Contains(d.frame(), "▸ claims") {
		t.Errorf("what was typed cannot be come back to:\n%s", d.frame())
	}
	d.press("down", "down", "down", "enter")
	d.shows("[3 Nodes]")
	d.press(":", "train", "down", "down")
	d.shows("▸ claim")
	d.press("enter")
	d.shows("[1 Claims]")
}

// TestTheOnlySuggestionIsTaken: n i ⏎ is namespace infer.
func TestTheOnlySuggestionIsTaken(t *testing.T) {
	d := drive(t, 120, 30, "claims")
	d.press("n", "inf", "enter")
	d.shows("ns: infer")
	d.press("n")
	d.shows("all", "batch", "storage")
	d.press("down", "enter")
	d.shows("ns: all")
	d.press("n", "zzz", "enter")
	d.shows(`there is nothing to show in a namespace "zzz"`)
}
