// Package timebudget keeps a few questions that take very long from holding up the answers to many others.
package timebudget

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrTooLong says that a question was given up because it took too long.
var ErrTooLong = errors.New("it takes too long")

// The limits, in processor time, so that the answers do not depend on what else the machine does. A question
// of a list takes milliseconds in a cluster of thousands of nodes. In all, those that are given up take some
// 6 s + 20 × 0.2 s + 0.02 s for each further one, divided by the number of processors.
const (
	first, firstFew = 2 * time.Second, 3
	then, thenFew   = 200 * time.Millisecond, 20
	atLast          = 20 * time.Millisecond

	// slack is how many times its limit a question may take by the clock, on a machine that is busy with
	// other things.
	slack = 10
	// looks is how often the time of a question is looked at until its limit.
	looks = 10
)

// Budget is how long the questions of one list may take. Each question that is given up
// leaves less for the next ones. The zero value is fresh. It may be used by several goroutines at once.
type Budget struct{ lost atomic.Int64 }

// Ask asks a question, which must heed its context. The error is ErrTooLong when it was given up, and that of
// ctx when that ended; otherwise it is the one of the question.
func (b *Budget) Ask(ctx context.Context, question func(context.Context) error) error {
	limited, cancel := WithLimit(ctx, b.limit())
	defer cancel()
	err := question(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		b.lost.Add(1)
		return ErrTooLong
	}
	return err
}

// WithLimit returns a context that ends with ErrTooLong once a question has used the limit, in processor
// time. The caller must call the returned function when the question is answered.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	running.Add(1)
	go watch(limited, limit, cancel)
	var once sync.Once
	return limited, func() {
		cancel(nil)
		once.Do(func() { running.Add(-1) })
	}
}

func (b *Budget) limit() time.Duration {
	switch n := b.lost.Load(); {
	case n < firstFew:
		return first
	case n < firstFew+thenFew:
		return then
	}
	return atLast
}

// running is the number of questions that are being answered. They share the processor time of the process.
var running atomic.Int64

// watch cancels a question that has used its limit. It returns when the context of the question ends.
func watch(ctx context.Context, limit time.Duration, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(limit / looks)
	defer ticker.Stop()
	began := time.Now()
	used, before := time.Duration(0), processorTime()
	for used < limit && time.Since(began) < slack*limit {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := processorTime()
		used += (now - before) / time.Duration(max(1, running.Load()))
		before = now
	}
	cancel(ErrTooLong)
}
