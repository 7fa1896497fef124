package cel

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

const h100 = `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model.startsWith("H100")`

func TestTypingFindsDevices(t *testing.T) {
	d := drive(t, 100, 30)
	d.shows("none yet; 127 devices")
	d.press("i", h100)
	d.shows("32 of 127 match", "gpu-b-01/gpu-0", `model = "H100-SXM5-80GB"`)
	d.press("^z")
	if d.s.ed.Text() == h100 {
		t.Error("^Z does not take back what was typed")
	}
}

// What is proposed is taken with Tab, step by step.
func TestCompletion(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", "d")
	d.shows("▸device", "the device that is looked at")
	d.press("tab", "at", "tab")
	d.shows("gpu.example.com", "nic.example.com")
	d.press("gpu", "tab", ".", "mo", "tab", " ", "==", " ")
	d.shows(`"A100-SXM4-40GB"`)
	d.press("down", "enter")
	if want := `device.attributes["gpu.example.com"].model == "H100-SXM5-80GB"`; d.s.ed.Text() != want {
		t.Errorf("%s, want %s", d.s.ed.Text(), want)
	}
	d.press("esc")
	if d.s.State().Typing {
		t.Error("Esc does not end editing")
	}
}

// Of a selector that matches nothing, it is said which device comes nearest and by what it misses; that
// device comes first.
func TestNearMiss(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", h100, ` && device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi"))`)
	d.shows("0 of 127 match", `The nearest is "gpu-0" of gpu.example.com`, "(memory is 80Gi)", "▸ · gpu-b-01/gpu-0")
}

func TestWhatDoesNotCompileKeepsTheDevices(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", h100, " && (")
	d.shows("does not compile", "Devices of the selector before", "gpu-b-01/gpu-0")
}

func TestLoadingFromAnotherView(t *testing.T) {
	d := drive(t, 120, 40)
	d.send(screen.Selected{Ref: screen.Ref{Kind: screen.Class, Name: "gpu.example.com"}})
	d.shows("of deviceclass gpu.example.com", `device.driver == "gpu.example.com"`, "64 of 127 match")
	claim := func(n int) screen.Ref {
		for _, c := range d.w.Snapshot.Objects().Claims {
			ref := screen.Ref{Kind: screen.Claim, Namespace: c.Namespace, Name: c.Name}
			if found, _ := entriesOf(d.w.Snapshot, ref); len(found) == n {
				return ref
			}
		}
		t.Fatalf("no claim has %d selectors", n)
		return screen.Ref{}
	}
	one := claim(1)
	d.send(screen.Selected{Ref: one})
	d.shows("of claim "+one.String(), "behind class")
	none := claim(0)
	d.send(screen.Selected{Ref: none})
	if !strings.Contains(d.said, "has no CEL selectors") {
		t.Errorf("said %q", d.said)
	}
}

func TestMenuOfSelectors(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", "true", "esc", "l")
	d.choose("deviceclass rdma", 0)
	d.shows(`device.driver == "nic.example.com"`)
	d.press("i", "^z")
	if d.s.ed.Text() != "true" {
		t.Errorf("^Z gives %q back", d.s.ed.Text())
	}
}

func TestBehindAClass(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", `device.attributes["gpu.example.com"].model.startsWith("H100")`, "esc")
	d.shows("fails on 63")
	d.press("b")
	d.choose("gpu.example", 1)
	d.shows("behind class gpu.example.com", "32 of 64 match")
	d.press("b")
	d.choose("all classes", 0)
	d.shows("fails on 63")
}

func TestCopyAsYAML(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", h100, "esc", "Y")
	if !strings.Contains(d.copied, "selectors:\n- cel:\n    expression: |-\n      "+h100) {
		t.Errorf("copied %q", d.copied)
	}
}

// A newer snapshot is tried at once, and the cursor stays on its device.
func TestChangedWorld(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", h100, "esc", "j", "j", "j")
	before := d.s.State().Selection
	changed := d.w.Snapshot.With(func(o *inspect.Objects) {
		for i, slice := range o.Slices {
			if slice.Spec.Pool.Name == "gpu-b-01" && slice.Spec.Driver == "gpu.example.com" {
				o.Slices[i] = slice.DeepCopy()
				o.Slices[i].Spec.Devices = o.Slices[i].Spec.Devices[2:]
			}
		}
	})
	theme := d.w.Theme
	d.w = screen.NewWorld(d.w.Context(), 2, changed)
	d.w.Theme = theme
	d.send(screen.Changed{})
	d.shows("30 of 125 match")
	if d.s.State().Selection != before {
		t.Errorf("the cursor is on %v, want %v", d.s.State().Selection, before)
	}
}

func TestSupersededRunsAreDropped(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i")
	old := d.s.Update(d.w, tea.PasteMsg{Content: "true"})
	newer := d.s.Update(d.w, tea.PasteMsg{Content: " && false"})
	d.send(newer())
	d.send(old())
	d.shows("0 of 127 match")
}

// Text of a cluster that could steer a terminal, and text that is no text, is shown as what it is.
func TestUnsafeText(t *testing.T) {
	d := drive(t, 80, 24)
	d.send(tea.PasteMsg{Content: "\"\x1b[31m\u202e日本\xff\t\" == device.driver // e\u0301"})
	if frame := d.frame(); strings.ContainsAny(frame, "\x1b\u202e") {
		t.Errorf("%q", frame)
	}
	d.press("i", "left", "left", "home", "end", "up", "down")
	d.frame()
}

// What a lab looks like on a small and on a large screen.
func TestViews(t *testing.T) {
	tests := map[string]func(d *driver){
		"empty":   func(*driver) {},
		"matches": func(d *driver) { d.press("i", h100, "esc", "j") },
		"fails": func(d *driver) {
			d.press("i", `device.attributes["gpu.example.com"].model.startsWith("H100")`, "esc")
		},
		"wrong":    func(d *driver) { d.press("i", `device.capacity["gpu.example.com"].memory >= quantity("40Gi")`) },
		"complete": func(d *driver) { d.press("i", `device.attributes["gpu.example.com"].`) },
	}
	for name, act := range tests {
		for _, size := range [][2]int{{60, 15}, {80, 24}, {200, 50}} {
			t.Run(fmt.Sprintf("%s %dx%d", name, size[0], size[1]), func(t *testing.T) {
				d := drive(t, size[0], size[1])
				act(d)
				screentest.Golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), d.w, d.s, d.width, d.height)
			})
		}
	}
}

// Keys in random order on screens of random sizes: nothing panics, nothing is larger than its screen, and
// the cursor is where a character begins.
func TestRandomKeys(t *testing.T) {
	d := drive(t, 80, 24)
	rng := rand.New(rand.NewPCG(7, 7))
	keys := strings.Split(`i l Y b v j k g G ^o ^y ^g ^v ^n ^p ^z ^k ^u ^w ( ) " ' . [ ] ? & é / 1 = device. .attributes[" && true`, " ")
	for name := range named {
		keys = append(keys, name)
	}
	for range 1200 {
		switch rng.IntN(14) {
		case 0:
			d.width, d.height = 20+rng.IntN(200), 3+rng.IntN(60)
		case 1:
			d.send(tea.MouseClickMsg{X: rng.IntN(d.width), Y: rng.IntN(d.height), Button: tea.MouseLeft})
		case 2:
			d.press("esc")
		default:
			d.press(keys[rng.IntN(len(keys))])
		}
		d.frame()
		if d.s.ed.Cursor() < 0 || d.s.ed.Cursor() > len(d.s.ed.Text()) {
			t.Fatalf("the cursor is at %d of %q", d.s.ed.Cursor(), d.s.ed.Text())
		}
		if len(d.s.ed.Text()) > 300 {
			d.s.ed.Set("")
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

// What is said of a selector stands while it is tried on a newer world, and falls with the text that it is
// about.
func TestFindingsStayWhileTheClusterChanges(t *testing.T) {
	d := drive(t, 100, 30)
	d.press("i", `device.attributes["gpu.exmple.com"].model == "H100-SXM5-80GB"`, "esc")
	const said = "It fails on"
	d.shows(said)
	d.s.tried.try(d.w, d.s.ed.Text())
	d.shows(said)
	if d.s.State().Unsettled {
		t.Error("it is unsettled while the same text is tried again")
	}
	d.s.ed.Set("true")
	d.s.tried.try(d.w, d.s.ed.Text())
	if strings.Contains(d.frame(), said) || !d.s.State().Unsettled {
		t.Errorf("of another text it says\n%s", d.frame())
	}
}
