package cli

import (
	"context"
	"errors"
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
	ctx, stop := signal.NotifyContext(context.Background(), endingSignals()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	p := newProgram(streams, clock)
	defer p.connection.plugin.release()
	root := p.root()
	root.SetArgs(args)
	run := func(ctx context.Context) error { return errors.Join(root.ExecuteContext(ctx), p.helpFailed) }
	return report(streams.ErrOut, p.memory.runBounded(ctx, func(ctx context.Context) error {
		return execute(ctx, run, p.grace.length)
	}))
}

// endingSignals are the signals that end a command in good order. One that is started with nohup goes on when its
// terminal is closed.
func endingSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// execute runs a command. When it is interrupted it waits a moment for the command to end by itself:
// one that reads from a terminal or a pipe may never do so. grace says, when it is interrupted, how long.
func execute(ctx context.Context, run func(context.Context) error, grace func() time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	select {
	case err := <-done:
		if ctx.Err() != nil && err != nil {
			return errInterrupted
		}
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		if err == nil {
			return nil
		}
	case <-time.After(grace()):
	}
	return errInterrupted
}
