// Package effort says how much work the tests do.
//
// The usual run, `go test ./...`, is for people who change the program: it has a sample of every comparison
// that is large enough to catch a mistake. .ci/run makes a run for every change in which four times as many
// random problems are compared, always the same. The full run, `make test-all`, compares tens of thousands of
// them, and repeats what is repeated over all fields, inputs and commands; `make everything` does it, every
// night.
package effort
