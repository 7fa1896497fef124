package sources

import (
	"io"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// Options are what commands that answer have in common.
type Options struct {
	*console.Streams
	Reader *Reader
	Format output.Format // of -o; without a name it is text
}

// Answer prints a value in the format that was asked for, or as text, and ends with an exit code.
func (o *Options) Answer(value any, render func(io.Writer, text.Options) error, code int) error {
	var err error
	if o.Format.Name != "" {
		err = o.Format.PrintValue(o.Out, value)
	} else {
		err = render(o.Out, o.TextOptions())
	}
	if err == nil && code != console.ExitAnswered {
		err = console.ExitWith(code)
	}
	return err
}
