// Command schemadoc writes docs/schema: a JSON Schema for each kind that commands print, from the wire types,
// their comments and the constants that their fields can have.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../..

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	if err := write(root); err != nil {
		fmt.Fprintln(os.Stderr, "schemadoc:", err)
		os.Exit(1)
	}
}

// write writes all schemas, and removes those of kinds that are no more.
func write(root string) error {
	schemas, err := schemas(root)
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "docs", "schema")
	old, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	for kind, schema := range schemas {
		data, err := json.MarshalIndent(schema, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, kind+".json"), append(data, '\n'), 0o644); err != nil { //nolint:gosec // a document is for all to read
			return err
		}
	}
	return nil
}
