package inspect

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// FenceKey is the key of the taint of DeviceTaintRules by which kubectl dra allocate and deallocate keep
// kube-scheduler off a device that it believes to be free. It is the key of their label and annotation, too.
const FenceKey = "kubectl-dra.dev/fence"

// Fences returns the names, sorted, of the DeviceTaintRules that fence a device off.
func (s *Snapshot) Fences(id DeviceID) []string {
	var names []string
	for _, rule := range s.objects.TaintRules {
		if rule.Spec.DeviceSelector != nil && rule.Spec.Taint.Key == FenceKey && RuleSelects(rule, id) {
			names = append(names, rule.Name)
		}
	}
	slices.Sort(names)
	return names
}

// FencedBy returns the device that a rule is a fence around, or false if it is none.
func FencedBy(rule *resourcev1.DeviceTaintRule) (DeviceID, bool) {
	s := rule.Spec.DeviceSelector
	if rule.Spec.Taint.Key != FenceKey || s == nil || s.Driver == nil || s.Pool == nil || s.Device == nil {
		return DeviceID{}, false
	}
	return DeviceID{Driver: *s.Driver, Pool: *s.Pool, Device: *s.Device}, true
}

// FenceAdvice says how to lift a fence of that name.
func FenceAdvice(name string) string {
	return fmt.Sprintf("fenced off by DeviceTaintRule %s, since two claims held it; once no claim does, the next \"kubectl dra allocate\" or \"deallocate\" removes the rule, or \"kubectl delete devicetaintrule %s\"", name, name)
}
