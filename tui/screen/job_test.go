package screen

import (
	"context"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/internal/turns"
)

// TestStartLaterOneAtATime: work that nobody waits for is done one thing at a time, and what is given up
// while it waits for its turn does not keep a turn.
func TestStartLaterOneAtATime(t *testing.T) {
	w := NewWorld(context.Background(), 0, nil)
	var first, second, third Job[int]
	begun, finish := make(chan int, 3), make(chan struct{})
	work := func(n int) func(context.Context) (int, error) {
		return func(context.Context) (int, error) {
			begun <- n
			<-finish
			return n, nil
		}
	}
	results := make(chan tea.Msg, 3)
	run := func(cmd tea.Cmd) { go func() { results <- cmd() }() }
	run(first.StartLater(w, work(1)))
	if n := <-begun; n != 1 {
		t.Fatalf("work %d began", n)
	}
	run(second.StartLater(w, work(2)))
	second.Stop()
	if r := (<-results).(Result[int]); r.Err == nil { //nolint:forcetypeassert // what a Job comes back with
		t.Error("work that was given up before its turn has a result")
	}
	run(third.StartLater(w, work(3)))
	select {
	case n := <-begun:
		t.Errorf("work %d began beside the first", n)
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	for range 2 {
		<-results
	}
	if n := <-begun; n != 3 {
		t.Errorf("work %d began after the first", n)
	}
}

// TestAwaitNeedsNoTurn: what waits for a server keeps nothing else from being done.
func TestAwaitNeedsNoTurn(t *testing.T) {
	w := NewWorld(context.Background(), 0, nil)
	release, done := make(chan struct{}), make(chan tea.Msg)
	for range 2 * turns.AtOnce() {
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
	for range 2 * turns.AtOnce() {
		<-done
	}
}

// TestWorkedAtOnce: what Jobs do at once is counted, what they do later or wait for is not.
func TestWorkedAtOnce(t *testing.T) {
	w := NewWorld(context.Background(), 1, nil)
	work := func(context.Context) (int, error) { time.Sleep(20 * time.Millisecond); return 0, nil }
	var job Job[int]
	for name, cmd := range map[string]func() tea.Cmd{
		"Start":      func() tea.Cmd { return job.Start(w, work) },
		"StartLater": func() tea.Cmd { return job.StartLater(w, work) },
		"Await":      func() tea.Cmd { return job.Await(w, work) },
	} {
		before := WorkedAtOnce()
		cmd()()
		if got := WorkedAtOnce() - before; name == "Start" && got < 20*time.Millisecond || name != "Start" && got > 0 {
			t.Errorf("%s: %v were worked at once", name, got)
		}
	}
}
