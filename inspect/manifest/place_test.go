package manifest

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestPlace checks that every object is found where it was given, and one that was given twice where it was
// given last.
func TestPlace(t *testing.T) {
	claim := func(name, class string) string {
		return "apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: " + name + "}\nspec: {devices: {requests: [{name: r, exactly: {deviceClassName: " + class + "}}]}}\n"
	}
	r, err := ReadBytes("claims.yaml", []byte(claim("a", "x")+"---\n"+claim("b", "x")+"---\n"+claim("a", "z")), Options{Namespace: "ml"})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "claims.yaml:11", "b": "claims.yaml:6", "c": ""} {
		if got := r.Place(inspect.Claims, "ml", name); got != want {
			t.Errorf("claim %s was given at %q, want %q", name, got, want)
		}
	}
}
