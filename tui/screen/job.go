package screen

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// Job is work in the background whose newest result is all that counts. The zero value is ready. A Job
// belongs to one screen and must not be copied.
type Job[T any] struct {
	serial int
	cancel context.CancelFunc
}

// Result is what a Job comes back with.
type Result[T any] struct {
	job    *Job[T]
	serial int
	// Version is that of the world that the work was about.
	Version int
	Value   T
	Err     error
}

// Start begins work and gives up what the Job was doing before: that is cancelled, and its result will not
// be taken. The work must not touch the screen; whatever it needs it gets through captured values that
// nobody writes to.
func (j *Job[T]) Start(w *World, work func(ctx context.Context) (T, error)) tea.Cmd {
	j.Stop()
	ctx, cancel := context.WithCancel(w.Context())
	j.cancel = cancel
	serial, version := j.serial, w.Version
	return func() tea.Msg {
		defer cancel()
		value, err := work(ctx)
		return Result[T]{job: j, serial: serial, Version: version, Value: value, Err: err}
	}
}

// Stop cancels what the Job is doing.
func (j *Job[T]) Stop() {
	j.serial++
	if j.cancel != nil {
		j.cancel()
		j.cancel = nil
	}
}

// Running reports whether a result is being waited for.
func (j *Job[T]) Running() bool { return j.cancel != nil }

// Take returns the result that a message carries, if it is the one that this Job waits for.
func (j *Job[T]) Take(msg tea.Msg) (Result[T], bool) {
	r, ok := msg.(Result[T])
	if !ok || r.job != j || r.serial != j.serial || j.cancel == nil {
		return Result[T]{}, false
	}
	j.cancel = nil
	return r, true
}
