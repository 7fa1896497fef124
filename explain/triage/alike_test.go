package triage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// TestFixForAll: a change that was tried on all that ask for the same says so, and of whom.
func TestFixForAll(t *testing.T) {
	o := explaintest.NodesWithDevices(2, 2, 2)
	for i, name := range []string{"a", "b", "c"} {
		waiting(&o, name, 3, i)
	}
	of := func(name string) string { return "explain pod " + name + " -n ml --fix 1" }
	got, err := triage.Of(t.Context(), explaintest.NewCluster(o), triage.Options{Explained: func(e *explain.Explanation) {
		for i := range e.Fixes {
			e.Fixes[i].Commands = []string{of(e.Subject.Name)}
		}
	}})
	if err != nil || len(got.Causes) != 1 {
		t.Fatal(got, err)
	}
	fixes := got.Causes[0].Fixes
	i := slices.IndexFunc(fixes, func(f explain.CauseFix) bool { return f.Kind == explain.ReduceCount })
	if i < 0 || len(fixes[i].Frees) != 3 || !strings.HasPrefix(fixes[i].Message, "in claim a and 2 alike: ") {
		t.Fatalf("%+v", fixes)
	}
	if names := words.Each(fixes[i].Alike, explain.Subject.FullName); !slices.Equal(fixes[i].Commands, []string{of("a")}) || !slices.Equal(names, []string{"ml/b", "ml/c"}) {
		t.Errorf("%q for all of %q", fixes[i].Commands, names)
	}
}
