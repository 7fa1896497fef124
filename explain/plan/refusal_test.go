package plan

import (
	"math/rand/v2"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestRefusalSaysTheSame: why a pod is left waiting is said in the same words, whether or not it is looked
// for what helps.
func TestRefusalSaysTheSame(t *testing.T) {
	refused := 0
	for seed := range uint64(300) {
		p := randomProblem(rand.New(rand.NewPCG(seed, 7)))
		c := p.cluster()
		for _, pod := range p.pods {
			full, err := question.PodObject(t.Context(), c, pod, question.Options{Hypothetical: true})
			if err != nil {
				t.Fatal(err)
			}
			brief, err := question.Refusal(t.Context(), c, pod, question.Options{Hypothetical: true})
			if err != nil {
				t.Fatal(err)
			}
			got, want := PendingFor(brief, explain.Unsatisfiable), PendingFor(full, explain.Unsatisfiable)
			if *got != *want {
				t.Fatalf("seed %d, pod %s: %+v, want %+v", seed, pod.Name, got, want)
			}
			if full.Verdict == explain.Unsatisfiable {
				refused++
			}
			if len(brief.Fixes) > 0 {
				t.Fatalf("seed %d, pod %s: %d fixes", seed, pod.Name, len(brief.Fixes))
			}
		}
	}
	if refused < 50 {
		t.Errorf("only %d of the pods were refused", refused)
	}
}
