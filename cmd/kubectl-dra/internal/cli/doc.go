// Package cli puts the commands together. Each is in a room of its own: flags become options, options are
// completed, and the options run.
//
// Main runs one command line. Commands print answers to the injected streams and return errors; nothing but
// Main decides an exit code or prints an error (shared/console).
//
// Each command names what it works with (root.go): the streams that it prints to (shared/console), the reader
// that makes a snapshot of a cluster, of files or of the demo cluster, and the connection, if it asks the
// server for anything else (shared/sources). What its arguments name is in shared/inquiry. No room knows
// another one: what two of them need is in shared, or handed in by root.go.
//
// A command is added by its room, a line in root.go, wire types in package output with a golden file, and a
// script in testdata/script. Beside the definition of a flag stands how its value is completed in a shell, or
// why not (shared/inquiry); docs/completion.md lists all of that (go test -run CompletionTable -update).
package cli
