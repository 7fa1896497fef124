// Package turns bounds how many goroutines of the program work at once, whatever for: a screen that is drawn
// and a key that is read must find a processor, or each step on their way waits until the runtime takes one
// from others, which is 10 ms.
package turns

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// atOnce is one for each processor but the one that is left to whoever has no turn.
var atOnce = max(1, runtime.NumCPU()-1)

// all are the turns: those who work hold one. waiting is how many wait for theirs in Do.
var (
	all     = semaphore.NewWeighted(int64(atOnce))
	waiting atomic.Int32
)

// AtOnce is how many can work by Do at the same time.
func AtOnce() int { return atOnce }

// Do works as soon as it is its turn. The error is that of the context, if that ends before.
func Do(ctx context.Context, work func()) error {
	waiting.Add(1)
	err := all.Acquire(ctx, 1)
	if waiting.Add(-1); err != nil {
		return context.Cause(ctx)
	}
	defer all.Release(1)
	work()
	return nil
}

// Each calls f with the numbers from 0 to n-1, by as many goroutines as there are turns that nobody wants,
// and returns when all calls have ended. After one that returns false no new ones begin. The caller, who may
// have a turn itself, does its part in any case.
func Each(n int, f func(i int) bool) {
	var next, others atomic.Int64
	var stopped atomic.Bool
	var group sync.WaitGroup
	one := func() bool { // whoever takes a number calls f with it
		if stopped.Load() {
			return false
		}
		i := int(next.Add(1)) - 1
		if i >= n {
			return false
		}
		if !f(i) {
			stopped.Store(true)
		}
		return true
	}
	help := func() {
		defer all.Release(1)
		defer others.Add(-1)
		for waiting.Load() == 0 && one() {
		}
	}
	for more := n > 0; more; more = one() {
		for next.Load()+others.Load()+1 < int64(n) && waiting.Load() == 0 && all.TryAcquire(1) {
			others.Add(1)
			group.Go(help)
		}
	}
	group.Wait()
}
