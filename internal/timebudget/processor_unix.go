//go:build unix

package timebudget

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that the process has used, user and system. It is 0 if it cannot
// be read; then only the clock counts.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
