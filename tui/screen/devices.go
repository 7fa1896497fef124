package screen

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// StateRole is the look of the state of a device.
func StateRole(s inspect.DeviceState) theme.Role {
	switch s {
	case inspect.DeviceFree:
		return theme.Good
	case inspect.DeviceAllocated:
		return theme.Used
	case inspect.DevicePartial:
		return theme.Shared
	case inspect.DeviceTainted:
		return theme.Warn
	}
	return theme.Bad
}
