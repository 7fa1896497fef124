package question_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// unsureFolders have slices that select nodes by label, but no nodes, so that "no" is not certain.
var unsureFolders = map[string]bool{"nvidia-imex-v1alpha3": true}

// TestDrivers asks the questions of testdata/drivers/README.md, whose answers the tests of
// inspect/manifest compare with the scheduler's allocator.
func TestDrivers(t *testing.T) {
	const dir = "../../testdata/drivers"
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(readme)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.Contains(cells[1], "/") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows++
		t.Run(cells[0]+"/"+cells[1], func(t *testing.T) {
			e := askDriver(t, filepath.Join(dir, cells[0]), cells[1])
			want := explain.Verdict(cells[2])
			if want == explain.Unsatisfiable && unsureFolders[cells[0]] {
				want = explain.Unknown
			}
			if e.Verdict != want {
				t.Fatalf("verdict %s, want %s: %s", e.Verdict, want, e.Message)
			}
			var devices []string
			if e.Allocation != nil {
				for _, d := range e.Allocation.Devices {
					devices = append(devices, d.ID.Device)
				}
			}
			if strings.Join(devices, " ") != cells[3] {
				t.Errorf("devices %v, want %s", devices, cells[3])
			}
		})
	}
	if rows < 60 {
		t.Errorf("only %d rows found", rows)
	}
}

// askDriver explains what a row asks about in the manifests of a folder.
func askDriver(t *testing.T, folder, asked string) *explain.Explanation {
	t.Helper()
	read, err := manifest.Read(context.Background(), []string{folder}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	used := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(read.Objects) {
		used[gate] = true
	}
	if len(read.Objects.Namespaces) == 0 { // the scheduler's allocator, which the answers are of, does not ask for the label
		read.Objects.GrantAdminAccess("default")
	}
	cluster := scheduler.NewCluster(inspect.New(read.Objects, inspect.Config{Features: features.With(used), Health: read.Health}), scheduler.Options{})
	kind, name, _ := strings.Cut(asked, " ")
	namespace, name, _ := strings.Cut(name, "/")
	var e *explain.Explanation
	if kind == "template" {
		e, err = question.Template(context.Background(), cluster, namespace, name, question.Options{})
	} else {
		e, err = question.Claim(context.Background(), cluster, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return e
}
