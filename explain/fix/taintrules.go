package fix

import (
	"context"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/requirement"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxRules is the number of DeviceTaintRules that are tried.
const maxRules = 4

// ruledTaint is a taint on a node, by the rules that set it.
type ruledTaint struct {
	rules []explain.TaintRule
	node  inspect.NodeName
}

// deleteRules proposes to delete the DeviceTaintRules behind taints which it helps to tolerate, or which
// nobody can tolerate: one by itself, or if that does not help all that set the taint. Drivers may set the
// same taint themselves.
func (s *search) deleteRules(ctx context.Context) {
	done := map[string]bool{}
	taints := slices.Clone(s.ruled)
	for _, c := range s.changes {
		if c.Kind == explain.TolerateTaint && len(c.Edits) == 1 {
			taints = append(taints, ruledTaint{s.taintRules(c.Edits, c.Node), c.Node})
		}
	}
	for _, t := range taints {
		rules := t.rules
		var sets [][]explain.TaintRule
		for i := range rules[:min(len(rules), maxRules)] {
			sets = append(sets, rules[i:i+1])
		}
		if len(rules) > 1 {
			sets = append(sets, rules)
		}
		helped := false
		for _, set := range sets {
			change := deletingRules(set, t.node)
			if done[change.Key] || helped && len(set) > 1 {
				continue
			}
			done[change.Key] = true
			if s.Q.FittingWith(ctx, change.Edits, change.Node).Len() > 0 {
				helped = true
				s.changes = append(s.changes, change)
			}
		}
	}
}

// deletingRules is the change that deletes rules, of which a node has the taint.
func deletingRules(rules []explain.TaintRule, node inspect.NodeName) requirement.Change {
	e := whatif.DeleteRulesEdit{Names: ruleNames(rules)}
	return requirement.Change{
		Kind: explain.RemoveTaint, Edits: []whatif.Edit{e}, Node: node, Cost: requirement.CostRules + len(rules), Key: e.Key(), TaintRules: rules,
		Message: "delete " + words.Shorten(words.Each(rules, explain.TaintRule.String), 3),
	}
}
