package cel

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
)

// FuzzIsObject: arguments that name an object begin with the word of a type.
func FuzzIsObject(f *testing.F) {
	for _, seed := range []string{"claim\x00a", "claims/a\x00claims/b", "pod", "class", "rc.resource.k8s.io/x", "/", "a/b/c", "", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		word, _, _ := strings.Cut(args[0], "/")
		if isObject(args) && !inquiry.Claim.HasName(word) && !inquiry.Template.HasName(word) && !inquiry.Class.HasName(word) {
			t.Errorf("%q are no object", args)
		}
	})
}
