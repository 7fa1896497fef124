package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
)

// Main runs one command line and returns the exit code of the contract: 0 answered, 1 failed, 2 wrong
// usage, 3 the answer is no, 130 interrupted (143 by SIGTERM).
func Main(args []string, streams genericiooptions.IOStreams, clock sources.Clock) int {
	ctx, ended, stop := untilSignal(endingSignals())
	defer stop()
	p := newProgram(streams, clock)
	if _, file := streams.Out.(*os.File); file {
		p.streams.ReadEnvironment(os.Getenv)
	}
	defer p.connection.Plugin.Release()
	root := p.root()
	root.SetArgs(args)
	run := func(ctx context.Context) error { return errors.Join(root.ExecuteContext(ctx), p.helpFailed) }
	code := console.Report(streams.ErrOut, p.memory.RunBounded(ctx, func(ctx context.Context) error {
		return execute(ctx, run, p.grace.Length)
	}))
	if code == console.ExitInterrupted {
		return codeOfSignal(ended.Load())
	}
	return code
}

// untilSignal returns a context that ends with the first of some signals, and which that was. A second one
// ends the program at once, as it would without this.
func untilSignal(signals []os.Signal) (ctx context.Context, ended *atomic.Int32, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended = &atomic.Int32{}
	received := make(chan os.Signal, 1)
	signal.Notify(received, signals...)
	go func() {
		select {
		case s := <-received:
			if number, ok := s.(syscall.Signal); ok {
				ended.Store(int32(number)) //nolint:gosec // there are fewer than a hundred signals
			}
			signal.Stop(received)
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, ended, func() { signal.Stop(received); cancel() }
}

// codeOfSignal is the exit code of what a signal ended, as shells have it: 130 for Ctrl-C, of which the
// terminal UI hears as of a key, and 143 for SIGTERM.
func codeOfSignal(number int32) int {
	if number == 0 {
		return console.ExitInterrupted
	}
	return 128 + int(number)
}

// endingSignals are the signals that end a command in good order. One that is started with nohup goes on when
// its terminal is closed.
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
			return console.ErrInterrupted
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
	return console.ErrInterrupted
}

// completeProgram is the name under which kubectl asks a plugin called dra to complete.
const completeProgram = "kubectl_complete-dra"

// Arguments returns the arguments of a process. One that is called kubectl_complete-dra, by a link to this
// program, completes.
func Arguments(process []string) []string {
	if strings.TrimSuffix(filepath.Base(process[0]), ".exe") == completeProgram {
		return append([]string{cobra.ShellCompRequestCmd}, process[1:]...)
	}
	return process[1:]
}
