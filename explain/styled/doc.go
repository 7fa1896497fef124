// Package styled is text that knows what it is: a [Line] of spans, each with a [Role] such as the name of an
// object or something that is wrong. How a role looks is decided by whoever writes the line: escape sequences
// for a pipe or a log, a theme in the terminal UI, nothing in a file.
//
// Everything here measures text as terminals do, in columns: what a reader sees as one character, a grapheme
// cluster, takes two columns when it is wide and is never cut in the middle. Text must be safe to show
// already: it is not sanitised here, and has neither line breaks nor escape sequences.
package styled
