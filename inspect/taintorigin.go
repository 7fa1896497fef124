package inspect

import (
	"encoding/json"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RulesBehind returns the DeviceTaintRules that give a device a taint, sorted by name. There are none if the
// taint is the driver's own. Drivers can set the same taint besides.
func (s *Snapshot) RulesBehind(id DeviceID, taint *resourcev1.DeviceTaint) []*resourcev1.DeviceTaintRule {
	var rules []*resourcev1.DeviceTaintRule
	for _, rule := range s.objects.TaintRules {
		t := &rule.Spec.Taint
		if t.Key == taint.Key && t.Value == taint.Value && t.Effect == taint.Effect && s.RuleTaints(rule, id) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// TaintSetBy returns the field manager that set the taint of a rule, such as "kubectl-create". It is empty if
// that is not known.
func TaintSetBy(rule *resourcev1.DeviceTaintRule) string {
	if entry := taintEntry(rule.ManagedFields); entry != nil {
		return entry.Manager
	}
	return ""
}

// ReduceManagedFields drops what says who set which field of an object, which can be its larger part. It
// keeps who has written the object in an old version of the API, which hardly anybody does, and of a
// DeviceTaintRule who set the taint.
func ReduceManagedFields(object metav1.Object) {
	kept := OldWriters(object)
	if rule, ok := object.(*resourcev1.DeviceTaintRule); ok {
		for i := range kept { // see ownsTaint
			kept[i].FieldsType, kept[i].FieldsV1 = "FieldsV1", metav1.NewFieldsV1("{}")
		}
		if entry := taintEntry(rule.ManagedFields); entry != nil && entry.Manager != "" {
			kept = append(kept, metav1.ManagedFieldsEntry{Manager: entry.Manager, Operation: entry.Operation, Time: entry.Time})
		}
	}
	object.SetManagedFields(kept)
}

// taintEntry returns the latest entry that says who set the taint of a rule, or nil. An entry without fields,
// as ReduceManagedFields leaves it, is about the taint.
func taintEntry(entries []metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	var latest *metav1.ManagedFieldsEntry
	for i := range entries {
		e := &entries[i]
		if e.Subresource != "" || !ownsTaint(e.FieldsV1) {
			continue
		}
		if latest == nil || e.Time != nil && (latest.Time == nil || latest.Time.Before(e.Time)) {
			latest = e
		}
	}
	return latest
}

func ownsTaint(fields *metav1.FieldsV1) bool {
	if fields == nil {
		return true
	}
	var owned struct {
		Spec *struct {
			Taint json.RawMessage `json:"f:taint"`
		} `json:"f:spec"`
	}
	return json.Unmarshal(fields.GetRawBytes(), &owned) == nil && owned.Spec != nil && len(owned.Spec.Taint) > 0
}
