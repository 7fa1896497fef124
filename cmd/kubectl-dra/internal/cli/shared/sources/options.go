package sources

import (
	"fmt"
	"io"
	"math"
	"strings"

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
	switch o.Format.Name {
	case "":
		if o.Quiet {
			err = o.firstLine(render)
			break
		}
		err = render(o.Text(), o.TextOptions())
	case output.MarkdownFormat:
		err = o.answerInMarkdown(value, render)
	default:
		err = o.Format.PrintValue(o.Out, value)
	}
	if err == nil && code != console.ExitAnswered {
		err = console.ExitWith(code)
	}
	return err
}

// AnswerEach prints several answers as Answer prints one, in text with an empty line between two of them.
func AnswerEach[T any](o *Options, value any, answers []T, render func(io.Writer, text.Options, T) error, code int) error {
	if !o.Quiet || o.Format.Name != "" {
		return o.Answer(value, func(w io.Writer, opts text.Options) error {
			for i, answer := range answers {
				if i > 0 {
					if _, err := fmt.Fprintln(w); err != nil {
						return err
					}
				}
				if err := render(w, opts, answer); err != nil {
					return err
				}
			}
			return nil
		}, code)
	}
	for _, answer := range answers {
		if err := o.firstLine(func(w io.Writer, opts text.Options) error { return render(w, opts, answer) }); err != nil {
			return err
		}
	}
	if code != console.ExitAnswered {
		return console.ExitWith(code)
	}
	return nil
}

// firstLine prints the first line of an answer as one line, whatever the width of the terminal.
func (o *Options) firstLine(render func(io.Writer, text.Options) error) error {
	text, err := o.asText(math.MaxInt32, render)
	if err == nil {
		text, _, _ = strings.Cut(text, "\n")
		_, err = io.WriteString(o.Text(), text+"\n")
	}
	return err
}

// asText returns the text of an answer in columns of some width, without colour.
func (o *Options) asText(width int, render func(io.Writer, text.Options) error) (string, error) {
	defer func() { o.Columns = 0 }()
	var out strings.Builder
	o.Columns = width
	err := render(&out, text.Options{Width: width, Verbose: o.Verbosity > 0})
	return out.String(), err
}

// answerInMarkdown prints the text of an answer below its headline, which is the first line of the text if
// the value has no other.
func (o *Options) answerInMarkdown(value any, render func(io.Writer, text.Options) error) error {
	headline, err := o.asText(math.MaxInt32, render)
	if err != nil {
		return err
	}
	headline, _, _ = strings.Cut(headline, "\n")
	if h, ok := value.(output.Headliner); ok {
		headline = h.Headline()
	}
	whole, err := o.asText(output.MarkdownWidth, render)
	if err != nil {
		return err
	}
	return output.PrintMarkdown(o.Out, headline, whole)
}
