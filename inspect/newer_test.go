package inspect_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestTypesMinor: whoever raises the API types says so.
func TestTypesMinor(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`\tk8s.io/api v0\.(\d+)\.`).FindSubmatch(mod); m == nil || string(m[1]) != fmt.Sprint(inspect.TypesMinor) {
		t.Errorf("go.mod has %q, TypesMinor is %d", m, inspect.TypesMinor)
	}
}

// TestStrangeNewerFields: what nobody wrote who knows the form changes nothing, and stops nothing.
func TestStrangeNewerFields(t *testing.T) {
	for _, text := range []string{
		"", "x", "1", "{}", "[1]", `[{"path":7}]`, `[{"path":[]}]`, `[{"path":[{}]}]`, `[{"path":[{"at":-1},{"field":"a"}],"value":1}]`,
		`[{"path":[{"field":"metadata"},{"at":3}]}]`, `[{"path":[{"field":"spec"},{"key":"x"},{"field":"y"}]}]`,
		`[{"path":[{"field":"kind"},{"field":"y"}]}]`, `[{"path":[{"field":"a"},{"at":99999999,"by":"name"},{"field":"c"}],"value":{"d":[]}}]`,
	} {
		claim := &resourcev1.ResourceClaim{}
		claim.Name, claim.Annotations = "c", map[string]string{inspect.NewerKey: text}
		inspect.NewerFields(claim)
		if _, err := inspect.WithNewer(claim); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		inspect.HideNewer(claim)
	}
}
