package messages

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

var (
	gateRow   = regexp.MustCompile("^\\| `(\\w+)` \\| ([\\d.]*) ?\\| ([\\d., of]*?) ?\\| ([\\d.]*) ?\\|")
	gateStage = regexp.MustCompile(`MustParse\("([\d.]+)"\), Default: (true|false), PreRelease: featuregate\.(Alpha|Beta|GA)\b`)
)

// TestGates: the table of feature gates in docs/dra.md is what the source of Kubernetes says.
func TestGates(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "dra.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(filepath.Join(directory(t, "k8s.io/kubernetes"), "pkg", "features", "kube_features.go"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.SplitSeq(string(page), "\n") {
		row := gateRow.FindStringSubmatch(line)
		if row == nil {
			continue
		}
		rows++
		got := map[string]string{"Alpha": row[2], "Beta": row[3], "GA": row[4]}
		want := stages(t, string(source), row[1])
		for _, stage := range []string{"Alpha", "Beta", "GA"} {
			if want[stage] == "" && got[stage] == fmt.Sprintf("1.%d", inspect.PreviewMinor) {
				continue // TestGateDefaults reads the sources of the preview
			}
			if got[stage] != want[stage] {
				t.Errorf("%s: %s %q, in the source %q", row[1], stage, got[stage], want[stage])
			}
		}
	}
	if rows < 15 {
		t.Errorf("only %d rows were found", rows)
	}
}

// stages are the releases in which a gate came to each stage; a beta gate that was off by default then says
// so.
func stages(t *testing.T, source, gate string) map[string]string {
	t.Helper()
	_, entry, found := strings.Cut(source, "\n\t"+gate+": {\n")
	if !found {
		t.Errorf("there is no gate %s", gate)
		return nil
	}
	entry, _, _ = strings.Cut(entry, "\n\t},")
	all := map[string]string{}
	for _, m := range gateStage.FindAllStringSubmatch(entry, -1) {
		if all[m[3]] != "" {
			continue
		}
		all[m[3]] = m[1]
		if m[3] == "Beta" && m[2] == "false" {
			all[m[3]] += ", off"
		}
	}
	return all
}
