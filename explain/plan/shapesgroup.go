package plan

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sortGroups takes away the pods of groups too few of whose other pods a node can help: none of a group starts before all that it
// needs.
func (s *shaper) sortGroups() {
	if len(s.out.Stuck) == 0 {
		return
	}
	helped := map[explain.Subject]bool{}
	for _, pod := range s.pods {
		helped[subjectOf(pod)] = true
	}
	s.pods = slices.DeleteFunc(s.pods, func(pod *corev1.Pod) bool {
		gang, ok := question.Gang(s.base, pod, s.questions)
		if !ok {
			return false
		}
		left := 0
		for _, m := range gang.Members {
			left += words.Btoi(helped[m.Subject])
		}
		if left >= gang.Need {
			return false
		}
		kind := s.kindOf[subjectOf(pod)]
		kind.pods = slices.DeleteFunc(kind.pods, func(p *corev1.Pod) bool { return p == pod })
		s.out.Stuck = append(s.out.Stuck, explain.PendingPod{
			Subject: subjectOf(pod), Verdict: explain.Unsatisfiable, Code: allocator.PodGroupIncomplete,
			Message: fmt.Sprintf("its PodGroup %s is placed as a whole, and too many others of it wait for what no node brings", inspect.PodGroupOf(pod)),
		})
		return true
	})
	s.kinds = slices.DeleteFunc(s.kinds, func(k *podKind) bool { return len(k.pods) == 0 })
}
