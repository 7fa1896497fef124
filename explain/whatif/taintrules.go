package whatif

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DeleteRulesEdit deletes DeviceTaintRules. A sandbox has none, since its devices carry their taints already,
// so it has to be made in the whole snapshot.
type DeleteRulesEdit struct{ Names []string }

// Key names the rules.
func (e DeleteRulesEdit) Key() string { return fmt.Sprintf("delete taint rules %q", e.Names) }

// Apply leaves the rules out.
func (e DeleteRulesEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) {
		o.TaintRules = slices.DeleteFunc(slices.Clone(o.TaintRules), func(rule *resourcev1.DeviceTaintRule) bool {
			return slices.Contains(e.Names, rule.Name)
		})
	}
}
