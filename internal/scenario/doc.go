// Package scenario reads and runs the scenarios of testdata/scenarios: each is one txtar file with a
// small cluster, questions about it, and the answers that must come out. Every layer of the program
// asserts from the same files, so a scenario says what is true of the cluster and nothing of how any
// layer shows it.
//
// [Load] reads a file into a [Scenario], and [LoadPods] those of pods into a [PodScenario]. How answers are
// compared with what the file wants is the matter of the tests that ask.
// The format is described in testdata/scenarios/README.md.
package scenario
