package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// TestRunning asks about pods and claims since they got their devices. Each file of testdata/running has a
// cluster, the question with the moment that it is asked at, and the answer as text and in YAML. -update
// writes the answers anew: read every one of them.
func TestRunning(t *testing.T) {
	paths, err := filepath.Glob("../../../../testdata/running/*.txtar")
	if err != nil || len(paths) < 12 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { checkRunning(t, path) })
	}
}

func checkRunning(t *testing.T, path string) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.Files {
		files[f.Name] = string(f.Data)
	}
	var subject, name, at string
	if n, err := fmt.Sscanf(strings.ReplaceAll(files["ask"], "\n", " "), "%s %s at %s", &subject, &name, &at); n != 3 {
		t.Fatalf("%q is no question: %v", files["ask"], err)
	}
	cluster := filepath.Join(t.TempDir(), "cluster.yaml")
	if err := os.WriteFile(cluster, []byte(files["cluster.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	namespace, name, _ := strings.Cut(name, "/")
	args := []string{"explain", subject, name, "-n", namespace, "--from", cluster}
	answer := txtar.Archive{Comment: archive.Comment, Files: archive.Files[:2]}
	for _, format := range []struct {
		name string
		args []string
	}{{"answer", nil}, {"answer.yaml", []string{"-o", "yaml"}}} {
		code, stdout, stderr := commandAt(t, at, append(args, format.args...)...)
		if stderr != "" {
			t.Errorf("stderr: %s", stderr)
		}
		if format.name == "answer" {
			stdout += fmt.Sprintf("exit %d\n", code)
		}
		answer.Files = append(answer.Files, txtar.File{Name: format.name, Data: []byte(stdout)})
		if got, want := stdout, files[format.name]; got != want && !*update {
			t.Errorf("%s: got\n%s\nwant\n%s", format.name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(&answer), 0o644); err != nil { //nolint:gosec // for all to read
			t.Fatal(err)
		}
	}
}

// commandAt runs a command line at a moment.
func commandAt(t *testing.T, at string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	now, err := time.Parse(time.RFC3339, at)
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, func() time.Time { return now })
	root := p.root()
	root.SetArgs(args)
	err = execute(context.Background(), root.ExecuteContext, p.grace.Length)
	return console.Report(&errOut, err), out.String(), errOut.String()
}
