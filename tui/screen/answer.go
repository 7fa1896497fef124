package screen

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Answer is what a screen knows of something that takes time to work out and that changes with the world:
// the newest result, kept while the next one is being worked out. The zero value knows nothing.
type Answer[T any] struct {
	// Value and Err are the newest result. They mean nothing until Known is true.
	Value T
	Err   error
	Known bool
	// SoFar says that Value is what is known so far, of the first result.
	SoFar bool
	// Version is that of the world that the result is about.
	Version int
	// Patience is how long after an answer was begun the next one is, while nobody presses keys: longer, up
	// to three times as long, for one that takes more than a hundredth of that. If it is 0, that makes no
	// difference.
	Patience time.Duration

	job     Job[T]
	ask     func(ctx context.Context, w *World, tell func(T)) (T, error)
	tells   bool
	started time.Time
	took    time.Duration // by the newest answer
	asked   int           // version
	rest    time.Time     // until when the machine rests
	wakes   time.Time     // when it is looked at again, at the end of the rest or of Patience; zero: not by itself
}

// rested ends the rest of an Answer, or its patience.
type rested[T any] struct{ answer *Answer[T] }

// patience is how long after the newest answer was begun the next one is, while nobody presses keys.
func (a *Answer[T]) patience() time.Duration {
	return min(max(a.Patience, idleShare*a.took), 3*a.Patience)
}

// idleShare is what part of a processor, one in so many, an Answer may take while nobody presses keys.
const idleShare = 100

// answerBreath is how long the machine rests after an answer, as a multiple of what it took.
const answerBreath = 3

// Ask begins to work on another question; what is known is kept until the answer comes. Nothing is asked
// before there is a snapshot: then the next Changed does it.
func (a *Answer[T]) Ask(w *World, ask func(ctx context.Context, w *World) (T, error)) tea.Cmd {
	a.ask, a.tells = func(ctx context.Context, w *World, _ func(T)) (T, error) { return ask(ctx, w) }, false
	return a.start(w)
}

// AskTelling is Ask for a question whose answer is shown as it comes, as long as none is known: ask tells
// what is known so far. Where that is of no use, tell is nil.
func (a *Answer[T]) AskTelling(w *World, ask func(ctx context.Context, w *World, tell func(T)) (T, error)) tea.Cmd {
	a.ask, a.tells = ask, true
	return a.start(w)
}

// Forget drops question and answer.
func (a *Answer[T]) Forget() {
	a.job.Stop()
	*a = Answer[T]{job: a.job, rest: a.rest, wakes: a.wakes, Patience: a.Patience}
}

func (a *Answer[T]) start(w *World) tea.Cmd {
	if w.Snapshot == nil || a.ask == nil {
		return nil
	}
	ask := a.ask
	a.started, a.asked = time.Now(), w.Version
	if a.tells && !a.Known {
		return a.job.StartTelling(w, func(ctx context.Context, tell func(T)) (T, error) { return ask(ctx, w, tell) })
	}
	return a.job.Start(w, func(ctx context.Context) (T, error) { return ask(ctx, w, nil) })
}

// Update asks again when the world has changed, and takes results. It reports whether there is a new
// answer. While one is being worked out it is not superseded, or a busy cluster would never let one be
// finished; and after it the machine rests for several times as long as it took.
func (a *Answer[T]) Update(w *World, msg tea.Msg) (cmd tea.Cmd, news bool) {
	switch msg := msg.(type) {
	case Shown, Changed:
		return a.again(w), false
	case Hidden:
		if a.job.Running() {
			a.job.Stop()
			a.asked = 0
		}
		return nil, false
	case rested[T]:
		if msg.answer != a {
			return nil, false
		}
		a.wakes = time.Time{}
		return a.again(w), false
	}
	result, ok := a.job.Take(msg)
	if !ok {
		return nil, false
	}
	if a.Value, a.Version, a.SoFar = result.Value, result.Version, result.More != nil; a.SoFar {
		return result.More, true
	}
	a.Err, a.Known, a.took = result.Err, true, time.Since(a.started)
	if a.asked != w.Version { // the next is asked for already
		a.rest = time.Now().Add(answerBreath * a.took)
	}
	return a.again(w), true
}

// again asks about the world as it is, unless that was done, at once or when the answer has become old
// enough.
func (a *Answer[T]) again(w *World) tea.Cmd {
	if a.job.Running() || a.asked == w.Version {
		return nil
	}
	wait := time.Until(a.rest)
	if w.Idle && a.Known {
		wait = max(wait, a.patience()-time.Since(a.started))
	}
	if wait <= 0 {
		return a.start(w)
	}
	at := time.Now().Add(wait)
	if !a.wakes.IsZero() && !a.wakes.After(at) {
		return nil
	}
	a.wakes = at
	return tea.Tick(wait, func(time.Time) tea.Msg { return rested[T]{a} })
}
