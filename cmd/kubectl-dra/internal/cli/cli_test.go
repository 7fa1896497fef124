package cli

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

func TestExecute(t *testing.T) {
	failed := errors.New("failed")
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	tests := map[string]struct {
		ctx  context.Context
		run  func(context.Context) error
		want error
	}{
		"success":                        {t.Context(), func(context.Context) error { return nil }, nil},
		"failure":                        {t.Context(), func(context.Context) error { return failed }, failed},
		"interrupted, ends by itself":    {interrupted, func(ctx context.Context) error { return ctx.Err() }, console.ErrInterrupted},
		"interrupted, done all the same": {interrupted, func(context.Context) error { return nil }, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := execute(test.ctx, test.run, new(console.GracePeriod).Length); !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	t.Run("interrupted, never ends", func(t *testing.T) {
		forever := make(chan struct{})
		defer close(forever)
		begin := time.Now()
		if err := execute(interrupted, func(context.Context) error { <-forever; return nil }, new(console.GracePeriod).Length); !errors.Is(err, console.ErrInterrupted) {
			t.Errorf("got %v, want %v", err, console.ErrInterrupted)
		}
		if took := time.Since(begin); took < new(console.GracePeriod).Length() {
			t.Errorf("it gave up after %v, want at least %v", took, new(console.GracePeriod).Length())
		}
	})
}
