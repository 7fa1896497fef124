package commit

import (
	"context"
	"time"
)

// Clock is the time of this machine. It is used to wait, and to write down when something was done for
// people to read; no decision compares the clocks of two machines.
type Clock interface {
	Now() time.Time
	// Sleep waits, or returns the error of the context when that ends first.
	Sleep(ctx context.Context, d time.Duration) error
}

// SystemClock is the clock of the operating system.
type SystemClock struct{}

// Now returns the time.
func (SystemClock) Now() time.Time { return time.Now() }

// Sleep waits for d or for the end of ctx.
func (SystemClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
