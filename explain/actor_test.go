package explain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// constantsOf are the values of the constants of a type in a file of the package.
func constantsOf(t *testing.T, file, name string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == name {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, value)
		}
		return true
	})
	if len(out) == 0 {
		t.Fatalf("%s has no constants of type %s", file, name)
	}
	return out
}

// TestEveryKindHasAnActor: of every kind of fix and of requirement it is said who acts.
func TestEveryKindHasAnActor(t *testing.T) {
	for _, kind := range constantsOf(t, "fix.go", "FixKind") {
		if _, ok := explain.FixActors[explain.FixKind(kind)]; !ok {
			t.Errorf("nobody makes the fix %s", kind)
		}
	}
	for _, kind := range constantsOf(t, "requirement.go", "RequirementKind") {
		if _, ok := explain.RequirementActors[explain.RequirementKind(kind)]; !ok {
			t.Errorf("nobody can give up the requirement %s", kind)
		}
	}
}

// TestActor: who acts follows from what is changed, and of several it is the one who is farthest.
func TestActor(t *testing.T) {
	subject := explain.Subject{Kind: "ResourceClaim", Namespace: "ml", Name: "c"}
	own, other := explain.Holder{Claim: inspect.ClaimRef{Namespace: "ml", Name: "a"}}, explain.Holder{Claim: inspect.ClaimRef{Namespace: "infer", Name: "a"}}
	pool := inspect.PoolID{Driver: "d", Pool: "p"}
	class := []explain.ObjectChange{{Kind: "DeviceClass", Name: "gpu"}}
	claim := []explain.ObjectChange{{Kind: "ResourceClaim", Namespace: "ml", Name: "c"}}
	for _, tt := range []struct {
		name string
		fix  explain.Fix
		want explain.Actor
	}{
		{"own claim", explain.Fix{Kind: explain.ReduceCount}, explain.User},
		{"release in the namespace", explain.Fix{Kind: explain.ReleaseClaim, Claims: []explain.Holder{own}}, explain.User},
		{"release elsewhere", explain.Fix{Kind: explain.ReleaseClaim, Claims: []explain.Holder{own, other}}, explain.ClusterAdmin},
		{"and a smaller wish", explain.Fix{Kind: explain.ReduceCount, Also: []explain.FixKind{explain.ReleaseClaim}, Claims: []explain.Holder{other}}, explain.ClusterAdmin},
		{"devices", explain.Fix{Kind: explain.AddDevices}, explain.ClusterAdmin},
		{"slices of a pool", explain.Fix{Kind: explain.AddDevices, Pool: pool}, explain.DriverAdmin},
		{"slices and a smaller wish", explain.Fix{Kind: explain.ReduceCount, Also: []explain.FixKind{explain.AddDevices}, Pool: pool}, explain.DriverAdmin},
		{"selector of the claim", explain.Fix{Kind: explain.RelaxSelector, Changes: claim}, explain.User},
		{"selector of the class", explain.Fix{Kind: explain.RelaxSelector, Changes: class}, explain.ClusterAdmin},
	} {
		if got := tt.fix.Actor(subject); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		requirement explain.Requirement
		want        explain.Actor
	}{
		{explain.Requirement{Kind: explain.CountRequired}, explain.User},
		{explain.Requirement{Kind: explain.HeldRequired, Holder: &own}, explain.User},
		{explain.Requirement{Kind: explain.HeldRequired, Holder: &other}, explain.ClusterAdmin},
		{explain.Requirement{Kind: explain.ClassTermRequired}, explain.ClusterAdmin},
		{explain.Requirement{Kind: explain.PoolRequired}, explain.DriverAdmin},
	} {
		if got := tt.requirement.Actor(subject); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.requirement.Kind, got, tt.want)
		}
	}
}
