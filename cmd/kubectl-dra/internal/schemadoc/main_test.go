package main

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/docs/schema"
)

// TestSchemasAreCurrent compares the files with what would be written.
func TestSchemasAreCurrent(t *testing.T) {
	written, err := schemas("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	if kinds := slices.Sorted(maps.Keys(written)); !slices.Equal(kinds, schema.Kinds()) {
		t.Errorf("kinds are %q, files are of %q: run make generate", kinds, schema.Kinds())
	}
	for kind, s := range written {
		data, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if file, _ := schema.Of(kind); string(file) != string(data)+"\n" {
			t.Errorf("the schema of %s is out of date: run make generate", kind)
		}
	}
}
