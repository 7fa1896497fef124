package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestSchemasAreCurrent compares the files with what would be written.
func TestSchemasAreCurrent(t *testing.T) {
	const root = "../../../.."
	written, err := schemas(root)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(root, "docs", "schema", "*.json"))
	if err != nil || len(files) != len(written) {
		t.Errorf("%d kinds, and %d files (%v): run make generate", len(written), len(files), err)
	}
	for kind, s := range written {
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if file, err := os.ReadFile(filepath.Join(root, "docs", "schema", kind+".json")); err != nil || string(file) != string(data)+"\n" {
			t.Errorf("the schema of %s is out of date (%v): run make generate", kind, err)
		}
	}
}
