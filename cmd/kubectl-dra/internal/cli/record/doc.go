// Package record holds what is kept of a cluster: kubectl dra snapshot saves a moment, record follows the
// cluster and writes a log, and diff says what changed between two moments.
package record
