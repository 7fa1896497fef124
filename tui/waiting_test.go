package tui

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// mute is a source that waits for a server.
type mute struct {
	updates chan *inspect.Snapshot
	err     error
}

func (m *mute) Updates() <-chan *inspect.Snapshot { return m.updates }
func (m *mute) Err() error                        { return m.err }
func (m *mute) Waiting() (server string, since time.Time, what []string) {
	return "https://cluster.example.com:6443", demo.Now().Add(-75 * time.Second), []string{"the version of the server", "resourceclaims.resource.k8s.io", "pods\x1b[31m"}
}

// TestWaitingSaysForWhat: until there is a snapshot, the screen tells for whom and what it waits, and since
// when.
func TestWaitingSaysForWhat(t *testing.T) {
	source := &mute{updates: make(chan *inspect.Snapshot, 1)}
	m := newModel(context.Background(), Options{
		Source: source, Profile: colorprofile.NoTTY, Clock: demo.Now,
		Remarks: func() []string { return []string{"open https://login.example.com and enter ABCD\x1b[2J"} },
	})
	d := &driver{T: t, m: m}
	for _, size := range []tea.WindowSizeMsg{{Width: 100, Height: 30}, {Width: 50, Height: 12}} {
		d.send(size)
		d.shows("Waiting for https://cluster.example.com:6443", "The credential plugin says:", "login.example.com")
		if strings.Contains(d.frame(), "\x1b[") {
			t.Errorf("an escape sequence reaches the screen: %q", d.frame())
		}
	}
	d.send(tea.WindowSizeMsg{Width: 100, Height: 30})
	d.shows("(1m15s); q quits", "◌ the version of the server", "◌ resourceclaims.resource.k8s.io", `pods\x1b[31m`)
	d.send(arrived{demoSnapshot(t)})
	if strings.Contains(d.frame(), "Waiting for") {
		t.Errorf("it still waits:\n%s", d.frame())
	}
}

// TestKeysWorkWhileWaiting: q and ctrl+c end a program whose server never answers.
func TestKeysWorkWhileWaiting(t *testing.T) {
	for key, want := range map[string]error{"q": nil, "\x03": ErrInterrupted} {
		keys, typing := io.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			done <- Run(ctx, Options{
				Source: &mute{updates: make(chan *inspect.Snapshot)}, Clock: demo.Now, Input: keys, Output: io.Discard,
				Environ: []string{"TERM=xterm-256color"}, Profile: colorprofile.ANSI256,
			})
		}()
		_, _ = typing.Write([]byte(key))
		select {
		case err := <-done:
			if !errors.Is(err, want) {
				t.Errorf("%q: it ended with %v", key, err)
			}
		case <-ctx.Done():
			t.Errorf("%q does nothing", key)
		}
		_ = typing.Close()
	}
}

// TestAServerThatCannotBeAskedEndsIt: the error is that of the source.
func TestAServerThatCannotBeAskedEndsIt(t *testing.T) {
	failed := errors.New("no server")
	source := &mute{updates: make(chan *inspect.Snapshot), err: failed}
	close(source.updates)
	keys, typing := io.Pipe()
	defer typing.Close() //nolint:errcheck // never fails
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := Run(ctx, Options{Source: source, Clock: demo.Now, Input: keys, Output: io.Discard, Environ: []string{"TERM=xterm-256color"}, Profile: colorprofile.ANSI256})
	if !errors.Is(err, failed) {
		t.Errorf("it ended with %v", err)
	}
}
