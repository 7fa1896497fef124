// Package screentest drives single screens in tests, without a root and without a terminal.
package screentest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// Update has golden files written anew instead of compared.
var Update = flag.Bool("update", false, "write golden files anew")

// World is a world of objects that were read at the time of the demo cluster, without colours.
func World(tb testing.TB, objects inspect.Objects) *screen.World {
	tb.Helper()
	s := inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor)))
	w := screen.NewWorld(context.Background(), 1, s)
	w.Theme, w.Now = theme.None(), demo.Now()
	return w
}

// Demo is the world of the demo cluster.
func Demo(tb testing.TB) *screen.World {
	tb.Helper()
	objects, err := demo.Objects()
	if err != nil {
		tb.Fatal(err)
	}
	return World(tb, objects)
}

// Settle gives messages to a screen, and then whatever its commands come back with, until it has nothing
// more to do. What the screen asks of the root is returned.
func Settle(w *screen.World, s screen.Screen, messages ...tea.Msg) (asked []tea.Msg) {
	return SettleWatched(w, s, func() {}, messages...)
}

// SettleWatched is Settle that looks after every message, as often as a frame may be drawn.
func SettleWatched(w *screen.World, s screen.Screen, look func(), messages ...tea.Msg) (asked []tea.Msg) {
	for len(messages) > 0 {
		msg := messages[0]
		messages = messages[1:]
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, cmd := range msg {
				if cmd != nil {
					messages = append(messages, cmd())
				}
			}
		case screen.Open, screen.Go, screen.Back, screen.Say, screen.Copy, screen.Choose, screen.Suppose, screen.Noted:
			asked = append(asked, msg)
		default:
			if cmd := Give(w, s, msg); cmd != nil {
				messages = append(messages, cmd())
			}
			look()
		}
	}
	return asked
}

// Give gives a message to a screen as the root does: a key does what it is said to do, unless text is typed.
func Give(w *screen.World, s screen.Screen, msg tea.Msg) tea.Cmd {
	if k, ok := msg.(tea.KeyPressMsg); ok && !s.State().Typing {
		cmd, _ := s.State().Keys.Do(w, k.String())
		return tea.Batch(cmd, s.Update(w, screen.Pressed{}))
	}
	return s.Update(w, msg)
}

// Key is the message of a key with one character, such as "g".
func Key(s string) tea.Msg {
	r := []rune(s)
	return tea.KeyPressMsg{Code: r[0], Text: s}
}

// Golden compares what a screen draws with a file in testdata, and checks that it keeps to the size.
func Golden(t *testing.T, name string, w *screen.World, s screen.Screen, width, height int) {
	t.Helper()
	view := s.View(w, width, height)
	lines := strings.Split(view, "\n")
	for _, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Errorf("%s: a line is %d columns wide, the screen %d: %q", name, n, width, line)
		}
	}
	if len(lines) > height {
		t.Errorf("%s: %d lines on a screen of %d", name, len(lines), height)
	}
	Compare(t, name, view+"\n")
}

// GoldenPlain compares the plain text of a screen with a file in testdata.
func GoldenPlain(t *testing.T, name string, w *screen.World, s screen.Screen, width int) {
	t.Helper()
	Compare(t, name, s.Plain(w, width)+"\n")
}

// Compare compares text without colours with a file in testdata, or writes the file with -update.
func Compare(t *testing.T, name, got string) {
	t.Helper()
	for i, line := range strings.Split(got, "\n") {
		if strings.Contains(line, "\x1b") {
			t.Fatalf("line %d is painted: %q", i, line)
		}
	}
	path := filepath.Join("testdata", name+".txt")
	if *Update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // golden files are for everybody to read
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got; go test -update writes it anew):\n%s", path, diff)
	}
}
