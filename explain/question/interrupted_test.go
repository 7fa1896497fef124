package question_test

import (
	"context"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestInterrupted: a question whose context ends on the way gives an error, or else the whole answer.
func TestInterrupted(t *testing.T) {
	c := explaintest.DemoCluster(t)
	for _, claim := range c.Snapshot().Objects().Claims {
		if claim.Status.Allocation != nil {
			continue
		}
		want, err := question.ClaimObject(t.Context(), c, claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for after := time.Duration(0); after < 20*time.Millisecond; after += 2 * time.Millisecond {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			got, err := question.ClaimObject(ctx, c, claim, question.Options{})
			cancel()
			if err == nil && (got.Message != want.Message || len(got.Fixes) != len(want.Fixes)) {
				t.Errorf("%s after %v: %s, %d fixes; want %s, %d", claim.Name, after, got.Message, len(got.Fixes), want.Message, len(want.Fixes))
			}
		}
	}
}
