// Package console is where commands speak: the streams of a command line and what a terminal can show,
// remarks and progress, errors with their exit codes, output formats, words in messages, and what a shell
// completes without reading anything.
//
// It knows no command and no cluster.
package console
