package tui

import (
	"os"
	"strconv"
	"syscall"
)

func threadID() int { return syscall.Gettid() }

// niceness is what priority is counted in: how nice a thread is to others.
func niceness(thread int) (int, error) {
	const zero = 20 // what the system call returns instead of 0, so that nothing is negative
	priority, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread)
	return zero - priority, err
}

// lowerOthers gives less priority to all threads but some. Where that fails they keep theirs.
func lowerOthers(but map[int]bool) {
	own, err := niceness(threadID())
	if err != nil {
		return
	}
	seen := map[int]bool{}
	for more := true; more; { // those that were not lowered yet may have started others
		more = false
		entries, _ := os.ReadDir("/proc/self/task")
		for _, entry := range entries {
			thread, err := strconv.Atoi(entry.Name())
			if err != nil || but[thread] || seen[thread] {
				continue
			}
			seen[thread], more = true, true
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, thread, own+background)
		}
	}
}
