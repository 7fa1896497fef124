package headline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// TestCases compares messages with those that cases in testdata want. In most of them a sentence that is
// easily said would not be true.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d cases: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			read, err := manifest.ReadBytes(file, []byte(parts["cluster.yaml"]), manifest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			kind, name, _ := strings.Cut(strings.TrimSpace(parts["ask"]), " ")
			subject := explain.Subject{Kind: map[string]string{"claim": "ResourceClaim", "pod": "Pod"}[kind], Namespace: "default", Name: name}
			e, err := question.Named(t.Context(), explaintest.NewCluster(read.Objects), subject, question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := strings.TrimSpace(parts["want"]); e.Message != want {
				t.Errorf("%s\n%s\nwant\n%s", archive.Comment, e.Message, want)
			}
		})
	}
}
