package sources

import (
	"io"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// Options is what commands that answer have in common.
type Options struct {
	*console.Streams
	Reader *Reader
	Format output.Format // of -o; without a name it is text
}

// Answer prints a value in the format that was asked for, or as text, and ends with an exit code.
func (s *Options) Answer(value any, render func(io.Writer, text.Options) error, code int) error {
	var err error
	if s.Format.Name != "" {
		err = s.Format.PrintValue(s.Out, value)
	} else {
		err = render(s.Out, s.TextOptions())
	}
	if err == nil && code != console.ExitAnswered {
		err = console.ExitWith(code)
	}
	return err
}
