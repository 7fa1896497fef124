package imports

import (
	"os/exec"
	"strings"
	"testing"
)

// The go command knows what is compiled into the program, whoever imports it.
func TestProgramContainsNothingHeavy(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/kubectl-dra")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	// A list of something else has nothing heavy in it either.
	if len(packages) < 100 {
		t.Errorf("go list names %d packages, want those of the program", len(packages))
	}
	for _, imported := range packages {
		for _, h := range heavy {
			for _, prefix := range h.prefixes {
				if imported == prefix || strings.HasPrefix(imported, prefix+"/") {
					t.Errorf("the program contains %s: %s", imported, h.why)
				}
			}
		}
	}
}
