package screen

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// TestAwaitNeedsNoTurn: what waits for a server keeps nothing else from being done.
func TestAwaitNeedsNoTurn(t *testing.T) {
	w := NewWorld(context.Background(), 0, nil)
	release, done := make(chan struct{}), make(chan tea.Msg)
	for range 2 * cap(turns) {
		var job Job[int]
		cmd := job.Await(w, func(context.Context) (int, error) { <-release; return 0, nil })
		go func() { done <- cmd() }()
	}
	var job Job[int]
	cmd := job.Start(w, func(context.Context) (int, error) { return 7, nil })
	if r, ok := job.Take(cmd()); !ok || r.Value != 7 {
		t.Errorf("took %v %v", r, ok)
	}
	close(release)
	for range 2 * cap(turns) {
		<-done
	}
}

// TestWorkedAtOnce: what Jobs do at once is counted, what they do later or wait for is not.
func TestWorkedAtOnce(t *testing.T) {
	w := NewWorld(context.Background(), 1, nil)
	work := func(context.Context) (int, error) { time.Sleep(20 * time.Millisecond); return 0, nil }
	var job Job[int]
	for name, cmd := range map[string]func() tea.Cmd{
		"Start": func() tea.Cmd { return job.Start(w, work) },
		"Await": func() tea.Cmd { return job.Await(w, work) },
	} {
		before := WorkedAtOnce()
		cmd()()
		if got := WorkedAtOnce() - before; name == "Start" && got < 20*time.Millisecond || name != "Start" && got > 0 {
			t.Errorf("%s: %v were worked at once", name, got)
		}
	}
}
