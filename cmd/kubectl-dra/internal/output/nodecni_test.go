package output_test

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
)

// TestNodeNetworkLines: names of files and directories may have any character, and make no lines of their own.
func TestNodeNetworkLines(t *testing.T) {
	var b strings.Builder
	n := &output.NodeNetwork{Runtime: "containerd", Directory: "/etc/x\n! forged", Error: "a\n! forged.conf is broken\x1b[31m",
		Files: []output.NetworkFile{{Name: "a\n! forged.conf", Why: "x\ny"}}}
	if err := output.PrintNodeNetwork(&b, n, 0); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "! forged") {
			t.Errorf("a name made a line:\n%s", b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") || !strings.Contains(b.String(), `! a\n! forged.conf is broken`) {
		t.Errorf("%q", b.String())
	}
}
