package screen

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
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

// modelNames are the attributes that say what kind of device it is, the best first.
var modelNames = []string{"model", "productname", "product", "profile", "type", "devicetype", "kind"}

// Model is what kind of device it is, as far as one of the usual attributes tells; not sanitised.
func Model(d *resourcev1.Device) string {
	at, text := len(modelNames), ""
	for name, a := range d.Attributes {
		short := strings.ToLower(string(name))
		short = short[strings.LastIndexByte(short, '/')+1:]
		if i := slices.Index(modelNames, short); i >= 0 && (i < at || i == at && selector.PlainAttribute(&a) < text) {
			at, text = i, selector.PlainAttribute(&a)
		}
	}
	return text
}
