package archive_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
)

// fromTheFuture is a snapshot, as JSON, of a server of Kubernetes 1.39 that has new fields in all objects: at
// the top, in the metadata, the spec and the status, and in each item of each list.
func fromTheFuture(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	all := demoSnapshot(t).With(func(o *inspect.Objects) {
		for _, k := range inspect.Kinds() {
			if len(k.Objects(o)) > 0 {
				continue
			}
			object := k.New()
			object.SetName("one")
			if k.Namespaced {
				object.SetNamespace("ml")
			}
			o.Add(object)
		}
	})
	defaulted := read(t, write(t, all, archive.Options{Plain: true}))
	for i, line := range lines(write(t, defaulted, archive.Options{Plain: true})) {
		if i == 0 {
			line["serverVersion"] = "v1.39.0"
		} else {
			addNew(line)
			for _, part := range []string{"metadata", "spec", "status"} {
				if fields, ok := line[part].(map[string]any); ok {
					addNew(fields)
				}
			}
			line["metadata"].(map[string]any)["uid"] = "uid-of-a-server" //nolint:forcetypeassert // every object has metadata
			addToItems(line)
		}
		if err := json.NewEncoder(&out).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func addNew(to map[string]any) {
	to["future"] = map[string]any{"SECRET": []any{"SECRET", json.Number("7"), true, nil}, "serial": json.Number("1234567890123")}
}

// addToItems adds a new field to each item of a list.
func addToItems(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, field := range v {
			if name != "future" && name != "managedFields" {
				addToItems(field)
			}
		}
	case []any:
		for _, item := range v {
			if fields, ok := item.(map[string]any); ok {
				addToItems(item)
				addNew(fields)
			}
		}
	}
}

func lines(data []byte) (out []map[string]any) {
	for decoder := json.NewDecoder(bytes.NewReader(data)); ; {
		decoder.UseNumber()
		var line map[string]any
		if decoder.Decode(&line) != nil {
			return out
		}
		out = append(out, line)
	}
}

// TestNewFieldsSurvive: what this program does not know is still there, field by field, when what was read is
// saved again, also by way of a packed archive.
func TestNewFieldsSurvive(t *testing.T) {
	want := fromTheFuture(t)
	s := read(t, want)
	packed := read(t, write(t, s, archive.Options{Packed: true}))
	for name, of := range map[string]*inspect.Snapshot{"read": s, "packed": packed} {
		if diff := cmp.Diff(lines(want), lines(write(t, of, archive.Options{Plain: true}))); diff != "" {
			t.Errorf("%s: %s", name, diff[:min(len(diff), 4000)])
		}
	}
	for _, k := range inspect.Kinds() {
		for _, o := range k.Objects(s.Objects()) {
			deciding, others := inspect.NewerFields(o)
			if len(deciding)+len(others) < 2 {
				t.Errorf("%s %s: %q, %q", k.Name, o.GetName(), deciding, others)
			}
		}
		if len(k.Objects(s.Objects())) == 0 && !k.Resource.OfKueue() {
			t.Errorf("there is no %s", k.Name)
		}
	}
}

// TestNewFieldsAreAnonymized: the fields stay, and nothing of what is in them.
func TestNewFieldsAreAnonymized(t *testing.T) {
	s := read(t, fromTheFuture(t))
	for _, opts := range []archive.Options{{Anonymize: true, Plain: true}, {Anonymize: true, Packed: true}} {
		data := write(t, s, opts)
		back := read(t, data)
		if text := string(write(t, back, archive.Options{Plain: true})); strings.Contains(text, "SECRET") || strings.Contains(text, "1234567890123") {
			t.Error("text of new fields stays")
		}
		for _, k := range inspect.Kinds() {
			count := func(of *inspect.Snapshot) (n int) {
				for _, o := range k.Objects(of.Objects()) {
					deciding, others := inspect.NewerFields(o)
					n += len(deciding) + len(others)
				}
				return n
			}
			if count(s) != count(back) {
				t.Errorf("%s: %d new fields, of %d", k.Name, count(back), count(s))
			}
		}
	}
}

// TestOwnMistakesAreNoNewFields: only what a server has made can be newer than this program, and what there
// was once is not.
func TestOwnMistakesAreNoNewFields(t *testing.T) {
	for text, want := range map[string]int{
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml"},"spec":{"devises":{}}}`:                1,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"controller":"x"}}`:  1,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"reservation":"x"}}`: 0,
		`{"apiVersion":"resource.k8s.io/v1beta2","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"future":"x"}}`: 1,
	} {
		header := `{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Snapshot","time":"2026-11-28T10:00:00Z"}`
		deciding, _ := inspect.NewerFields(read(t, []byte(header+"\n"+text)).Objects().Claims[0])
		if (len(deciding) == 0) != (want == 1) {
			t.Errorf("%s: %q", text, deciding)
		}
	}
}
