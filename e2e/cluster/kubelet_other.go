//go:build !linux

package cluster

import (
	"errors"
	"syscall"
)

type isolation struct{ user bool }

func (isolation) attributes() *syscall.SysProcAttr { return nil }

func isolate() (isolation, error) { return isolation{}, errors.New("only Linux has them") }
