package explain

import (
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// NewHolder describes a claim that holds devices, without naming them.
func NewHolder(s *inspect.Snapshot, ref inspect.ClaimRef) Holder {
	h := Holder{Claim: ref, Pods: s.PodsOf(ref)}
	if claim, ok := s.Claim(ref); ok {
		h.State, h.Age = inspect.StateOf(claim), words.Age(claim.CreationTimestamp.Time, s.Time())
	}
	return h
}
