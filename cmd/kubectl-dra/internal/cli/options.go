package cli

import (
	"io"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// shared is what commands that answer have in common.
type shared struct {
	*streams
	reader *reader
	format output.Format // of -o; without a name it is text
}

// answer prints a value in the format that was asked for, or as text, and ends with an exit code.
func (s *shared) answer(value any, render func(io.Writer, text.Options) error, code int) error {
	var err error
	if s.format.Name != "" {
		err = s.format.PrintValue(s.Out, value)
	} else {
		err = render(s.Out, s.textOptions())
	}
	if err == nil && code != exitAnswered {
		err = exitWith(code)
	}
	return err
}
