package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	testwork "github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// recordedOnce is a log of twenty minutes of the demo cluster.
var recordedOnce = sync.OnceValues(func() ([]byte, error) {
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	life, err := demo.NewLife(1, features)
	if err != nil {
		return nil, err
	}
	r := history.NewRecorder(history.Bounds{}, time.Time{})
	var data []byte
	for s := life.Snapshot(); s.Time().Sub(demo.Now()) <= 20*time.Minute; s = life.Step() {
		blocks, err := r.Flush(s.Time())
		if err = errors.Join(err, r.Take(s)); err != nil {
			return nil, err
		}
		for _, b := range blocks {
			data = append(data, b.Data...)
		}
	}
	blocks, err := r.Flush(demo.Now().Add(20 * time.Minute))
	for _, b := range blocks {
		data = append(data, b.Data...)
	}
	return data, err
})

func openRecorded(t *testing.T) *history.Log {
	t.Helper()
	data, err := recordedOnce()
	if err != nil {
		t.Fatal(err)
	}
	l, err := history.Open(bytes.NewReader(data), int64(len(data)), "log", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// travelled starts at the end of a log.
func travelled(t *testing.T, width, height int, view string) *driver {
	t.Helper()
	l := openRecorded(t)
	s, err := l.Snapshot(context.Background(), l.Moments()-1)
	if err != nil {
		t.Fatal(err)
	}
	_, end := l.Span()
	source := NewLog(l, s.AsOf(end), l.Moments()-1, func(s *inspect.Snapshot) *inspect.Snapshot { return s })
	return start(t, Options{
		Source: source, Origin: "recorded", View: view, Profile: colorprofile.NoTTY, Clock: demo.Now, NoWriter: "this is a recorded cluster",
	}, width, height)
}

// TestGoldenTimeline pins a recorded cluster, at its end and before.
func TestGoldenTimeline(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 50}}[:testwork.Of(2, 1)] {
		for name, keys := range map[string][]string{"end": nil, "before": {"ctrl+left", "ctrl+left", "left", "left"}} {
			name = fmt.Sprintf("timeline-%s-%dx%d", name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				d := travelled(t, size[0], size[1], "claims")
				for _, key := range keys {
					d.press(key)
				}
				screentest.Compare(t, name, d.frame()+"\n")
			})
		}
	}
}

// TestTimelineShowsTheMoment: in every view the keys go to another moment, of which everything that is shown
// is, and back.
func TestTimelineShowsTheMoment(t *testing.T) {
	pairs := [][2]string{{"left", "right"}, {"[", "]"}, {"shift+left", "shift+right"}, {"{", "}"}, {"ctrl+left", "ctrl+right"}, {"<", ">"}}
	for i, view := range Views() {
		if (i+2)%testwork.InFull(1, 6) != 0 {
			continue
		}
		t.Run(view, func(t *testing.T) {
			d := travelled(t, 100, 30, view)
			end := d.m.base
			for _, pair := range [][2]string{pairs[i%len(pairs)], pairs[(i+2)%len(pairs)]} {
				before := d.m.timeline.here
				if d.press(pair[0]); d.m.timeline.here.number >= before.number {
					t.Fatalf("%s leads from %d to %d", pair[0], before.number, d.m.timeline.here.number)
				}
				here := d.m.timeline.here
				if !d.m.world.Snapshot.Time().Equal(here.at) || !d.m.now().Equal(here.at) {
					t.Errorf("%s: the moment of %s is shown as of %s", pair[0], here.at, d.m.world.Snapshot.Time())
				}
				if d.press(pair[1]); d.m.timeline.here.number <= here.number {
					t.Errorf("%s leads from %d to %d", pair[1], here.number, d.m.timeline.here.number)
				}
			}
			for d.m.timeline.here.number < d.m.timeline.log.recording.Moments()-1 {
				d.press(">")
			}
			if !slices.Equal(d.m.base.Objects().Claims, end.Objects().Claims) && len(d.m.base.Objects().Claims) != len(end.Objects().Claims) {
				t.Error("the end is not what it was")
			}
			if d.press("right"); !strings.Contains(d.m.remark.Text, "the log ends here") {
				t.Errorf("at the end it says %q", d.m.remark.Text)
			}
		})
	}
}

// TestTimelineShowsRows: the rows, and not only the time above them, are those of the moment that a key leads
// to, and stay so while nobody presses one.
func TestTimelineShowsRows(t *testing.T) {
	for i, view := range []string{"claims", "devices", "nodes", "usage", "causes"} {
		if i%testwork.InFull(1, 3) != 0 {
			continue
		}
		t.Run(view, func(t *testing.T) {
			d := travelled(t, 160, 40, view)
			d.press("home")
			end := d.m.top().Plain(d.m.world, 0)
			d.press("<")
			d.press("<")
			want := rowsAt(t, view, d.m.timeline.here.number)
			if want == end {
				t.Fatal("the rows do not differ: this test shows nothing")
			}
			for range 2 {
				d.hear()
				if got := d.m.top().Plain(d.m.world, 0); got != want {
					t.Errorf("at moment %d it shows\n%s\nwant\n%s", d.m.timeline.here.number, got, want)
				}
			}
			for d.m.timeline.here.number < d.m.timeline.log.recording.Moments()-1 {
				d.press(">")
			}
			if d.hear(); d.m.top().Plain(d.m.world, 0) != end {
				t.Error("the end is not what it was")
			}
		})
	}
}

// rowsAt is what a view of one moment of the log shows, which nobody has travelled to.
func rowsAt(t *testing.T, view string, moment int) string {
	t.Helper()
	l := openRecorded(t)
	s, err := l.Snapshot(context.Background(), moment)
	if err != nil {
		t.Fatal(err)
	}
	at, err := l.Time(context.Background(), moment)
	if err != nil {
		t.Fatal(err)
	}
	d := start(t, Options{Source: Static(s.AsOf(at)), Origin: "recorded", View: view, Profile: colorprofile.NoTTY, Clock: demo.Now}, 160, 40)
	return d.m.top().Plain(d.m.world, 0)
}

// TestSourcesRest: a source that has said everything says nothing more. If it did, the program would never
// rest.
func TestSourcesRest(t *testing.T) {
	log := openRecorded(t)
	first := demoSnapshot(t)
	for name, source := range map[string]func() Source{
		"a file": func() Source { return Static(first) },
		"a log":  func() Source { return NewLog(log, first, 0, func(s *inspect.Snapshot) *inspect.Snapshot { return s }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			m := newModel(ctx, Options{Source: source(), Clock: demo.Now})
			if _, ok := m.wait()().(arrived); !ok {
				t.Errorf("%s says nothing at first", name)
			}
			ended := make(chan tea.Msg, 1)
			go func() { ended <- m.wait()() }()
			synctest.Wait()
			select {
			case msg := <-ended:
				t.Errorf("%s says %T again", name, msg)
			default:
			}
			cancel()
			synctest.Wait()
		})
	}
}

// TestTimelineKeysAreKeys: what the keys of screens say of them is still true, and each does something or
// says why not.
func TestTimelineKeysAreKeys(t *testing.T) {
	d := travelled(t, 100, 30, "nodes")
	d.press("left")
	d.press("?")
	if frame := d.frame(); !strings.Contains(frame, "the change before") {
		t.Errorf("the help does not tell of the time line:\n%s", frame)
	}
	d.press("esc")
	for _, k := range d.m.screenKeys() {
		for _, press := range k.Press {
			if _, taken := d.m.timeline.keys().Find(press); taken {
				t.Errorf("%s is told to be %s, and goes through time", press, k.Name)
			}
		}
	}
	number := d.m.timeline.here.number
	d.m.popup = nil
	d.m.remark = screen.Say{}
	f := frame{d.m}
	if d.m.press(tea.KeyPressMsg{Code: tea.KeyLeft}); f.keyAt(2) != "left" || !d.m.timeline.travelling {
		t.Errorf("a click on the arrow presses %q", frame{d.m}.keyAt(2))
	}
	d.m.timeline.travelling = false
	d.send(screen.Go{View: "nodes", Ref: screen.Ref{Kind: screen.Node, Name: "gpu-a-02"}})
	d.press("l") // to the right, as the arrow does otherwise
	if d.m.timeline.here.number != number || d.m.state().Selection.Kind != screen.Device {
		t.Errorf("l leads to %v at %d", d.m.state().Selection, d.m.timeline.here.number)
	}
	d.press("/")
	d.press("a")
	d.press("left") // in what is typed
	if d.m.timeline.here.number != number {
		t.Error("an arrow in a text goes through time")
	}
}

// broken is a log that cannot be read.
type broken struct{ Recording }

func (broken) Step(context.Context, int, int) (int, error) {
	return 0, errors.New("reading log \x1b[31m: it is damaged")
}

// TestTimelineFails: what cannot be read is said, and what is shown stays.
func TestTimelineFails(t *testing.T) {
	d := travelled(t, 100, 30, "claims")
	d.m.timeline.log.recording = broken{d.m.timeline.log.recording}
	before := d.m.timeline.here
	d.press("left")
	if frame := d.frame(); !strings.Contains(frame, "it is damaged") || strings.Contains(frame, "\x1b[31m") || d.m.timeline.here != before {
		t.Errorf("it is not said:\n%s", frame)
	}
	d.press("left") // not stuck
	if d.m.timeline.travelling {
		t.Error("it travels for ever")
	}
}

// TestTimelineForgets: what had not happened yet is not told as the past.
func TestTimelineForgets(t *testing.T) {
	d := travelled(t, 100, 30, "changes")
	for range 5 {
		d.press("left")
	}
	for ref, events := range d.m.world.History.Events {
		for _, e := range events {
			if e.Time.After(d.m.base.Time()) {
				t.Errorf("%v: %s at %s, and it is %s", ref, e.Text, e.Time, d.m.base.Time())
			}
		}
	}
	for range 4 {
		d.press("right")
	}
	if len(d.m.world.History.Events) == 0 {
		t.Error("nothing has happened by four changes")
	}
}
