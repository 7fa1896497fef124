package triage_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
)

// TestFixForAll: a change that was tried on all that ask for the same says so, and has the commands for each.
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
	if want := []string{of("a"), of("b"), of("c")}; !slices.Equal(fixes[i].Commands, want) {
		t.Errorf("%q, want %q", fixes[i].Commands, want)
	}
}
