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

// patience is how long an interrupted command may take to end by itself, unless it is writing.
const patience = time.Second

// Main runs one command line and returns the exit code of the contract: 0 answered, 1 failed, 2 wrong
// usage, 3 the answer is no, 130 interrupted.
func Main(args []string, streams genericiooptions.IOStreams, clock Clock) int {
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	src := newSource(streams, clock)
	defer src.plugin.release()
	root := newRoot(src)
	root.SetArgs(args)
	run := func(ctx context.Context) error { return errors.Join(root.ExecuteContext(ctx), src.helpFailed) }
	return report(streams.ErrOut, src.memory.bound(ctx, func(ctx context.Context) error {
		return execute(ctx, run, src.patienceNow)
	}))
}

// endings are the signals that end a command in good order. One that is started with nohup goes on when its
// terminal is closed.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// execute runs a command. When it is interrupted it waits a moment for the command to end by itself:
// one that reads from a terminal or a pipe may never do so. patience says, when it is interrupted, how long.
func execute(ctx context.Context, run func(context.Context) error, patience func() time.Duration) error {
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
	case <-time.After(patience()):
	}
	return errInterrupted
}
