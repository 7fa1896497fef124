// Package turns bounds how many goroutines of the program work at once, whatever for: a screen that is drawn
// and a key that is read must find a processor, or each step on their way waits until the runtime takes one
// from others, which is 10 ms.
package turns

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// all are the turns: one for each processor but the one that is left to whoever has none. Those who work hold
// one. waiting is how many wait for theirs in Do.
var (
	all     = make(chan struct{}, max(1, runtime.NumCPU()-1))
	waiting atomic.Int32
)

// AtOnce is how many can work by Do at the same time.
func AtOnce() int { return cap(all) }

// Do works as soon as it is its turn. The error is that of the context, if that ends before.
func Do(ctx context.Context, work func()) error {
	if !try() {
		if err := wait(ctx); err != nil {
			return err
		}
	}
	defer leave()
	work()
	return nil
}

func wait(ctx context.Context) error {
	waiting.Add(1)
	defer waiting.Add(-1)
	select {
	case all <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// try takes a turn if there is one.
func try() bool {
	select {
	case all <- struct{}{}:
		return true
	default:
		return false
	}
}

func leave() { <-all }

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
		defer leave()
		defer others.Add(-1)
		for waiting.Load() == 0 && one() {
		}
	}
	for more := n > 0; more; more = one() {
		for next.Load()+others.Load()+1 < int64(n) && waiting.Load() == 0 && try() {
			others.Add(1)
			group.Go(help)
		}
	}
	group.Wait()
}
