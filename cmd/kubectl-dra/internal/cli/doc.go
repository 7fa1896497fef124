// Package cli holds the commands, one file each: flags become options, options are validated, and the
// options run.
//
// Main runs one command line. Commands print answers to the injected streams and return errors;
// nothing but Main decides an exit code or prints an error (errors.go).
//
// Each command names what it works with (root.go): the streams that it prints to, the reader that makes a snapshot
// of a cluster, of files or of the demo cluster, and the connection, if it asks the server for anything else.
//
// A command is added by its file, a line in root.go, wire types in package output with a golden file, and a
// script in testdata/script. Beside the definition of a flag stands how its value is completed in a shell, or
// why not (complete.go); docs/completion.md lists all of that (go test -run CompletionTable -update).
package cli
