package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"
)

// reading is a command that only reads: when it is interrupted, no answer of it is printed, for it could be a wrong
// one.
func (s *source) reading(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		out := &answer{ctx: cmd.Context(), w: s.streams.Out}
		whole := s.streams.Out
		s.streams.Out = out.likeTerminal()
		defer func() { s.streams.Out = whole }()
		err := run(cmd, args)
		if cmd.Context().Err() != nil && (out.refused || !out.begun) {
			return errInterrupted
		}
		return err
	}
	return cmd
}

// answer is an output to which nothing is written once ctx is done.
type answer struct {
	ctx            context.Context //nolint:containedctx // the life of the command
	w              io.Writer
	begun, refused bool
}

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) {
	if a.ctx.Err() != nil {
		a.refused = true
		return 0, errInterrupted
	}
	a.begun = true
	return a.w.Write(p) //nolint:wrapcheck // a writer passes on what it meets
}

// likeTerminal is the answer with the file descriptor of the output, if that has one.
func (a *answer) likeTerminal() io.Writer {
	if f, ok := a.w.(interface{ Fd() uintptr }); ok {
		return terminalAnswer{a, f}
	}
	return a
}

type terminalAnswer struct {
	*answer
	fd interface{ Fd() uintptr }
}

// Fd lets others ask the terminal for its width.
func (t terminalAnswer) Fd() uintptr { return t.fd.Fd() }
