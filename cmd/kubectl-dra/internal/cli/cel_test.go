package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// Selectors are always compiled as by the newest release. Of a cluster of which the CEL is another one, that
// is said on stderr; of others nothing is.
func TestCelOfAnOldCluster(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for minor, want := range map[int]string{
		selector.OldestMinor - 1: "note: expressions are compiled as Kubernetes 1.37 does; the CEL of 1.35 may lack newer functions\n",
		selector.OldestMinor:     "",
		inspect.NewestMinor:      "",
		inspect.PreviewMinor:     "note: expressions are compiled as Kubernetes 1.37 does; the CEL of 1.38 has newer functions\n",
	} {
		s := inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Features: inspect.DefaultFeatures(minor), Health: demo.Health()})
		path := filepath.Join(t.TempDir(), "s.json.gz")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(file, s, archive.Options{}); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr}
		code := Main([]string{"cel", "--from", path, `device.driver == "gpu.example.com"`}, streams, demo.Now)
		notes := ""
		for line := range strings.Lines(stderr.String()) {
			if strings.Contains(line, "expressions are compiled") {
				notes += line
			}
		}
		if code != console.ExitAnswered || notes != want || !strings.Contains(stdout.String(), "64 of 127") {
			t.Errorf("1.%d: code %d, stderr %q, want %q\n%s", minor, code, stderr.String(), want, stdout.String())
		}
	}
}

// Without a terminal there is nothing to type into.
func TestCelWithoutExpressionNeedsATerminal(t *testing.T) {
	var stdout, stderr bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &stdout, ErrOut: &stderr}
	if code := Main([]string{"cel", "--demo"}, streams, demo.Now); code != console.ExitUsage || !strings.Contains(stderr.String(), "give an expression") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}
