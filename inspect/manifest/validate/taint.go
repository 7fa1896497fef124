package validate

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func taintEffects() []resourcev1.DeviceTaintEffect {
	return []resourcev1.DeviceTaintEffect{
		resourcev1.DeviceTaintEffectNone, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute,
	}
}

func (v *validator) effect(effect resourcev1.DeviceTaintEffect, path place) {
	for _, known := range taintEffects() {
		if effect == known {
			return
		}
	}
	v.refuse(field.NotSupported(path.path, effect, taintEffects()))
}

// taint checks a taint of a device or of a DeviceTaintRule.
func (v *validator) taint(taint *resourcev1.DeviceTaint, path place) {
	if taint.Key == "" {
		v.refuse(field.Required(path.Child("key").path, ""))
	} else {
		v.labelKey(taint.Key, path.Child("key"))
	}
	v.labelValue(taint.Value, path.Child("value"))
	if taint.Effect == "" {
		v.refuse(field.Required(path.Child("effect").path, "None, NoSchedule or NoExecute"))
		return
	}
	v.effect(taint.Effect, path.Child("effect"))
}

func (v *validator) toleration(t *resourcev1.DeviceToleration, path place) {
	if t.Key != "" {
		v.labelKey(t.Key, path.Child("key"))
	}
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		if t.Value != "" {
			v.refuse(field.Invalid(path.Child("value").path, inspect.SanitizeShort(t.Value, maxSnippetLength), "must be empty when the operator is Exists"))
		}
	case resourcev1.DeviceTolerationOpEqual:
		v.labelValue(t.Value, path.Child("value"))
		if t.Key == "" {
			v.note(path.Child("operator"), "without a key the operator should be Exists: this one tolerates every taint whose value is %q",
				inspect.SanitizeShort(t.Value, maxSnippetLength))
		}
	default:
		v.refuse(field.NotSupported(path.Child("operator").path, t.Operator, []resourcev1.DeviceTolerationOperator{
			resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists,
		}))
	}
	if t.Effect != "" {
		v.effect(t.Effect, path.Child("effect"))
	}
}

// taintRule checks the spec of a DeviceTaintRule.
func (v *validator) taintRule(spec *resourcev1.DeviceTaintRuleSpec, path place) {
	if selector := spec.DeviceSelector; selector == nil {
		v.note(path.Child("deviceSelector"), "without it the rule taints no device; an empty one ({}) taints all")
	} else {
		path := path.Child("deviceSelector")
		if selector.Driver != nil {
			v.driver(*selector.Driver, path.Child("driver"))
		}
		if selector.Pool != nil {
			v.poolName(*selector.Pool, path.Child("pool"))
		}
		if selector.Device != nil {
			v.label(*selector.Device, path.Child("device"))
		}
	}
	v.taint(&spec.Taint, path.Child("taint"))
}
