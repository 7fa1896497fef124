package screen

import (
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/lifecycle"
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

// HeldFor says since when a claim holds what it has, as exactly as that is known, with a blank in front: " for 3d or
// longer".
func HeldFor(s *inspect.Snapshot, claim inspect.ClaimRef) string {
	at, known := lifecycle.HeldSince(s, claim)
	age := FormatAge(Age(s, at))
	switch known {
	case lifecycle.Exactly:
		return " for " + age
	case lifecycle.AtLeast:
		return " for " + age + " or longer"
	case lifecycle.AtMost:
		return " for " + age + " or less"
	}
	return ""
}
