package question_test

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestClassesThatWereNotRead: that a device class does not exist is known only if all were read.
func TestClassesThatWereNotRead(t *testing.T) {
	for name, test := range map[string]struct {
		health inspect.Health
		want   explain.Verdict
	}{
		"read":      {inspect.Health{State: inspect.Synced}, explain.Unsatisfiable},
		"forbidden": {inspect.Health{State: inspect.Forbidden, Message: "m"}, explain.Unknown},
		"broken":    {inspect.Health{State: inspect.Broken, Message: "m"}, explain.Unknown},
	} {
		s := inspect.New(explaintest.NodesWithDevices(1), inspect.Config{
			Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: map[inspect.Resource]inspect.Health{inspect.Classes: test.health},
		})
		c := scheduler.NewCluster(s, scheduler.Options{})
		for class, want := range map[string]explain.Verdict{"none": test.want, "any": explain.Allocatable} {
			e, err := question.ClaimObject(t.Context(), c, explaintest.GPUClaim(1, class), question.Options{})
			if err != nil || e.Verdict != want {
				t.Errorf("%s, class %s: %s %s, %v", name, class, e.Verdict, e.Message, err)
				continue
			}
			if class == "any" {
				continue
			}
			unknown := want == explain.Unknown
			if (e.Brief == "") != unknown || (len(e.Partial) > 0) != unknown || e.Nodes.Total != 1 || strings.Contains(e.Message, "not known whether the device class exists") != unknown {
				t.Errorf("%s: %q, %q", name, e.Message, e.Brief)
			}
			if reason := e.Groups[0].Reasons[0]; reason.Code != allocator.ClassNotFound || reason.Told == unknown {
				t.Errorf("%s: %+v", name, reason)
			}
		}
	}
}
