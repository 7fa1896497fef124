// Package scenario reads and runs the scenarios of testdata/scenarios: each is one txtar file with a
// small cluster, questions about it, and the answers that must come out. Every layer of the program
// asserts from the same files, so a scenario says what is true of the cluster and nothing of how any
// layer shows it.
//
// [Load] reads a file into a [Scenario]. [Scenario.Ask] puts one of its questions to our allocator and
// [Question.Check] compares any [Answer], ours or the scheduler's, with what the file wants.
// The format is described in testdata/scenarios/README.md.
package scenario
