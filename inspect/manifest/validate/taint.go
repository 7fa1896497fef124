package validate

import (
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func (v *validator) effect(effect resourcev1.DeviceTaintEffect, path place) {
	supported(v, effect, path,
		resourcev1.DeviceTaintEffectNone, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute)
}

// checkTaint checks a taint of a device or of a DeviceTaintRule.
func checkTaint(v *validator, taint *resourcev1.DeviceTaint, path place) {
	if v.required(taint.Key, path.Child("key"), "") {
		v.labelKey(taint.Key, path.Child("key"))
	}
	v.messages(taint.Value, path.Child("value"), validation.IsValidLabelValue(taint.Value))
	if v.required(string(taint.Effect), path.Child("effect"), "None, NoSchedule or NoExecute") {
		v.effect(taint.Effect, path.Child("effect"))
	}
}

func checkToleration(v *validator, t *resourcev1.DeviceToleration, path place) {
	if t.Key != "" {
		v.labelKey(t.Key, path.Child("key"))
	}
	supported(v, t.Operator, path.Child("operator"), resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)
	switch t.Operator {
	case resourcev1.DeviceTolerationOpExists:
		if t.Value != "" {
			v.refuse(field.Invalid(path.Child("value").path, inspect.SanitizeShort(t.Value, maxSnippetLength), "must be empty when the operator is Exists"))
		}
	case resourcev1.DeviceTolerationOpEqual:
		v.messages(t.Value, path.Child("value"), validation.IsValidLabelValue(t.Value))
		if t.Key == "" {
			v.note(path.Child("operator"), "without a key the operator should be Exists: this one tolerates every taint whose value is %q",
				inspect.SanitizeShort(t.Value, maxSnippetLength))
		}
	}
	if t.Effect != "" {
		v.effect(t.Effect, path.Child("effect"))
	}
}

// checkTaintRule checks the spec of a DeviceTaintRule.
func checkTaintRule(v *validator, spec *resourcev1.DeviceTaintRuleSpec, path place) {
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
	checkTaint(v, &spec.Taint, path.Child("taint"))
}
