package screen

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/styled"
)

// TaintText is a taint of a device, with the DeviceTaintRules that set it; not sanitised.
func TaintText(s *inspect.Snapshot, id inspect.DeviceID, taint *resourcev1.DeviceTaint) string {
	return words.FormatTaint(taint) + explain.SetBy(explain.TaintRules(s, taint, id))
}

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
