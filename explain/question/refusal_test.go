package question_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestRefusalOfDemo: why pods of the demo cluster, and one for each of its claims, have no room is said in
// the same words whether or not it is looked for what helps.
func TestRefusalOfDemo(t *testing.T) {
	c := explaintest.DemoCluster(t)
	opts := question.Options{Hypothetical: true}
	refused := 0
	pods := slices.Clone(c.Snapshot().Objects().Pods)
	for _, claim := range c.Snapshot().Objects().Claims {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: claim.Namespace, Name: "with-" + claim.Name}}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "claim", ResourceClaimName: &claim.Name}}
		pods = append(pods, pod)
	}
	for _, pod := range pods {
		full, err := question.PodObject(t.Context(), c, pod, opts)
		if err != nil {
			t.Fatal(err)
		}
		brief, err := question.Refusal(t.Context(), c, pod, opts)
		if err != nil {
			t.Fatal(err)
		}
		if brief.Verdict != full.Verdict || brief.Message != full.Message || brief.Predicate != full.Predicate || brief.Brief != full.Brief {
			t.Errorf("%s: %s (%s), want %s (%s)", pod.Name, brief.Message, brief.Brief, full.Message, full.Brief)
		}
		if full.Verdict == explain.Unsatisfiable {
			refused++
		}
	}
	if refused < 20 {
		t.Errorf("only %d were refused", refused)
	}
}
