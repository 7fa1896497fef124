package screenshot

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// Golden fails the test when a file is not this picture; with update it writes the file.
func Golden(t testing.TB, path string, picture []byte, update bool) {
	t.Helper()
	if update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // pictures are for everybody to see
			t.Fatal(err)
		}
		if err := os.WriteFile(path, picture, 0o644); err != nil { //nolint:gosec // pictures are for everybody to see
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // the path of a test
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, picture) {
		t.Errorf("%s is not what is drawn; make screenshots draws it anew", path)
	}
}
