// Package clitest has what tests of several commands use: outputs that can be watched, snapshots as a watch
// of a cluster gives them, and a reader without flags.
package clitest
