package turns

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// holdAll takes all turns until what it returns is called.
func holdAll(t *testing.T) (release func()) {
	t.Helper()
	end := make(chan struct{})
	var held, ended sync.WaitGroup
	for range AtOnce() {
		held.Add(1)
		ended.Go(func() {
			if err := Do(t.Context(), func() { held.Done(); <-end }); err != nil {
				t.Error(err)
			}
		})
	}
	held.Wait()
	return sync.OnceFunc(func() { close(end); ended.Wait() })
}

// Each calls with every number once, on no more goroutines than there are turns besides the caller: one where
// all turns are taken, whatever for.
func TestEach(t *testing.T) {
	most := func() int64 {
		var now, most atomic.Int64
		var calls [200]atomic.Int64
		Each(len(calls), func(i int) bool {
			defer now.Add(-1)
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			time.Sleep(50 * time.Microsecond)
			calls[i].Add(1)
			return true
		})
		for i := range calls {
			if n := calls[i].Load(); n != 1 {
				t.Errorf("%d calls with %d", n, i)
			}
		}
		return most.Load()
	}
	if n := most(); n < 2 || n > int64(AtOnce())+1 {
		t.Errorf("%d calls at once, with %d turns", n, AtOnce())
	}
	release := holdAll(t)
	if n := most(); n != 1 {
		t.Errorf("%d calls at once while all turns are taken", n)
	}
	release()
	if !all.TryAcquire(int64(AtOnce())) {
		t.Fatal("turns are not given back")
	}
	all.Release(int64(AtOnce()))
}

// After a call that returns false none begins, but those with lower numbers have.
func TestEachStops(t *testing.T) {
	var calls [1000]atomic.Bool
	Each(len(calls), func(i int) bool {
		if calls[i].Store(true); i > 10 {
			time.Sleep(time.Millisecond) // or others could be through before it is known
		}
		return i < 10
	})
	for i := range 11 {
		if !calls[i].Load() {
			t.Errorf("no call with %d", i)
		}
	}
	if calls[len(calls)-1].Load() {
		t.Error("it does not stop")
	}
}

// Who waits for a turn gets it from those who only help, long before they are through.
func TestHelpersMakeWay(t *testing.T) {
	const n = 10_000
	var begun sync.Once
	waiter, done := make(chan struct{}), make(chan error, 1)
	go func() { <-waiter; done <- Do(context.Background(), func() {}) }()
	var calls atomic.Int64
	came := int64(n)
	Each(n, func(int) bool {
		begun.Do(func() { close(waiter) })
		calls.Add(1)
		time.Sleep(time.Millisecond)
		select {
		case err := <-done:
			if came = calls.Load(); err != nil {
				t.Error(err)
			}
			return false
		default:
			return true
		}
	})
	if came > n/2 {
		t.Errorf("the turn came after %d of %d calls", came, n)
	}
}

// Who does not want a turn any more does not get one.
func TestGivenUp(t *testing.T) {
	defer holdAll(t)()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("no longer wanted")
	cancel(why)
	if err := Do(ctx, func() { t.Error("it works") }); !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	if n := waiting.Load(); n != 0 {
		t.Errorf("%d wait", n)
	}
}
