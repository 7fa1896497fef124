// Package schematest validates what commands print as JSON, for tests.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// apiGroup is that of the kinds that have schemas.
const apiGroup = "kubectl-dra.dev/"

var (
	mutex    sync.Mutex
	compiled = map[string]*jsonschema.Schema{}
)

// Dir is docs/schema of the module in whose directories a test runs: a file for each kind.
func Dir() (string, error) {
	at, err := os.Getwd()
	for ; err == nil; at = filepath.Dir(at) {
		dir := filepath.Join(at, "docs", "schema")
		if _, missing := os.Stat(dir); missing == nil {
			return dir, nil
		} else if at == filepath.Dir(at) {
			return "", missing
		}
	}
	return "", err
}

// Schema is the schema of a kind, compiled. Formats are asserted.
func Schema(kind string) (*jsonschema.Schema, error) {
	mutex.Lock()
	defer mutex.Unlock()
	if known := compiled[kind]; known != nil {
		return known, nil
	}
	dir, err := Dir()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, kind+".json"))
	if err != nil {
		return nil, fmt.Errorf("kind %q has no schema: %w", kind, err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource(kind, document); err != nil {
		return nil, err
	}
	s, err := c.Compile(kind)
	if err == nil {
		compiled[kind] = s
	}
	return s, err
}

// Validate checks all documents of an output against the schemas of their kinds, and returns how many there
// were. Objects of other API groups are passed over.
func Validate(output []byte) (int, error) {
	decoder := json.NewDecoder(bytes.NewReader(output))
	n := 0
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
		var head struct{ APIVersion, Kind string }
		if err := json.Unmarshal(raw, &head); err != nil || !strings.HasPrefix(head.APIVersion, apiGroup) {
			continue
		}
		s, err := Schema(head.Kind)
		if err != nil {
			return n, err
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return n, err
		}
		if err := s.Validate(value); err != nil {
			return n, err
		}
		n++
	}
}

// PrintsJSON reports whether a command line asks for JSON.
func PrintsJSON(args []string) bool {
	at := slices.Index(args, "-o")
	return at >= 0 && at+1 < len(args) && args[at+1] == "json" || slices.Contains(args, "-o=json") || slices.Contains(args, "--output=json")
}
