// Package check holds kubectl dra check: what is wrong in a cluster or in files, whether or not a pod waits,
// and, with --driver --watch, what a driver publishes as it changes. The rules are in internal/checkup.
package check
