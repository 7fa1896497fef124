package poison

import (
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestEveryKindIsPoisoned: no kind of a snapshot is left out.
func TestEveryKindIsPoisoned(t *testing.T) {
	known := map[string]bool{}
	for _, k := range Kinds() {
		known[k.APIVersion+" "+k.Name] = true
	}
	for _, k := range inspect.Kinds() {
		if !known[k.APIVersion()+" "+k.Name] {
			t.Errorf("%s is not among %v", k.Name, known)
		}
	}
}
