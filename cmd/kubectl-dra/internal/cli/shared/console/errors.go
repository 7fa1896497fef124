package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The exit codes: the question was answered, it could not be, the command line is wrong, the answer is no,
// the command was interrupted.
const (
	ExitAnswered    = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNo          = 3
	ExitInterrupted = 130
)

// usageError is a command line that cannot be run.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usagef makes a usageError.
func Usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// ExitWith ends a command whose answer is printed already with an exit code other than 0.
type ExitWith int

func (a ExitWith) Error() string { return fmt.Sprintf("answered with exit code %d", int(a)) }

// ErrInterrupted is the error of a command that was interrupted; its exit code is 130.
var ErrInterrupted = errors.New("interrupted")

// Report prints an error in one line and returns the exit code. It is the only place that does either.
func Report(w io.Writer, err error) int {
	var done ExitWith
	switch {
	case err == nil:
		return ExitAnswered
	case errors.As(err, &done):
		return int(done)
	}
	_, _ = fmt.Fprintln(w, "error: "+OneLine(err)) // when stderr is gone, only the code is left to say it
	switch {
	case errors.As(err, new(*usageError)):
		return ExitUsage
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return ExitFailed
}

// OneLine returns the text of an error, safe and on one line.
func OneLine(err error) string {
	var parts []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return inspect.Sanitize(maskUserinfo(strings.Join(parts, "; ")))
}

// WorstExitCode returns the exit code that counts of two: a failure over a "no" over an answer.
func WorstExitCode(a, b int) int {
	rank := map[int]int{ExitAnswered: 0, ExitNo: 1, ExitFailed: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
