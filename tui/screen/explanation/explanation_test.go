package explanation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/explanation"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// hanging is the cluster of a pod that hangs, with its Events.
func hanging(t *testing.T) (*screen.World, []inspect.Event) {
	t.Helper()
	file, err := txtar.ParseFile("../../../testdata/running/prepare-failed.txtar")
	if err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadBytes("prepare-failed", file.Files[1].Data, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return screentest.World(t, read.Objects), read.Events
}

// TestEvents: the page is there before the Events are, and says so; with them it says what has failed. While
// the cluster changes they are read again after a while only.
func TestEvents(t *testing.T) {
	w, events := hanging(t)
	var asked []inspect.ObjectRef
	times := 0
	w.Events = func(_ context.Context, objects []inspect.ObjectRef) (inspect.Events, error) {
		asked, times = objects, times+1
		return inspect.Events{List: events, Health: inspect.Health{State: inspect.Synced}}, nil
	}
	page := explanation.New(screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"})

	first := page.Update(w, screen.Shown{})
	if times > 0 {
		t.Fatal("Events were read in Update")
	}
	screentest.Settle(w, page, first())
	if text := page.Plain(w, 80); !strings.Contains(text, "could not prepare its device") {
		t.Errorf("with Events:\n%s", text)
	}
	want := []inspect.ObjectRef{
		{Kind: "Pod", Namespace: "ml", Name: "train-0", UID: "uid-train-0"},
		{Kind: "ResourceClaim", Namespace: "ml", Name: "train-0-gpu-x7k2p", UID: "uid-train-0-gpu-x7k2p"},
	}
	if !slices.Equal(asked, want) || times != 1 {
		t.Errorf("asked %d times, for %v", times, asked)
	}

	for _, step := range []struct {
		after time.Duration
		times int
	}{{time.Second, 1}, {14 * time.Second, 1}, {16 * time.Second, 2}, {17 * time.Second, 2}} {
		next := w.Next(w.Version+1, w.Snapshot)
		next.Now = w.Now.Add(step.after)
		if screentest.Settle(next, page, screen.Changed{}); times != step.times {
			t.Errorf("after %s: Events were read %d times, want %d", step.after, times, step.times)
		}
	}
}

// firstOf runs the first command of several.
func firstOf(t *testing.T, msg tea.Msg) tea.Msg {
	t.Helper()
	batch, ok := msg.(tea.BatchMsg)
	if !ok || len(batch) != 2 {
		t.Fatalf("%T is not what the answer and the Events come from", msg)
	}
	return batch[0]()
}

// TestEventsWaited: until Events come, it is said that they are being read; if they do not, why.
func TestEventsWaited(t *testing.T) {
	w, _ := hanging(t)
	w.Events = func(context.Context, []inspect.ObjectRef) (inspect.Events, error) {
		return inspect.Events{}, errors.New("no route\x1b to host")
	}
	page := explanation.New(screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"})
	batch := page.Update(w, screen.Shown{})
	answer := firstOf(t, batch())
	page.Update(w, answer)
	if text := page.Plain(w, 80); !strings.Contains(text, "! Events are still being read") || strings.Contains(text, "✓") {
		t.Errorf("before Events:\n%s", text)
	}
	screentest.Settle(w, page, batch())
	if text := page.Plain(w, 80); !strings.Contains(text, `reading Events: no route\x1b to host`) || strings.Contains(text, "\x1b") {
		t.Errorf("without Events:\n%s", text)
	}
}

// TestNoEventsUnderASupposition: what happened is about the cluster as it is.
func TestNoEventsUnderASupposition(t *testing.T) {
	w, _ := hanging(t)
	w.Events = func(context.Context, []inspect.ObjectRef) (inspect.Events, error) {
		t.Error("Events were read")
		return inspect.Events{}, nil
	}
	w.Supposed = []screen.Change{{}}
	page := explanation.New(screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"})
	screentest.Settle(w, page, screen.Shown{})
}
