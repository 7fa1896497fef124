// Package schema has the JSON Schemas of what commands print with -o json, a file for each kind. They are
// generated from the types by go generate ./cmd/kubectl-dra/internal/schemadoc.
package schema

import (
	"embed"
	"slices"
	"strings"
)

//go:embed *.json
var files embed.FS

const suffix = ".json"

// Kinds are the kinds that have a schema, sorted.
func Kinds() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // it is part of the program, and is there
	}
	var kinds []string
	for _, entry := range entries {
		kinds = append(kinds, strings.TrimSuffix(entry.Name(), suffix))
	}
	slices.Sort(kinds)
	return kinds
}

// Of returns the schema of a kind, and whether there is one.
func Of(kind string) ([]byte, bool) {
	data, err := files.ReadFile(kind + suffix)
	return data, err == nil
}
