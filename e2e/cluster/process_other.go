//go:build !linux

package cluster

import "syscall"

// endWithParent leaves the child in the group of the test, so that an interrupt typed on the terminal
// ends both. A test process that is killed leaves its children behind here.
func endWithParent() *syscall.SysProcAttr { return nil }
