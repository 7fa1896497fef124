package console

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
)

// AddOutputFlags adds -o, which is read into format before the command runs.
func AddOutputFlags(cmd *cobra.Command, format *output.Format, formats []string) {
	var name string
	cmd.Flags().StringVarP(&name, "output", "o", "", "output format: "+CommaList(formats))
	CompleteFlag(cmd, "output", "formats", completeFormats(formats))
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		if *format, err = output.ParseFormat(name, formats); err != nil {
			return Usagef("%w", err)
		}
		return nil
	}
}

// TextOptions say how text is laid out.
func (s *Streams) TextOptions() text.Options {
	return text.Options{Width: s.Width(), Verbose: s.Verbosity > 0, Color: s.UseColor()}
}

// InLines renders what was laid out.
func InLines(lines func(text.Options) []styled.Line) func(io.Writer, text.Options) error {
	return func(w io.Writer, opts text.Options) error { return text.Write(w, lines(opts), opts.Color) }
}

// OnPage renders what is written on a page.
func OnPage(write func(*output.Page)) func(io.Writer, text.Options) error {
	return func(w io.Writer, opts text.Options) error { return output.PrintPage(w, opts.Width, write) }
}

// VerdictCode is the exit code of a verdict.
func VerdictCode(v explain.Verdict) int {
	switch v {
	case explain.Unsatisfiable:
		return ExitNo
	case explain.Invalid, explain.Unknown:
		return ExitFailed
	}
	return ExitAnswered
}
