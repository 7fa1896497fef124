package inspect

import (
	resourcev1 "k8s.io/api/resource/v1"
)

// activeTaintRules returns the rules that can taint a device: those with a device selector, while
// the gate DRADeviceTaintRules is on. A rule without a selector selects nothing. Whether taints matter
// at all (DRADeviceTaints) is not asked here: the scheduler does not ask either when it adds them.
func activeTaintRules(rules []*resourcev1.DeviceTaintRule, f Features) []*resourcev1.DeviceTaintRule {
	if !f.Enabled(GateDeviceTaintRules) {
		return nil
	}
	var active []*resourcev1.DeviceTaintRule
	for _, rule := range rules {
		if rule.Spec.DeviceSelector != nil {
			active = append(active, rule)
		}
	}
	return active
}

// applyTaintRules returns the slice with the taints of the rules appended to the devices that they
// select, in the order of the rules' names. A slice that no rule touches is returned itself.
func applyTaintRules(slice *resourcev1.ResourceSlice, rules []*resourcev1.DeviceTaintRule) *resourcev1.ResourceSlice {
	var out *resourcev1.ResourceSlice
	for _, rule := range rules {
		for i := range slice.Spec.Devices {
			if !RuleSelects(rule, DeviceIDOf(slice, i)) {
				continue
			}
			if out == nil {
				out = slice.DeepCopy()
			}
			d := &out.Spec.Devices[i]
			d.Taints = append(d.Taints, rule.Spec.Taint)
		}
	}
	if out == nil {
		return slice
	}
	return out
}

// RuleSelects reports whether a DeviceTaintRule selects a device: every field that its selector sets
// must be equal. An empty selector selects all devices, a missing one none.
func RuleSelects(rule *resourcev1.DeviceTaintRule, id DeviceID) bool {
	sel := rule.Spec.DeviceSelector
	if sel == nil {
		return false
	}
	return unsetOr(sel.Driver, id.Driver) && unsetOr(sel.Pool, id.Pool) && unsetOr(sel.Device, id.Device)
}

func unsetOr(want *string, have string) bool { return want == nil || *want == have }
