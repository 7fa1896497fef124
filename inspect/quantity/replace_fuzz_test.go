package quantity

import (
	"bytes"
	"encoding/json"
	"testing"
)

// unbounded reports whether a text or number within a value is not Bounded.
func unbounded(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if unbounded(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if unbounded(inner) {
				return true
			}
		}
	case string:
		return !Bounded(v)
	case json.Number:
		return !Bounded(v.String())
	}
	return false
}

// FuzzReplace: Replace finds what is unbounded in any JSON, and leaves nothing of it.
func FuzzReplace(f *testing.F) {
	for _, seed := range []string{
		`{"a":"10Gi"}`, `{"a":"1e-2000000000"}`, `[1e-2000000000,{"b":["1\u0065-2000000000"]}]`, `"1\u00659999"`, `{"a":"1e4294965296"}`,
		`{"a":" 1e-2000000000 "}`, `[`, `1e9999 x`, `{"a":1,"a":"1e99999"}`, `"\ne9999"`, `["e2147483647"," -E9999"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var tree any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&tree) != nil {
			_ = Replace(raw) // no panic is all that is asked
			return
		}
		out := Replace(raw)
		if out == nil && unbounded(tree) {
			t.Fatalf("%q is left as it is", raw)
		}
		if out == nil {
			return
		}
		if !bytes.Contains(raw, []byte("e")) && !bytes.Contains(raw, []byte("E")) && !bytes.Contains(raw, []byte(`\u`)) && len(raw) < MaxDigits {
			t.Errorf("%q becomes %q", raw, out)
		}
		var guarded any
		if err := json.Unmarshal(out, &guarded); err != nil || Replace(out) != nil {
			t.Errorf("%q becomes %q, %v, and again %q", raw, out, err, Replace(out))
		}
	})
}
