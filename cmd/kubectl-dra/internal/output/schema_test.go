package output_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/kinds"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/schematest"
)

// TestGoldenFilesFollowTheirSchemas validates the JSON that the tests of this package pin.
func TestGoldenFilesFollowTheirSchemas(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files: %v", len(paths), err)
	}
	validated := 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := schematest.Validate(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		validated += n
	}
	if validated < 10 {
		t.Errorf("only %d documents have a schema", validated)
	}
}

func TestEveryKindHasASchema(t *testing.T) {
	known := map[string]bool{"Config": true} // the file of a user's own, which is read and not printed
	for _, kind := range kinds.All() {
		known[kind.Name] = true
		if _, err := schematest.Schema(kind.Name); err != nil {
			t.Errorf("%s: %v", kind.Name, err)
		}
	}
	dir, err := schematest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		if kind := strings.TrimSuffix(filepath.Base(file), ".json"); !known[kind] {
			t.Errorf("there is a schema of %s, which nothing prints", kind)
		}
	}
}

// TestSchemasRefuse: what is not as documented fails.
func TestSchemasRefuse(t *testing.T) {
	good := `{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Fit","subject":{"kind":"ResourceClaim","namespace":"ml","name":"x"},"total":1,"atLeast":false,"nodes":[],"partial":[],"basis":{"version":"1.37","variant":"stable","features":"defaults","revision":1}}`
	if n, err := schematest.Validate([]byte(good)); err != nil || n != 1 {
		t.Fatalf("%d: %v", n, err)
	}
	for _, change := range [][2]string{
		{`"total":1`, `"total":"1"`}, {`"total":1,`, ``}, {`"total":1`, `"total":1,"new":2`}, {`"variant":"stable"`, `"variant":"other"`}, {`"nodes":[]`, `"nodes":null`},
		{`"v1alpha1"`, `"v1"`}, {`"name":"x"`, `"name":"x","uid":"y"`}, {`v1alpha1`, `v1alpha2`}, {`"kind":"Fit"`, `"kind":"Fitt"`},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if n, err := schematest.Validate([]byte(bad)); err == nil && bad != good && n > 0 {
			t.Errorf("%s is accepted", bad)
		}
	}
}
