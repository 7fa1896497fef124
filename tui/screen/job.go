package screen

import (
	"context"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/internal/turns"
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
	// More waits for the next result, if the work goes on and Value is what is known so far.
	More tea.Cmd
}

// Start begins work and gives up what the Job was doing before: that is cancelled, and its result will not be
// taken. The work must not touch the screen; whatever it needs it gets through captured values that nobody
// writes to. It waits for its turn: the program works on as many things at once as leave a processor to keys.
func (j *Job[T]) Start(w *World, work func(ctx context.Context) (T, error)) tea.Cmd {
	return j.Await(w, func(ctx context.Context) (T, error) { return inTurn(ctx, timed(work)) })
}

// StartTelling is Start for work that tells what is known so far, by as many goroutines as it likes. Of what
// it tells faster than it is taken the newest counts.
func (j *Job[T]) StartTelling(w *World, work func(ctx context.Context, tell func(T)) (T, error)) tea.Cmd {
	told, ended := make(chan T, 1), make(chan struct{})
	whole := j.Start(w, func(ctx context.Context) (T, error) {
		return work(ctx, func(soFar T) {
			select {
			case <-told:
			default:
			}
			select {
			case told <- soFar:
			default:
			}
		})
	})
	serial, version := j.serial, w.Version
	var listen tea.Cmd
	listen = func() tea.Msg {
		select {
		case soFar := <-told:
			return Result[T]{job: j, serial: serial, Version: version, Value: soFar, More: listen}
		case <-ended:
			return nil
		}
	}
	return tea.Batch(func() tea.Msg { defer close(ended); return whole() }, listen)
}

// StartLater is Start for what nobody waits for, such as the reasons of thousands of claims: of all such work
// in the program one thing at a time is done, so that it never keeps what somebody waits for from its turn
// for long. It should come back after a moment, and be started again if there is more to do. Who starts it
// sees to it that it rests: worlds come as often as they would without it.
func (j *Job[T]) StartLater(w *World, work func(ctx context.Context) (T, error)) tea.Cmd {
	return j.Await(w, func(ctx context.Context) (T, error) {
		select {
		case later <- struct{}{}:
		case <-ctx.Done():
			return *new(T), context.Cause(ctx)
		}
		defer func() { <-later }()
		return inTurn(ctx, work)
	})
}

// Await is Start for work that hardly needs a processor, since it waits for something outside of the program.
func (j *Job[T]) Await(w *World, work func(ctx context.Context) (T, error)) tea.Cmd {
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

// worked is how long all work took that was started by Start, in nanoseconds.
var worked atomic.Int64

// WorkedAtOnce returns how long the work that Start started has taken since the program began.
func WorkedAtOnce() time.Duration { return time.Duration(worked.Load()) }

// timed adds what work takes.
func timed[T any](work func(ctx context.Context) (T, error)) func(ctx context.Context) (T, error) {
	return func(ctx context.Context) (T, error) {
		defer func(begin time.Time) { worked.Add(int64(time.Since(begin))) }(time.Now())
		return work(ctx)
	}
}

// later is held by the work of StartLater.
var later = make(chan struct{}, 1)

// inTurn does work when it is its turn.
func inTurn[T any](ctx context.Context, work func(ctx context.Context) (T, error)) (value T, err error) {
	if gone := turns.Do(ctx, func() { value, err = work(ctx) }); gone != nil {
		return value, gone //nolint:wrapcheck // of the context
	}
	return value, err
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
	if r.More == nil {
		j.cancel = nil
	}
	return r, true
}
