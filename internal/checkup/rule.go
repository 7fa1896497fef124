package checkup

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Rule looks for one kind of fault.
type Rule struct {
	Code     Code
	Severity Severity
	// About says what the rule reports, and what that means, in one or two sentences.
	About string
	// Remedy says what to do about it, unless a finding says it better.
	Remedy string

	// also is the worst severity that a finding of the rule may have instead.
	also Severity
	// needs are the resources without all of which nothing can be said.
	needs []inspect.Resource
	// files says that manifests can have the fault, without any cluster.
	files bool
	// upgrade says that it is only asked when a target is given.
	upgrade bool
	// access says that it needs to know who may do what.
	access bool
	// triage says that it needs to know what is stuck.
	triage bool
	find   func(*visit)
	index  int
}

// worst is the worst severity that a finding of the rule can have.
func (r *Rule) worst() Severity {
	if r.also != "" && r.also.AtLeast(r.Severity) {
		return r.also
	}
	return r.Severity
}

// rules are all rules, in the order in which they are told.
var rules = numbered(poolRules, deviceRules, selectorRules, classRules, claimRules, queueRules, podRules, taintRules, accessRules, serverRules, upgradeRules)

func numbered(parts ...[]Rule) []Rule {
	all := slices.Concat(parts...)
	for i := range all {
		all[i].index = i
	}
	return all
}

// Rules returns all rules, in the order in which they are told.
func Rules() []Rule { return slices.Clone(rules) }

// Codes returns the codes of all rules, in their order.
func Codes() []Code {
	out := make([]Code, len(rules))
	for i := range rules {
		out[i] = rules[i].Code
	}
	return out
}

// Files reports whether manifests can have the fault, without any cluster.
func (r *Rule) Files() bool { return r.files }
