// Package schematest validates what commands print as JSON, for tests.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kubectl-dra/kubectl-dra/docs/schema"
)

// apiGroup is that of the kinds that have schemas.
const apiGroup = "kubectl-dra.dev/"

var (
	mutex    sync.Mutex
	compiled = map[string]*jsonschema.Schema{}
)

// Schema is the schema of a kind, compiled. Formats are asserted.
func Schema(kind string) (*jsonschema.Schema, error) {
	mutex.Lock()
	defer mutex.Unlock()
	if known := compiled[kind]; known != nil {
		return known, nil
	}
	data, ok := schema.Of(kind)
	if !ok {
		return nil, fmt.Errorf("kind %q has no schema", kind)
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
