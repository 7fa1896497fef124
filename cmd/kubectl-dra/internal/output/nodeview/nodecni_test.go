package nodeview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/nodeview"
	"github.com/kubectl-dra/kubectl-dra/inspect/node/cni"
)

// TestNodeNetworkLines: names of files and directories may have any character, and make no lines of their
// own.
func TestNodeNetworkLines(t *testing.T) {
	var b strings.Builder
	n := &nodeview.NodeNetwork{Runtime: "containerd", Directory: "/etc/x\n! forged", Error: "a\n! forged.conf is broken\x1b[31m",
		Files: []cni.File{{Name: "a\n! forged.conf", Why: "x\ny"}}}
	if err := nodeview.PrintNodeNetwork(&b, n, 0); err != nil {
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

// TestCrowdedNetworkDirectory: a directory that is full of other things does not fill the screen, and what is
// used is shown wherever it stands.
func TestCrowdedNetworkDirectory(t *testing.T) {
	var b strings.Builder
	n := &nodeview.NodeNetwork{Runtime: "containerd", Directory: "/etc/cni/net.d"}
	for i := range 5000 {
		n.Files = append(n.Files, cni.File{Name: fmt.Sprintf("%04d.conf", i), Used: i == 4000})
		n.Ignored = append(n.Ignored, fmt.Sprintf("%04d.bak", i))
	}
	if err := nodeview.PrintNodeNetwork(&b, n, 0); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0099.conf", "4000.conf", "4899 more files are not shown, none of which the runtime uses; -o json has all", "0019.bak and 4980 more"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not there", want)
		}
	}
	if lines := strings.Count(b.String(), "\n"); lines > 110 {
		t.Errorf("%d lines", lines)
	}
}
