package filters

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// A kube-scheduler of another release than that of the libraries is a program of its own: a program has only
// one version of a package. It reads a kubeProblem in JSON after the other, and answers each with a
// kubeReply.

type kubeProblem struct {
	// Gates are those that this project knows in the release of the scheduler.
	Gates map[string]bool
	// Objects are those of the cluster, as an API server has them.
	Objects []json.RawMessage
	Asked   []*corev1.Pod
	// Score and Preempt ask for the scores and for what preemption says, besides the answers of the filters.
	Score, Preempt bool
	// Budgets are those that preemption is asked with, besides none.
	Budgets []*policyv1.PodDisruptionBudget
}

type kubeReply struct {
	Failure string
	Pods    []kubePod
	// Objects and Asked are those of the problem as the release has them, which may not know all fields.
	Objects []json.RawMessage
	Asked   []*corev1.Pod
}

// kubePod is what the scheduler says of a pod that is asked about.
type kubePod struct {
	Answer kubeAnswer
	Scores kubeScores
	// Preemption is with none, and then with all budgets.
	Preemption [2]kubePreemption
}
