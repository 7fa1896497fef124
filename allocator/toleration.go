package allocator

import resourcev1 "k8s.io/api/resource/v1"

// Untolerated returns the first taint that keeps the device from being allocated, or nil. Only the
// effects NoSchedule and NoExecute do; any other has no consequence for allocation.
func Untolerated(taints []resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) *resourcev1.DeviceTaint {
	return untolerated(taints, tolerations, false)
}

// untolerated is Untolerated, or, where rules.unknownTaints, the same for taints of any effect.
func untolerated(taints []resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration, every bool) *resourcev1.DeviceTaint {
	for i := range taints {
		taint := &taints[i]
		keepsOff := every || taint.Effect == resourcev1.DeviceTaintEffectNoSchedule || taint.Effect == resourcev1.DeviceTaintEffectNoExecute
		if keepsOff && !Tolerated(taint, tolerations) {
			return taint
		}
	}
	return nil
}

// Tolerated reports whether one of the tolerations covers a taint, whatever the effect of the taint is.
func Tolerated(taint *resourcev1.DeviceTaint, tolerations []resourcev1.DeviceToleration) bool {
	for i := range tolerations {
		if tolerates(&tolerations[i], taint) {
			return true
		}
	}
	return false
}

func tolerates(t *resourcev1.DeviceToleration, taint *resourcev1.DeviceTaint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		return true
	case resourcev1.DeviceTolerationOpEqual, "":
		return t.Value == taint.Value
	}
	return false
}
