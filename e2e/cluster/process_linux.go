package cluster

import "syscall"

// endWithParent makes the kernel kill a child when the test process dies, however it dies. A group of
// its own keeps an interrupt typed on the terminal from reaching the child before the test.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
