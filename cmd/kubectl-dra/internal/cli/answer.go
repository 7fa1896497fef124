package cli

import (
	"io"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// answer prints a value in a format, or as text where none was asked for, and ends with an exit code.
func (s *streams) answer(format output.Format, value any, render func(io.Writer, text.Options) error, code int) error {
	var err error
	if format.Name != "" {
		err = format.PrintValue(s.Out, value)
	} else {
		err = render(s.Out, text.Options{Width: s.width(), Verbose: s.verbosity > 0, Color: s.useColor()})
	}
	if err == nil && code != exitAnswered {
		err = exitWith(code)
	}
	return err
}
