package requirement

import (
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// What the scheduler's other filters have against a node becomes requirements, a kind for each matter. Only
// what refuses the node as things are is listed: to give up something else makes no filter refuse, but for
// spread constraints (see spreadRefusals), which count nodes that the pod may use.

// refusals are what filters have against the node, of the given codes.
func (s *site) refusals(codes ...filters.Code) []filters.Refusal {
	p := s.Q.Filtered()
	if p == nil {
		return nil
	}
	if s.outcome == nil {
		o := p.On(nodeName(s.Sandbox))
		s.outcome = &o
	}
	var out []filters.Refusal
	for _, r := range s.outcome.Refusals {
		for _, code := range codes {
			if r.Code == code {
				out = append(out, r)
			}
		}
	}
	return out
}

// ofPod makes a requirement of the pod.
func ofPod(kind explain.RequirementKind, r *filters.Refusal, path, message, actual string) explain.Requirement {
	return explain.Requirement{Kind: kind, Plugin: string(r.Plugin), Path: path, Message: message, Actual: actual}
}
