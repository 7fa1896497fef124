package manifest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

// tree decodes JSON with its numbers as they are written.
func tree(t *testing.T, raw []byte) any {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%q is no JSON: %v", raw, err)
	}
	return v
}

// FuzzYAML: YAML becomes the JSON that kubectl makes of it.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{
		yamlA, "a: &a {b: 1}\nc: {<<: *a, d: 2}", "- 1.5\n- 0x10\n- 010\n- .5\n- 1e3\n- 1_000\n- yes\n- ~", "? a\n: b", "1: a\n2.5: b\ntrue: c", "a: |\n  x\n  y\n",
		"a: !!binary aGk=", "a: 2001-01-01", "a: 99999999999999999999", "{a: [b, {c: d}]}", "a: 1\na: 2", "a: .inf", "!!str 1", "a: \"\\x1b\\u2028\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		raw, duplicates, err := yamlToJSON(doc)
		if err != nil {
			return
		}
		got := tree(t, raw)
		want, err := sigsyaml.YAMLToJSON(doc)
		if err != nil || len(duplicates) > 0 {
			return // ours takes a little more, such as broken UTF-8
		}
		if want := tree(t, want); !reflect.DeepEqual(got, want) {
			t.Errorf("%q becomes %v, for kubectl %v", doc, got, want)
		}
	})
}

// FuzzScan: where encoding/json finds one object, the scanner finds the same fields, and the same kind and
// items.
func FuzzScan(f *testing.F) {
	for _, seed := range []string{
		classA, `{"kind":"List","items":[{},[1,"]"],"\"}"]}`, `{"kind":"a","kind":"b"}`, `{"a":{"b":[{"c":"\\"}]}}`, `{ "apiVersion" : "v1" }`, `{"items":null}`,
		`{"k\u0069nd":"x"}`, `[{}]`, `{"a":-1.5e+3,"b":tru}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.TrimSpace(data)
		end, err := 0, error(nil)
		if len(data) > 0 {
			end, err = skipValue(data, 0, maxDepth)
		}
		var object map[string]json.RawMessage
		if !json.Valid(data) || json.Unmarshal(data, &object) != nil || object == nil {
			if len(data) > 0 && data[0] == '{' && err == nil {
				_, _ = scanHead(data, maxDepth) // no panic is all that is asked
			}
			return
		}
		if err != nil {
			if scan := asScanError(err); scan == nil || !scan.tooDeep {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if end != len(data) {
			t.Fatalf("%q ends at %d", data, end)
		}
		h, err := scanHead(data, maxDepth)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		var kind string
		_ = json.Unmarshal(object["kind"], &kind) // a kind that is no text is none
		if h.kind != kind {
			t.Errorf("%q: the kind is %q, want %q", data, h.kind, kind)
		}
		if items := data[h.items.from:h.items.to]; !bytes.Equal(items, object["items"]) {
			t.Errorf("%q: the items are %q, want %q", data, items, object["items"])
		}
		checkItems(t, data, h)
	})
}

func checkItems(t *testing.T, data []byte, h head) {
	t.Helper()
	if h.items.to == 0 || data[h.items.from] != '[' {
		return
	}
	var want []json.RawMessage
	if err := json.Unmarshal(data[h.items.from:h.items.to], &want); err != nil {
		t.Fatal(err)
	}
	var got []json.RawMessage
	if err := scanItems(data, h.items, maxDepth, func(at extent) error {
		got = append(got, data[at.from:at.to])
		return nil
	}); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if len(got) != len(want) {
		t.Fatalf("%q has %d items, want %d", data, len(got), len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("%q: item %d is %q, want %q", data, i, got[i], want[i])
		}
	}
}
