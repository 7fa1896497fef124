package fix

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// maxRules is the number of DeviceTaintRules that are tried.
const maxRules = 4

// deleteRules proposes to delete the DeviceTaintRules behind taints which it helps to tolerate: one by itself, or if that
// does not help all that set the taint. Drivers may set the same taint themselves.
func (s *search) deleteRules(ctx context.Context) error {
	done := map[string]bool{}
	for _, c := range slices.Clone(s.changes) {
		if c.Kind != explain.TolerateTaint || len(c.Edits) != 1 {
			continue
		}
		rules := s.taintRules(c.Edits, c.Node)
		var sets [][]explain.TaintRule
		for i := range rules[:min(len(rules), maxRules)] {
			sets = append(sets, rules[i:i+1])
		}
		if len(rules) > 1 {
			sets = append(sets, rules)
		}
		helped := false
		for _, set := range sets {
			change := deletingRules(set, &c)
			if done[change.Key] || helped && len(set) > 1 {
				continue
			}
			done[change.Key] = true
			fitting, err := s.FittingWith(ctx, change.Edits, change.Node)
			if err != nil {
				return err
			}
			if fitting.Len() > 0 {
				helped = true
				s.changes = append(s.changes, change)
			}
		}
	}
	return nil
}

// deletingRules is the change that deletes rules, on the node on which another one helps.
func deletingRules(rules []explain.TaintRule, tolerating *requirement.Change) requirement.Change {
	e := whatif.DeleteRulesEdit{}
	var names []string
	for _, r := range rules {
		e.Names, names = append(e.Names, r.Name), append(names, r.String())
	}
	return requirement.Change{
		Kind: explain.RemoveTaint, Edits: []whatif.Edit{e}, Node: tolerating.Node, Cost: requirement.CostRules + len(rules), Key: e.Key(), TaintRules: rules,
		Message: "delete " + words.Shorten(names, 3),
	}
}
