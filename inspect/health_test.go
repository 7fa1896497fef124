package inspect_test

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestPartialIn asks for the objects of namespace ml, and for those of all namespaces, what may be missing.
func TestPartialIn(t *testing.T) {
	for name, test := range map[string]struct {
		health  inspect.Health
		ml, all bool
	}{
		"nobody tried":     {health: inspect.Health{}},
		"read":             {health: inspect.Health{State: inspect.Synced}},
		"not served":       {health: inspect.Health{State: inspect.NotServed}},
		"forbidden":        {health: inspect.Health{State: inspect.Forbidden}, ml: true, all: true},
		"its namespace":    {health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{"db", "ml"}}, all: true},
		"other namespaces": {health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{"db"}}, ml: true, all: true},
		"no namespace":     {health: inspect.Health{State: inspect.Narrowed, Namespaces: []string{""}}, ml: true, all: true},
		// A broken read keeps the namespaces of an earlier one, which are no promise.
		"broken": {health: inspect.Health{State: inspect.Broken, Namespaces: []string{"ml"}}, ml: true, all: true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.health.PartialIn("ml"); got != test.ml {
				t.Errorf("in ml: %v", got)
			}
			if got := test.health.PartialIn(""); got != test.all {
				t.Errorf("in all: %v", got)
			}
		})
	}
}
