package volume_test

import (
	"context"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestNoPodUsesTheClaim: that no pod uses a claim is said only where the pods of its namespace were read.
func TestNoPodUsesTheClaim(t *testing.T) {
	const unused, unknown = "no pod uses the claim", "it is not known whether one uses the claim"
	for name, test := range map[string]struct {
		health inspect.Health
		want   string
	}{
		"read":              {inspect.Health{State: inspect.Synced}, unused},
		"forbidden":         {inspect.Health{State: inspect.Forbidden}, unknown},
		"its namespace":     {inspect.Health{State: inspect.Narrowed, Namespaces: []string{"ml"}}, unused},
		"another namespace": {inspect.Health{State: inspect.Narrowed, Namespaces: []string{"infer"}}, unknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := demoVolumes(t, func(o *inspect.Objects) { o.Pods = nil }).
				WithHealth(map[inspect.Resource]inspect.Health{inspect.Pods: test.health})
			told := func(e *explain.Explanation) string {
				var out []string
				for _, note := range e.Waits {
					out = append(out, note.Message)
				}
				return strings.Join(out, "\n")
			}
			claim, err := question.Claim(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), inspect.ClaimRef{Namespace: "ml", Name: "train-0"}, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			asked := askVolume(t, s, question.Options{})
			for kind, got := range map[string]string{"claim": told(claim), "volume claim": told(asked)} {
				if !strings.Contains(got, test.want) {
					t.Errorf("%s: %q, want %q", kind, got, test.want)
				}
			}
		})
	}
}
