// Package effort says how much work the tests do.
//
// The usual run, `go test ./...`, is for people who change the program: a good two minutes of CPU, with a sample of
// every comparison that is large enough to catch a mistake. The full run, `make test-all`, compares tens of
// thousands of random problems; .ci/run does it for every change.
package effort
