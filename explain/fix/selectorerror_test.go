package fix_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestFixesOfFailingSelectors checks the fixes of a selector that fails for a device: the fields that the
// device lacks are read under the right name, or asked for first, or the term is dropped. Each fix is applied
// and tried.
func TestFixesOfFailingSelectors(t *testing.T) {
	for _, tt := range []struct {
		name       string
		attributes []string
		selector   string
		class      string // selector of the class
		want       []string
	}{
		{"one field", []string{"a b", "b"}, explaintest.Attribute + `a >= 4 && ` + explaintest.Attribute + `b == 4`, "",
			[]string{"1 has(" + explaintest.Attribute + "a) && " + explaintest.Attribute + "a >= 4 && " + explaintest.Attribute + "b == 4", "2 " + explaintest.Attribute + "b == 4"}},
		{"another field behind it", []string{"a b", "b", "a"}, explaintest.Attribute + `a >= 4 && ` + explaintest.Attribute + `b == 4`, "",
			[]string{"1 has(" + explaintest.Attribute + "a) && " + explaintest.Attribute + "a >= 4 && has(" + explaintest.Attribute + "b) && " + explaintest.Attribute + "b == 4", "3 –"}},
		{"two fields in a term", []string{"a b", "b", "a"}, explaintest.Attribute + `a + ` + explaintest.Attribute + `b == 8`, "",
			[]string{"1 has(" + explaintest.Attribute + "a) && has(" + explaintest.Attribute + "b) && " + explaintest.Attribute + "a + " + explaintest.Attribute + "b == 8", "3 –"}},
		{"an alternative", []string{"a b", "b"}, explaintest.Attribute + `a == 3 || ` + explaintest.Attribute + `a == 4`, "",
			[]string{"1 has(" + explaintest.Attribute + "a) && (" + explaintest.Attribute + "a == 3 || " + explaintest.Attribute + "a == 4)", "2 –"}},
		{"no field at all", []string{"a", "a"}, `1 / (` + explaintest.Attribute + `a - 4) == 1`, "", []string{"2 –"}},
		{"no device has it", []string{"b", "b"}, explaintest.Attribute + `a == 4 && ` + explaintest.Attribute + `b == 4`, "", []string{"2 " + explaintest.Attribute + "b == 4"}},
		{"a slip", []string{"model", "model"}, explaintest.Attribute + `modell == 4`, "", []string{"2 " + explaintest.Attribute + "model == 4", "2 –"}},
		{"a slip in the domain", []string{"model", "model"}, `device.attributes["gpu.example.org"].model == 4`, "",
			[]string{"2 " + explaintest.Attribute + "model == 4", "2 –"}},
		{"no slip, since others have it", []string{"model", "modell"}, explaintest.Attribute + `modell == 4`, "",
			[]string{"1 has(" + explaintest.Attribute + "modell) && " + explaintest.Attribute + "modell == 4", "2 –"}},
		{"of the class", []string{"a b", "b"}, explaintest.Attribute + `b == 4`, explaintest.Attribute + `a == 4`,
			[]string{"1 class has(" + explaintest.Attribute + "a) && " + explaintest.Attribute + "a == 4", "2 class –"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := explaintest.NodesWithAttributes(tt.attributes...)
			if tt.class != "" {
				o.Classes[0].Spec.Selectors = explaintest.CELSelectors(tt.class)
			}
			claim := explaintest.GPUClaim(1, "any")
			claim.Spec.Devices.Requests[0].Exactly.Selectors = explaintest.CELSelectors(tt.selector)
			e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
			if err != nil || e.Verdict != explain.Invalid {
				t.Fatalf("%+v, %v", e, err)
			}
			var got []string
			for i := range e.Fixes {
				got = append(got, repaired(t, o, claim, &e.Fixes[i]))
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("fixes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

// TestFixOfClassOfAlternatives checks that a term of a class that fails for several alternatives is repaired
// once, for all the fields that devices lack.
func TestFixOfClassOfAlternatives(t *testing.T) {
	o := explaintest.NodesWithAttributes("a b", "b", "a")
	o.Classes[0].Spec.Selectors = explaintest.CELSelectors(explaintest.Attribute + `a + ` + explaintest.Attribute + `b == 8`)
	claim := explaintest.GPUClaim(1, "any")
	claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{Name: "first", FirstAvailable: []resourcev1.DeviceSubRequest{
		{Name: "x", DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1, Selectors: explaintest.CELSelectors(`false`)},
		{Name: "y", DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1},
	}}
	e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
	if err != nil || e.Verdict != explain.Invalid || len(e.Fixes) == 0 {
		t.Fatalf("%+v, %v", e, err)
	}
	want := "1 class has(" + explaintest.Attribute + "a) && has(" + explaintest.Attribute + "b) && " + explaintest.Attribute + "a + " + explaintest.Attribute + "b == 8"
	if got := repaired(t, o, claim, &e.Fixes[0]); got != want {
		t.Errorf("fix\n%s\nwant\n%s", got, want)
	}
}

// repaired applies a fix, and checks that it helps on as many nodes as it says and that nothing fails any
// more. It returns that number with the selector, or the selector of the class, after the fix.
func repaired(t *testing.T, o inspect.Objects, claim *resourcev1.ResourceClaim, f *explain.Fix) string {
	t.Helper()
	where, left := "", "–"
	if f.Kind != explain.RelaxSelector {
		t.Errorf("fix %+v", f)
	}
	if len(f.Patch) == 0 {
		where = "class "
		class := o.Classes[0].DeepCopy()
		class.Spec.Selectors = nil
		if _, expression, ok := strings.Cut(f.Message, "do not match: "); ok {
			class.Spec.Selectors = explaintest.CELSelectors(expression)
			left = expression
		}
		o.Classes = []*resourcev1.DeviceClass{class}
	} else {
		claim = patched(t, claim, f.Patch)
		if selectors := claim.Spec.Devices.Requests[0].Exactly.Selectors; len(selectors) > 0 {
			left = selectors[0].CEL.Expression
		}
	}
	fits := 0
	c := explaintest.NewCluster(o)
	for _, node := range o.Nodes {
		result, err := c.Allocate(context.Background(), node, []*resourcev1.ResourceClaim{claim}, nil)
		var abort *allocator.AbortError
		switch {
		case errors.As(err, &abort):
			t.Errorf("with the fix %q the scheduler gives up on %s: %v", f.Message, node.Name, err)
		case err != nil:
			t.Fatal(err)
		case result.Outcome == allocator.Allocated:
			fits++
		}
	}
	if fits != f.Nodes {
		t.Errorf("the fix %q helps on %d nodes, not %d", f.Message, fits, f.Nodes)
	}
	return fmt.Sprintf("%d %s%s", f.Nodes, where, left)
}
