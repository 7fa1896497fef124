package tui

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// driver presses keys and looks at frames, as a user would, without a terminal.
type driver struct {
	*testing.T
	m *model
	// later is what waits for time to pass.
	later []func(time.Time) tea.Msg
}

// demoOnce is the demo cluster; a Snapshot is never written, so all tests share it.
var demoOnce = sync.OnceValues(func() (*inspect.Snapshot, error) {
	objects, err := demo.Objects()
	if err != nil {
		return nil, err
	}
	on := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(objects) {
		on[gate] = true
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(on)
	return inspect.New(objects, demo.Config(features)), nil
})

func demoSnapshot(t testing.TB) *inspect.Snapshot {
	t.Helper()
	s, err := demoOnce()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// askedOfDemo is how the program asks about the demo cluster.
var askedOfDemo = remedy.Asked{Args: []string{"--demo"}, Demo: true}

// drive starts on the demo cluster, without colours.
func drive(t *testing.T, width, height int, view string) *driver {
	t.Helper()
	options := Options{
		Source: Static(demoSnapshot(t)), Origin: "demo", Cluster: "demo", View: view, Profile: colorprofile.NoTTY,
		Clock: demo.Now, NoWriter: "the demo cluster cannot be written", Asked: askedOfDemo,
	}
	return start(t, options, width, height)
}

// start shows the first snapshot of a source.
func start(t *testing.T, options Options, width, height int) *driver {
	t.Helper()
	d := &driver{T: t}
	options.tick = func(_ time.Duration, msg func(time.Time) tea.Msg) tea.Cmd {
		d.later = append(d.later, msg)
		return nil
	}
	d.m = newModel(context.Background(), options)
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	settle(d.m, d.m.update(d.m.top(), screen.Shown{}))
	d.send(d.m.wait()())
	return d
}

// alive starts on a demo cluster that lives when it is told to; its clock goes on by five seconds with each
// look.
func alive(t *testing.T, options Options, width, height int) (*driver, *demo.Life) {
	t.Helper()
	life, err := demo.NewLife(1, demoSnapshot(t).Features())
	if err != nil {
		t.Fatal(err)
	}
	at := demo.Now()
	options.Source, options.Origin, options.Cluster, options.Asked = Static(life.Snapshot()), "demo", "demo", askedOfDemo
	options.Clock = func() time.Time { at = at.Add(5 * time.Second); return at }
	return start(t, options, width, height), life
}

// demoLoad is what the priority levels of the demo cluster are doing.
func demoLoad(t *testing.T) *demo.Load {
	t.Helper()
	load, err := demo.NewLoad()
	if err != nil {
		t.Fatal(err)
	}
	return load
}

// pass lets the time pass that something waits for.
func (d *driver) pass() {
	d.Helper()
	later := d.later
	d.later = nil
	for _, msg := range later {
		d.send(msg(d.m.now()))
	}
}

// send delivers a message and does all the work that follows from it, but for waiting.
func (d *driver) send(msg tea.Msg) {
	d.Helper()
	if a, ok := msg.(arrived); ok {
		open := d.m.openCauses(a.snapshot)
		d.m.base = a.snapshot
		settle(d.m, tea.Batch(d.m.rebuildWorld(), open))
		return
	}
	_, cmd := d.m.Update(msg)
	settle(d.m, cmd)
}

// hear shows what the source has to say, if that is anything.
func (d *driver) hear() {
	d.Helper()
	select {
	case s, ok := <-d.m.options.Source.Updates():
		if ok {
			d.send(arrived{s})
		}
	default:
	}
}

// press presses keys, named as Bubble Tea names them; any other word is typed. Then the source is heard.
func (d *driver) press(keys ...string) {
	d.Helper()
	for _, key := range keys {
		if k, ok := namedKeys[key]; ok {
			d.send(tea.KeyPressMsg(k))
			continue
		}
		if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
			d.send(tea.KeyPressMsg{Code: rune(letter[0]), Mod: tea.ModCtrl})
			continue
		}
		for _, r := range key {
			d.send(tea.KeyPressMsg{Text: string(r), Code: r})
		}
	}
	d.hear()
}

var namedKeys = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab}, "up": {Code: tea.KeyUp},
	"down": {Code: tea.KeyDown}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp}, "home": {Code: tea.KeyHome},
	"end": {Code: tea.KeyEnd}, "backspace": {Code: tea.KeyBackspace}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"shift+left": {Code: tea.KeyLeft, Mod: tea.ModShift}, "shift+right": {Code: tea.KeyRight, Mod: tea.ModShift},
	"ctrl+left": {Code: tea.KeyLeft, Mod: tea.ModCtrl}, "ctrl+right": {Code: tea.KeyRight, Mod: tea.ModCtrl},
	"space": {Code: tea.KeySpace, Text: " "}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift},
}

// frame returns what is on the screen, after a check that it has the right size.
func (d *driver) frame() string {
	d.Helper()
	frame := d.m.View().Content
	lines := strings.Split(frame, "\n")
	if len(lines) != d.m.height {
		d.Errorf("the frame has %d lines, the screen %d", len(lines), d.m.height)
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > d.m.width {
			d.Errorf("line %d has %d columns, the screen %d:\n%s", i, w, d.m.width, line)
		}
	}
	return frame
}

// shows fails the test if a text is not on the screen.
func (d *driver) shows(texts ...string) {
	d.Helper()
	frame := d.frame()
	for _, text := range texts {
		if !strings.Contains(squeezed(frame), squeezed(text)) {
			d.Errorf("%q is not on the screen:\n%s", text, frame)
		}
	}
}

// squeezed puts one blank in place of several: how wide columns are is what golden files are for.
func squeezed(s string) string { return manyBlanks.ReplaceAllString(s, " ") }

var manyBlanks = regexp.MustCompile(` {2,}`)

// silent is a source that never says anything.
type silent struct{}

func (silent) Updates() <-chan *inspect.Snapshot { return nil }
