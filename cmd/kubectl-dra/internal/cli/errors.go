package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The exit codes: the question was answered, it could not be, the command line is wrong, the answer is no, the command was
// interrupted.
const (
	exitAnswered    = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNo          = 3
	exitInterrupted = 130
)

// usageError is a command line that cannot be run.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// exitWith ends a command whose answer is printed already with an exit code other than 0.
type exitWith int

func (a exitWith) Error() string { return fmt.Sprintf("answered with exit code %d", int(a)) }

// errInterrupted is the error of a command that was interrupted; its exit code is 130.
var errInterrupted = errors.New("interrupted")

// report prints an error in one line and returns the exit code. It is the only place that does either.
func report(w io.Writer, err error) int {
	var done exitWith
	switch {
	case err == nil:
		return exitAnswered
	case errors.As(err, &done):
		return int(done)
	}
	_, _ = fmt.Fprintln(w, "error: "+oneLine(err)) // when stderr is gone, only the code is left to say it
	switch {
	case errors.As(err, new(*usageError)):
		return exitUsage
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitFailed
}

// oneLine returns the text of an error, safe and on one line.
func oneLine(err error) string {
	var parts []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return inspect.Sanitize(maskUserinfo(strings.Join(parts, "; ")))
}

// worstExitCode returns the exit code that counts of two: a failure over a "no" over an answer.
func worstExitCode(a, b int) int {
	rank := map[int]int{exitAnswered: 0, exitNo: 1, exitFailed: 2}
	if rank[b] > rank[a] {
		return b
	}
	return a
}
