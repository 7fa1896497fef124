package inspect

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// activeTaintRules returns the rules that can taint a device, while the gate DRADeviceTaintRules is on.
// Whether taints matter at all (DRADeviceTaints) is not asked here: the scheduler does not ask either when it
// adds them.
func (s *Snapshot) activeTaintRules() []*resourcev1.DeviceTaintRule {
	switch {
	case !s.config.Features.Enabled(GateDeviceTaintRules):
		return nil
	case s.NoSelectorTaintsAll():
		return s.objects.TaintRules
	}
	return slices.DeleteFunc(slices.Clone(s.objects.TaintRules), func(r *resourcev1.DeviceTaintRule) bool { return r.Spec.DeviceSelector == nil })
}

// NoSelectorTaintsAll reports whether kube-scheduler takes a DeviceTaintRule without a device selector for
// one that taints every device. Of the controllers only one does, see NoSelectorEvictsAll.
func (s *Snapshot) NoSelectorTaintsAll() bool { return !rulesNeedSelector.In(s.release) }

// TaintRulesCrash reports whether kube-scheduler crashes because there are DeviceTaintRules, as that of
// 1.36.0 to 1.36.2 does where it looks at them: it reads them in one version of the API and takes them for
// those of another (resourceslice/tracker). It crashes as soon as it gets to know of a ResourceSlice, until
// then rules taint nothing.
func (s *Snapshot) TaintRulesCrash() bool {
	return s.config.Features.Enabled(GateDeviceTaintRules) && len(s.objects.TaintRules) > 0 && !s.release.Before(36, 0) && s.release.Before(36, 3)
}

// RuleTaints reports whether kube-scheduler adds the taint of a DeviceTaintRule to a device.
func (s *Snapshot) RuleTaints(rule *resourcev1.DeviceTaintRule, id DeviceID) bool {
	return s.config.Features.Enabled(GateDeviceTaintRules) && (RuleSelects(rule, id) || rule.Spec.DeviceSelector == nil && s.NoSelectorTaintsAll())
}

// NoSelectorEvictsAll reports whether the controller that evicts pods because of devices takes a
// DeviceTaintRule without a device selector for one that taints every device.
func (s *Snapshot) NoSelectorEvictsAll() bool {
	return s.NoSelectorTaintsAll() && s.evictsAsScheduled()
}

// evictsAsScheduled reports whether the controller that evicts pods because of devices sees their taints as
// kube-scheduler does, through resourceslice/tracker. Since 1.35 it reads slices and rules itself.
func (s *Snapshot) evictsAsScheduled() bool { return s.release.Before(35, 0) }

// RuleEvicts reports whether the controller that evicts pods because of devices takes a device to have the
// taint of a DeviceTaintRule. In 1.34 that is so only if the device is published; later also if it is not any
// more.
func (s *Snapshot) RuleEvicts(rule *resourcev1.DeviceTaintRule, id DeviceID, published bool) bool {
	if s.evictsAsScheduled() {
		return published && s.RuleTaints(rule, id)
	}
	return s.config.Features.Enabled(GateDeviceTaintRules) && RuleSelects(rule, id)
}

// applyTaintRules returns the slice with the taints of active rules appended to the devices that they
// are for, in the order of the rules' names. A slice that no rule touches is returned itself.
func applyTaintRules(slice *resourcev1.ResourceSlice, rules []*resourcev1.DeviceTaintRule) *resourcev1.ResourceSlice {
	var out *resourcev1.ResourceSlice
	for _, rule := range rules {
		for i := range slice.Spec.Devices {
			if rule.Spec.DeviceSelector != nil && !RuleSelects(rule, DeviceIDOf(slice, i)) {
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

// RuleSelects reports whether a DeviceTaintRule selects a device: every field that its selector sets must be
// equal. An empty selector selects all devices, a missing one none. See Snapshot.RuleTaints for the scheduler
// and Snapshot.RuleEvicts for the controller that evicts pods, which may see that otherwise.
func RuleSelects(rule *resourcev1.DeviceTaintRule, id DeviceID) bool {
	sel := rule.Spec.DeviceSelector
	if sel == nil {
		return false
	}
	return unsetOr(sel.Driver, id.Driver) && unsetOr(sel.Pool, id.Pool) && unsetOr(sel.Device, id.Device)
}

func unsetOr(want *string, have string) bool { return want == nil || *want == have }
