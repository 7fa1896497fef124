//go:build unix

package faults

import "syscall"

// session has a process begin a session of its own, on the terminal that it reads.
func session() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true, Setctty: true} }
