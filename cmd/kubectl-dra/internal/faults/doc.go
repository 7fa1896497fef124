// Package faults holds only tests: every command against every fault of an API server that we could think of.
//
// The program runs as a process of its own, for time, memory, signals and terminals are part of what is
// tested. The server is that of internal/fakeserver, with the demo cluster. catalog_*_test.go are the faults
// and what has to come of them, commands_test.go the commands, check_test.go what holds of every run,
// whatever the fault: it ends in time, asks a bounded number of requests, writes only if it is told to and
// then all or nothing, never gives an answer that the honest server would not give without saying what is
// missing, and prints no raw character of the server's.
//
// go test runs a sample; with -faults=all it runs the whole table, with -update it also writes
// docs/reliability.md.
package faults
