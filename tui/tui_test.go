package tui

import (
	"context"
	"image/color"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

func TestKeysOfTheContract(t *testing.T) {
	d := drive(t, 80, 24, "")
	keys := d.m.keys()
	want := map[string]string{
		"tab": "next view", "/": "filter", "enter": "detail", "esc": "back", "e": "explain", "d": "detail", "A": "allocate", "D": "deallocate", "ctrl+z": "suspend",
		"f": "fit", "y": "yaml", "w": "what-if", "c": "cel lab", "?": "help", ":": "go to", "q": "quit",
		"1": "claims", "2": "devices", "3": "nodes", "4": "priority", "5": "storage", "6": "cel", "7": "causes", "8": "usage", "9": "changes",
	}
	for press, action := range want {
		if k, ok := keys.Find(press); !ok || k.Name != action {
			t.Errorf("%s means %q, want %q", press, k.Name, action)
		}
	}
	for _, v := range viewTable {
		if v.make == nil {
			continue
		}
		for _, k := range v.make(&Options{}).State().Keys {
			for _, press := range k.Press {
				if _, ok := keys.Find(press); ok {
					t.Errorf("view %s gives %s another meaning", v.name, press)
				}
			}
		}
	}
}

// TestStuckFirst: the first page of a stuck cluster says what is stuck and why. Where nothing is, or where a
// view was asked for, it is another one.
func TestStuckFirst(t *testing.T) {
	options := func(s *inspect.Snapshot) Options {
		return Options{Source: Static(s), Origin: "demo", Cluster: "demo", Profile: colorprofile.NoTTY, Clock: demo.Now, StuckFirst: true}
	}
	calm := demoSnapshot(t).With(func(o *inspect.Objects) { o.Pods = nil })
	for want, o := range map[string]Options{"[7 Causes]": options(demoSnapshot(t)), "[1 Claims]": options(calm)} {
		d := start(t, o, 100, 30)
		if !strings.Contains(d.frame(), want) {
			t.Errorf("%s is not open:\n%s", want, d.frame())
		}
	}
	asked := options(demoSnapshot(t))
	asked.View = "nodes"
	if d := start(t, asked, 100, 30); !strings.Contains(d.frame(), "[3 Nodes]") {
		t.Errorf("the view that was asked for is not open:\n%s", d.frame())
	}
	d := start(t, options(demoSnapshot(t)), 100, 30)
	d.press("e")
	if !strings.Contains(d.frame(), "ml/llama-405b-eval needs a device") {
		t.Errorf("e explains no pod:\n%s", d.frame())
	}
}

func TestASourceThatNeverAnswersStillHandlesKeys(t *testing.T) {
	m := newModel(context.Background(), Options{Source: silent{}, Clock: time.Now, Profile: colorprofile.NoTTY})
	d := &driver{T: t, m: m}
	d.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.shows("connecting", "waiting for the cluster")
	for _, key := range []string{"j", "s", "b", "g", "space", "*", "/", "x", "esc", ":", "claims", "enter", "2", "3", "4", "5", "6", "7", "1", "e", "w", "f", "y", "?", "esc", "n", "enter", "tab"} {
		d.press(key)
		d.frame()
	}
	d.shows("[2 Devices]")
	_, cmd := d.m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"})
	if cmd == nil {
		t.Fatal("q does nothing")
	}
	if _, ok := cmd().(tea.QuitMsg); !ok {
		t.Error("q does not quit")
	}
}

// The lab has a rule of its own: there is one below the tabs, and what there is to be said above it gets
// another.
func TestOneRuleAboveTheLab(t *testing.T) {
	d := drive(t, 80, 24, "cel")
	lines := strings.Split(d.frame(), "\n")
	if !strings.HasPrefix(lines[2], "── Selector") {
		t.Errorf("below the tabs is %q", lines[2])
	}
	d.press("1", ":", "ml/pretrain-0", "enter", "w", "6")
	lines = strings.Split(d.frame(), "\n")
	if !strings.HasPrefix(lines[2], "── WHAT IF") || !strings.HasPrefix(lines[3], "── Selector") {
		t.Errorf("below the tabs are %q and %q", lines[2], lines[3])
	}
}

// The number of the lab brings back what was typed there; only c loads what is selected.
func TestTheLabIsLoadedByItsKeyOnly(t *testing.T) {
	d := drive(t, 100, 30, "claims")
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "genome-align"}})
	d.press("6")
	d.shows("[6 CEL]", "none yet")
	d.press("1", "c")
	d.shows("[6 CEL]", "of claim dev/genome-align", "1 of 5 match")
	d.press("1", "6")
	d.shows("of claim dev/genome-align")
}

func TestSupposingThatAClaimIsReleased(t *testing.T) {
	d := drive(t, 120, 30, "")
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "pretrain-0"}})
	if got := d.m.state().Selection.Name; got != "pretrain-0" {
		t.Fatalf("the cursor is at %q", got)
	}
	d.shows("gpu ×8")
	d.press("w")
	d.shows("WHAT IF  ml/pretrain-0 released")
	if row := line(d.frame(), "pretrain-0 "); !strings.Contains(row, "released") {
		t.Errorf("the claim is still shown as it is: %s", row)
	}
	d.press("W")
	if strings.Contains(d.frame(), "WHAT IF") || !strings.Contains(line(d.frame(), "pretrain-0 "), "reserved") {
		t.Errorf("W does not forget:\n%s", d.frame())
	}
}

// line returns the line of a frame that has the cursor and contains a text.
func line(frame, text string) string {
	for l := range strings.SplitSeq(frame, "\n") {
		if strings.HasPrefix(l, "▸") && strings.Contains(l, text) {
			return l
		}
	}
	return ""
}

// Why a claim is stuck, and what to try, is there at once; all of it is one key away.
func TestWhyWithoutAKey(t *testing.T) {
	d := drive(t, 80, 24, "")
	d.shows("▸ dev        transcode-8k    ✗ stuck", "dev/transcode-8k needs a device of class fpga.example.com with model ==", "the only such devices are in pool fpga.example.com/shelf-2", "try: have the driver publish the missing slices")
	d.press("e")
	d.shows("these two together are in the way", "fpga.example.com/shelf-2 → 4 nodes")
}

// What pods tell of the cluster as it is, and the scheduler of them, is not said of what is only supposed.
func TestSupposingLeavesOutWhatIsSo(t *testing.T) {
	const bound, message = "without the scheduler", "cannot allocate all claims."
	d := drive(t, 120, 50, "")
	d.press(":", "ml/train-0", "enter", "e")
	d.shows(message)
	d.press("esc", ":", "ml/pretrain-1", "enter", "w", "e")
	d.shows("✓ ml/pretrain-1 can be allocated on 1 of 12 nodes")
	if frame := d.frame(); strings.Contains(frame, bound) {
		t.Errorf("the page says that the pod was put on a node %s:\n%s", bound, frame)
	}
	d.press("esc", ":", "ml/train-0", "enter", "e")
	d.shows("ml/train-0 needs 5 devices")
	if frame := d.frame(); strings.Contains(frame, message) {
		t.Errorf("the page says what the scheduler said before:\n%s", frame)
	}
}

// What a what-if brings is told apart from what is so already.
func TestSupposingShowsWhomItHelps(t *testing.T) {
	d := drive(t, 120, 30, "")
	d.press(":", "ml/pretrain-1", "enter", "w", "home")
	d.shows("1 helped, 44 claims", "if that were so; at the moment it is stuck")
	if row := line(d.frame(), "✓ helped"); row == "" {
		t.Errorf("a claim that is helped does not come first:\n%s", d.frame())
	}
	d.press("W")
	if strings.Contains(d.frame(), "helped") {
		t.Errorf("W does not forget:\n%s", d.frame())
	}
}

// The key for what-ifs, pressed again, takes back what it supposed: where the row is sorted elsewhere, where
// a filter hides it now, and where nobody has moved the cursor yet.
func TestSupposingAgainTakesBackTheSame(t *testing.T) {
	held := func(d *driver) (names []string) {
		for _, c := range d.m.hypotheses {
			names = append(names, c.String())
		}
		return names
	}
	d := drive(t, 120, 30, "devices")
	d.press("/", "tainted", "enter", "b", "b", "b", "b", "b", "b")
	first := d.m.state().Selection
	d.press("w")
	if got := held(d); len(got) != 1 || got[0] != "taints of "+first.String()+" tolerated" {
		t.Fatalf("supposed %v of %s", got, first)
	}
	d.press("down", "w")
	d.press("w", "w", "w") // back, and again, and back
	if got := held(d); len(got) != 1 || got[0] != "taints of "+first.String()+" tolerated" {
		t.Errorf("after what was supposed second is taken back: %v", got)
	}
	d = drive(t, 120, 40, "claims")
	d.press("/", "state=reserved", "enter", "home", "w")
	one := held(d)
	d.press("w")
	if got := held(d); len(one) != 1 || len(got) != 0 {
		t.Errorf("supposed %v, then %v", one, got)
	}
	d = drive(t, 120, 40, "nodes")
	d.press(":", "node gpu-a-01", "enter", "w", ":", "node gpu-b-04", "enter", "w")
	d.press(":", "node gpu-b-04-what-if-b", "enter", "w")
	if got := held(d); len(got) != 1 || got[0] != "one more node like gpu-a-01" {
		t.Errorf("after w on the node that was supposed second: %v", got)
	}
}

// The cursor stays at what is supposed, although its row is sorted elsewhere.
func TestTheCursorStaysAtWhatIsSupposed(t *testing.T) {
	d := drive(t, 120, 40, "devices")
	d.press("/", "gpu-a-04", "enter", "b", "b", "b", "b", "b", "b")
	d.press("s", "s", "s", "s", "s", "s", "S") // by state, those that are tainted first
	ref := d.m.state().Selection
	d.press("w")
	if got := d.m.state().Selection; got != ref {
		t.Errorf("the cursor was at %s and is at %s:\n%s", ref, got, d.frame())
	}
	if row := line(d.frame(), "▸"); !strings.Contains(row, "□ free") {
		t.Errorf("the device is not free now: %s", row)
	}
}

// Whom a what-if helps is known, wherever it was supposed, and whatever was supposed before.
func TestSupposingElsewhereShowsWhomItHelps(t *testing.T) {
	d := drive(t, 120, 30, "nodes")
	d.press(":", "node gpu-b-04", "enter", "w", "1")
	d.shows("1 helped, 44 claims", "pretrain-2         ✓ helped")
	d.press("W")
	d.press(":", "ml/pretrain-1", "enter", "w")
	d.ahead("W", "3")
	d.press(":", "node mig-01", "enter", "w", "1", "home")
	d.shows("pretrain-2         ✗ stuck", "whisper-large      ✓ helped")
}

// A node that is only supposed is drawn as what is supposed, and not taken together with real ones.
func TestASupposedNodeLooksSupposed(t *testing.T) {
	d := start(t, Options{Source: Static(demoSnapshot(t)), Origin: "demo", View: "nodes", Profile: colorprofile.TrueColor, Clock: demo.Now}, 120, 30)
	d.press(":", "node gpu-a-04", "enter", "w")
	th := d.m.world.Theme
	if frame := d.frame(); !strings.Contains(frame, th.Paint(styled.Supposed, "gpu-a-04-what-if-a")) || strings.Contains(frame, th.Paint(styled.Supposed, "gpu-a-03")) {
		t.Errorf("not as it should be:\n%q", frame)
	}
	d.press("z")
	d.shows("gpu-a-04-what-if-a")
}

// A jump to an object leaves the rows around it where they are if it is in sight.
func TestAJumpDoesNotScrollWithoutNeed(t *testing.T) {
	d := drive(t, 100, 30, "")
	d.frame()
	d.press(":", "ml/train-0", "enter")
	d.shows("transcode-8k")
	if line(d.frame(), "train-0") == "" {
		t.Errorf("the cursor is elsewhere:\n%s", d.frame())
	}
}

func TestFilter(t *testing.T) {
	d := drive(t, 100, 30, "")
	d.press("/", "state=pending ml train")
	d.shows("train-0", "of 44 claims")
	if strings.Contains(d.frame(), "dns-edge") {
		t.Errorf("a claim that does not match is shown:\n%s", d.frame())
	}
	d.press("enter", "esc")
	d.shows("44 claims")
	d.press("/", "zzzz")
	d.shows(`none of 44 claims matches "zzzz"`)
	d.press("ctrl+u", "age>100d")
	d.shows("none of 44 claims")
	d.press("ctrl+u", "age>=18d")
	d.shows("gpu-health", "1 of 44 claims")
	d.press("ctrl+u", "devices>8")
	d.shows("pretrain-1", "1 of 44 claims")
}

// TestRandomKeys presses keys in random order on screens of random sizes: nothing may panic, and no frame
// may be larger than its screen.
func TestRandomKeys(t *testing.T) {
	d := drive(t, 80, 24, "")
	rng := rand.New(rand.NewPCG(1, 2))
	keys := strings.Split("1 2 3 4 5 6 e f w W y a d c / : n ? C s S g j k G z x o + - v < > t p", " ")
	for name := range namedKeys {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	for range testwork.Of(1500, 300) {
		switch rng.IntN(12) {
		case 0:
			d.send(tea.WindowSizeMsg{Width: 1 + rng.IntN(260), Height: 1 + rng.IntN(90)})
		case 1:
			d.send(tea.MouseClickMsg{X: rng.IntN(d.m.width), Y: rng.IntN(d.m.height), Button: tea.MouseLeft})
		case 2:
			d.send(tea.MouseWheelMsg{X: 1, Y: rng.IntN(d.m.height), Button: tea.MouseWheelDown})
		case 3:
			d.send(tea.PasteMsg{Content: "日本\n\x1b[31m e\u0301 \u202e"})
		default:
			d.press(keys[rng.IntN(len(keys))])
		}
		d.frame()
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestBackgroundOfTheTerminal(t *testing.T) {
	m := newModel(context.Background(), Options{Source: silent{}, Clock: time.Now})
	if !m.dark {
		t.Error("the background is light before the terminal says so")
	}
	if m.Update(tea.BackgroundColorMsg{Color: color.White}); m.dark {
		t.Error("the answer of the terminal does not count")
	}
}

func TestOnceOfEveryView(t *testing.T) {
	for _, view := range Views() {
		var b strings.Builder
		err := Once(context.Background(), &b, Options{Source: Static(demoSnapshot(t)), Origin: "demo", View: view, Clock: demo.Now})
		if err != nil || b.Len() == 0 || strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: %v\n%q", view, err, b.String())
		}
	}
}
