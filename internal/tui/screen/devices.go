package screen

import (
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// StateRole is the look of the state of a device.
func StateRole(s inspect.DeviceState) styled.Role {
	switch s {
	case inspect.DeviceFree:
		return styled.Good
	case inspect.DeviceAllocated:
		return styled.Used
	case inspect.DevicePartial:
		return styled.Shared
	case inspect.DeviceBlocked:
		return styled.Dim
	case inspect.DeviceTainted:
		return styled.Warn
	}
	return styled.Bad
}
