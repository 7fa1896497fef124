package timebudget

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that the process has used, user and kernel. It is 0 if it cannot
// be read; then only the clock counts.
func processorTime() time.Duration {
	var created, ended, kernel, user syscall.Filetime
	process, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(process, &created, &ended, &kernel, &user)
	}
	if err != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks is an amount of time in units of 100 ns.
func ticks(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
