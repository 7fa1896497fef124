package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// Clock tells the time.
type Clock func() time.Time

// Main runs one command line and returns the exit code of the contract: 0 answered, 1 failed, 2 wrong
// usage, 3 the answer is no, 130 interrupted.
func Main(args []string, streams genericiooptions.IOStreams, clock Clock) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := newRoot(streams, clock)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil && err != nil {
		err = errInterrupted
	}
	return report(streams.ErrOut, err)
}
