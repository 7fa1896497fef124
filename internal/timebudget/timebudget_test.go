package timebudget

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func endless(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }

func TestBudgetShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Budget
		began := time.Now()
		for range 1000 {
			if err := b.Ask(t.Context(), endless); !errors.Is(err, ErrTooLong) {
				t.Fatalf("got %v", err)
			}
		}
		if d := time.Since(began); d < slack*3*time.Second || d > slack*31*time.Second {
			t.Errorf("a thousand endless questions took %v", d)
		}
		if err := b.Ask(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("an easy question after that: %v", err)
		}
	})
}

func TestOtherErrors(t *testing.T) {
	var b Budget
	wrong := errors.New("wrong")
	if err := b.Ask(t.Context(), func(context.Context) error { return wrong }); !errors.Is(err, wrong) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Ask(ctx, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestBusyMachine: a question that waits for a processor is not given up for that.
func TestBusyMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Budget
		err := b.Ask(t.Context(), func(ctx context.Context) error {
			time.Sleep(slack * first / 2)
			return ctx.Err()
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestWork: a question that has a processor for longer than its limit is given up long before the clock says
// so.
func TestWork(t *testing.T) {
	var b Budget
	b.lost.Store(firstFew)
	began, clock := processorTime(), time.Now()
	if err := b.Ask(t.Context(), work); !errors.Is(err, ErrTooLong) {
		t.Fatalf("got %v", err)
	}
	byClock := time.Since(clock) >= slack*then // the machine is so busy that the clock came first
	if had := processorTime() - began; had < then && !byClock || had > slack*then/2 {
		t.Errorf("it had a processor for %v; the limit is %v", had, then)
	}
}

func work(ctx context.Context) error {
	for ctx.Err() == nil {
	}
	return ctx.Err()
}
