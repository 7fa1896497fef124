package scores

import (
	"fmt"
	"slices"

	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// prepareNodeAffinity is the plugin NodeAffinity: a node gets the weights of all terms that it meets of those
// that the pod, or its profile, would like to be met.
func prepareNodeAffinity(s *Scorer) (part, []filters.Doubt) {
	preferred := s.profile.AddedPreferences()
	if a := s.pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		preferred = slices.Concat(preferred, a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if len(preferred) == 0 {
		return nil, nil
	}
	terms, err := nodeaffinity.NewPreferredSchedulingTerms(preferred)
	if err != nil {
		s.fail(fmt.Sprintf("a preferred term of the pod's node affinity cannot be read: %v", err))
		return nil, nil
	}
	return newLocal(s, fmt.Sprintf("%+v", preferred), func(n filters.Node) int64 { return terms.Score(n.Object()) }, upTo), nil
}
