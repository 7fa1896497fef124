// Package cli holds the commands, one file each: flags become options, options are validated, and the
// options run.
//
// Main runs one command line. Commands print answers to the injected streams and return errors;
// nothing but Main decides an exit code or prints an error (errors.go). source.go is where snapshots
// come from: a cluster, files, or the demo cluster.
package cli
