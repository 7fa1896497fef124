package console

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
)

const (
	// defaultGrace is how long an interrupted command may take to end by itself, unless it is writing.
	defaultGrace = time.Second
	// UndoGrace is how long an interrupted command that writes may take to undo or finish what it began. A
	// second interrupt ends it at once; the next run then clears up.
	UndoGrace = 20 * time.Second
)

// GracePeriod is how long the command that runs may take to end by itself when it is interrupted.
type GracePeriod struct{ extended atomic.Int64 }

// Length is the period at the moment.
func (g *GracePeriod) Length() time.Duration {
	return max(defaultGrace, time.Duration(g.extended.Load()))
}

// Extend makes the period as long as UndoGrace: something is about to be written.
func (g *GracePeriod) Extend() { g.extended.Store(int64(UndoGrace)) }

// OnlyReading is for commands that only read: when such a command is interrupted, no answer of it is printed,
// for it could be a wrong one, unless it says itself what it lacks: see SoFar.
func (s *Streams) OnlyReading(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out := &uninterruptedOutput{ctx: cmd.Context(), w: s.Out}
		s.soFar = &out.soFar
		whole := s.Out
		s.Out = out.likeTerminal()
		defer func() { s.Out = whole }()
		err := run(cmd, args)
		if cmd.Context().Err() != nil && (out.refused || !out.started) {
			return ErrInterrupted
		}
		return err
	}
	return cmd
}

// SoFar prints what is known when a command is interrupted, which has to say what it lacks. It is no answer:
// the error is always ErrInterrupted.
func (s *Streams) SoFar(printed func() error) error {
	if s.soFar != nil {
		*s.soFar = true
	}
	_ = printed() // nothing is worse than to be interrupted
	return ErrInterrupted
}

// uninterruptedOutput is an output to which nothing is written once ctx is done.
type uninterruptedOutput struct {
	ctx              context.Context //nolint:containedctx // the life of the command
	w                io.Writer
	started, refused bool
	soFar            bool // what is written says so
}

// Write implements io.Writer.
func (o *uninterruptedOutput) Write(p []byte) (int, error) {
	if o.ctx.Err() != nil && !o.soFar {
		o.refused = true
		return 0, ErrInterrupted
	}
	o.started = true
	return o.w.Write(p) //nolint:wrapcheck // a writer passes on what it meets
}

// likeTerminal is the same output with the file descriptor of the one below, if that has one.
func (o *uninterruptedOutput) likeTerminal() io.Writer {
	if f, ok := o.w.(interface{ Fd() uintptr }); ok {
		return terminalOutput{o, f}
	}
	return o
}

type terminalOutput struct {
	*uninterruptedOutput
	fd interface{ Fd() uintptr }
}

// Fd lets others ask the terminal for its width.
func (t terminalOutput) Fd() uintptr { return t.fd.Fd() }
