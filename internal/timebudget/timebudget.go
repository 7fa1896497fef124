// Package timebudget keeps a few questions that take very long from holding up the answers to many others.
package timebudget

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// ErrTooLong says that a question was given up because it took too long.
var ErrTooLong = errors.New("it takes too long")

// The limits. A question of a list takes milliseconds in a cluster of thousands of nodes. In all, those that are
// given up take some 3 s + 20 × 0.1 s + 0.01 s for each further one, divided by the number of processors.
const (
	first, firstFew = time.Second, 3
	then, thenFew   = 100 * time.Millisecond, 20
	atLast          = 10 * time.Millisecond
)

// Budget is how long the questions of one list may take. Each question that is given up
// leaves less for the next ones. The zero value is fresh. It may be used by several goroutines at once.
type Budget struct{ lost atomic.Int64 }

// Ask asks a question, which must heed its context. The error is ErrTooLong when it was given up, and that of ctx
// when that ended; otherwise it is the one of the question.
func (b *Budget) Ask(ctx context.Context, question func(context.Context) error) error {
	limited, cancel := context.WithTimeoutCause(ctx, b.limit(), ErrTooLong)
	defer cancel()
	err := question(limited)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		b.lost.Add(1)
		return ErrTooLong
	}
	return err
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
