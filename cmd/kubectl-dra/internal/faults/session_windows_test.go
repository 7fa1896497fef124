package faults

import "syscall"

// session is nothing: Windows has no sessions, and pseudo terminals cannot be opened there either.
func session() *syscall.SysProcAttr { return nil }
