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
		if d := time.Since(began); d < 3*time.Second || d > 16*time.Second {
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
