package inspect_test

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const taintRulesYAML = `
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: d
  nodeName: n1
  pool: {name: p, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: own, taints: [{key: k, value: v, effect: NoSchedule}]}
  - {name: ruled}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata:
  name: b
  managedFields:
  - {manager: first, operation: Update, time: "2026-01-01T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:taint": {"f:key": {}}}}}
  - {manager: second, operation: Apply, time: "2026-01-02T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:taint": {"f:value": {}}}}}
  - {manager: labels, operation: Update, time: "2026-01-03T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:metadata": {"f:labels": {}}}}
  - {manager: controller, operation: Update, subresource: status, time: "2026-01-04T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:taint": {}}}}
  - {manager: broken, operation: Update, time: "2026-01-05T00:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:spec": 7}}
spec: {deviceSelector: {device: ruled}, taint: {key: k, value: v, effect: NoSchedule}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: a}
spec: {deviceSelector: {driver: d, device: ruled}, taint: {key: k, value: v, effect: NoSchedule}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: other-value}
spec: {deviceSelector: {device: ruled}, taint: {key: k, effect: NoSchedule}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: selects-nothing}
spec: {taint: {key: k, value: v, effect: NoSchedule}}
`

func TestRulesBehind(t *testing.T) {
	taint := &resourcev1.DeviceTaint{Key: "k", Value: "v", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	names := func(s *inspect.Snapshot, device string) (names string) {
		for _, rule := range s.RulesBehind(inspect.DeviceID{Driver: "d", Pool: "p", Device: device}, taint) {
			names += rule.Name + "=" + inspect.TaintSetBy(rule) + " "
		}
		return names
	}
	on := snapshotOf(t, taintRulesYAML, map[inspect.Gate]bool{inspect.GateDeviceTaintRules: true})
	if got := names(on, "ruled"); got != "a= b=second " {
		t.Errorf("behind the taint of ruled: %q, want a and b, which second has set", got)
	}
	if got := names(on, "own"); got != "" {
		t.Errorf("behind the driver's own taint: %q, want nothing", got)
	}
	off := snapshotOf(t, taintRulesYAML, map[inspect.Gate]bool{inspect.GateDeviceTaintRules: false})
	if got := names(off, "ruled"); got != "" {
		t.Errorf("without the gate: %q, want nothing", got)
	}
	for _, rule := range on.Objects().TaintRules {
		for _, entry := range rule.ManagedFields {
			if entry.FieldsV1 != nil || len(rule.ManagedFields) > 1 {
				t.Errorf("rule %s keeps more than who set its taint: %v", rule.Name, rule.ManagedFields)
			}
		}
	}
	for _, slice := range on.Objects().Slices {
		slice.ManagedFields = on.Objects().TaintRules[1].ManagedFields
		inspect.ReduceManagedFields(slice)
		if slice.ManagedFields != nil {
			t.Error("other objects keep managed fields")
		}
	}
}
