//go:build unix

package timebudget

import (
	"syscall"
	"time"
)

// processorTime is what the program has had of the processors, user and system.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0 // then the clock counts
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
