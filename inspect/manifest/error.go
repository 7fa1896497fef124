package manifest

import (
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Code says what kind of bad input an Error reports.
type Code string

// The kinds of bad input that end a read.
const (
	Unreadable Code = "Unreadable" // the file or directory cannot be opened or read
	Empty      Code = "Empty"      // a directory without manifests, or no path at all
	TooLarge   Code = "TooLarge"   // beyond a limit on size, number, depth, packing or aliases
	Binary     Code = "Binary"     // not text: neither YAML nor JSON
	Syntax     Code = "Syntax"     // broken or half-written YAML or JSON
	NotObject  Code = "NotObject"  // a document that is a list, a string or a number
	Newer      Code = "Newer"      // a version of the API that is newer than this program; it ends no read
	WrongType  Code = "WrongType"  // a field whose value cannot be decoded into the field's type
)

// Error is bad input that ends a read: what is wrong, where, and what to do about it. Its text is one
// line that is safe for a terminal.
type Error struct {
	Code   Code
	Source string // file name, "-" for standard input
	Line   int    // first line concerned, counted from 1; 0 when it is not known
	Object string // such as `ResourceClaim ml/train-0`; it is empty if that is not known
	Path   string // field path, such as "spec.devices.requests[0].exactly.count"; it is empty if that is not known
	Detail string // what is wrong
	Advice string // what to do; may be empty
	Err    error  // the cause, if another package found it
}

// Error returns one line: place, object, field, what is wrong and what to do.
func (e *Error) Error() string {
	parts := []string{"reading " + place(e.Source, e.Line)}
	for _, part := range []string{e.Object, e.Path, e.Detail} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return inspect.SanitizeShort(e.advising(strings.Join(parts, ": ")), maxErrorLength)
}

// Warning says that what is bad was left out.
func (e *Error) Warning() Warning {
	return Warning{Source: place(e.Source, e.Line), Object: e.Object, Path: e.Path, Message: e.advising("left out: " + e.Detail)}
}

// advising is a text with the advice behind it.
func (e *Error) advising(text string) string {
	if e.Advice == "" {
		return text
	}
	return text + "; " + e.Advice
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
