package explain

import (
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TaintRule is a DeviceTaintRule that taints devices.
type TaintRule struct {
	Name string `json:"name"`
	// Age is the age of the rule as kubectl prints it, and Manager the field manager that set its taint, such
	// as "kubectl-create". Either is empty if it is not known.
	Age     string `json:"age,omitempty"`
	Manager string `json:"manager,omitempty"`
}

// TaintRules returns the rules that give any of the devices a taint, sorted by name. There are none if
// drivers set it themselves.
func TaintRules(s *inspect.Snapshot, taint *resourcev1.DeviceTaint, devices ...inspect.DeviceID) []TaintRule {
	if len(s.Objects().TaintRules) == 0 {
		return nil
	}
	var out []TaintRule
	for _, id := range devices {
		for _, rule := range s.RulesBehind(id, taint) {
			if !slices.ContainsFunc(out, func(r TaintRule) bool { return r.Name == rule.Name }) {
				out = append(out, TaintRule{rule.Name, words.Age(rule.CreationTimestamp.Time, s.Time()), inspect.TaintSetBy(rule)})
			}
		}
	}
	slices.SortFunc(out, func(a, b TaintRule) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// String names the rule, with its age and who set the taint.
func (r TaintRule) String() string {
	var known []string
	if r.Age != "" {
		known = append(known, r.Age+" old")
	}
	if r.Manager != "" {
		known = append(known, "by "+r.Manager)
	}
	if known == nil {
		return "DeviceTaintRule " + r.Name
	}
	return "DeviceTaintRule " + r.Name + " (" + strings.Join(known, ", ") + ")"
}

// SetBy says, after a taint, which rules set it, as ", set by DeviceTaintRule r (2d old, by kubectl-create)".
// It is empty if none does.
func SetBy(rules []TaintRule) string {
	if len(rules) == 0 {
		return ""
	}
	names := words.Each(rules, TaintRule.String)
	return ", set by " + words.Shorten(names, 3)
}
