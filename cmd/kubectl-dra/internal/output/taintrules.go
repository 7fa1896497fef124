package output

import (
	"strconv"
	"strings"

	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ListedTaintRule is an item of a TaintRuleList: a DeviceTaintRule.
type ListedTaintRule struct {
	Listed
	Name  string `json:"name"`
	Taint Taint  `json:"taint"`
	// Driver, Pool and Device are what its selector names. All are empty if it selects every device, or none.
	Driver string `json:"driver,omitempty"`
	Pool   string `json:"pool,omitempty"`
	Device string `json:"device,omitempty"`
	// Devices is how many devices have its taint for the scheduler, and Held how many of them claims hold.
	Devices int    `json:"devices"`
	Held    int    `json:"held"`
	Age     string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// TaintRules lists the DeviceTaintRules of a snapshot.
func TaintRules(s *inspect.Snapshot) *List {
	list := NewList("TaintRuleList", "devicetaintrule.resource.k8s.io", taintRuleTable)
	for _, rule := range s.Objects().TaintRules {
		taint := &rule.Spec.Taint
		r := &ListedTaintRule{
			Name: rule.Name, Taint: Taint{Key: taint.Key, Value: taint.Value, Effect: string(taint.Effect)},
			Age: age(rule.CreationTimestamp, s.Time()), Created: Timestamp(rule.CreationTimestamp),
			Listed: Listed{Meta{Name: rule.Name, Labels: rule.Labels, Created: rule.CreationTimestamp}},
		}
		if selector := rule.Spec.DeviceSelector; selector != nil {
			r.Driver, r.Pool, r.Device = ptr.Deref(selector.Driver, ""), ptr.Deref(selector.Pool, ""), ptr.Deref(selector.Device, "")
		}
		for d := range s.Inventory().Newest() {
			if !s.RuleTaints(rule, d.ID) {
				continue
			}
			if r.Devices++; d.Held() {
				r.Held++
			}
		}
		list.Items = append(list.Items, r)
	}
	return list
}

// selects says which devices the rule is for.
func (r *ListedTaintRule) selects() string {
	var parts []string
	for _, part := range []struct{ name, value string }{{"driver", r.Driver}, {"pool", r.Pool}, {"device", r.Device}} {
		if part.value != "" {
			parts = append(parts, part.name+" "+part.value)
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case r.Devices > 0:
		return "every device"
	}
	return "<none>"
}

var taintRuleTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "TAINT"}, {Header: "SELECTS", Cut: CutText, Least: 24, Rank: 2}, {Header: "DEVICES"}, {Header: "HELD"}, {Header: "AGE", Rank: 1},
	},
	Row: func(item Item) []string {
		r := item.(*ListedTaintRule)
		return []string{r.Name, r.Taint.String(), r.selects(), strconv.Itoa(r.Devices), strconv.Itoa(r.Held), r.Age}
	},
}
