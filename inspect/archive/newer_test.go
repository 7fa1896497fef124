package archive_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
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
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml"},"spec":{"devises":{}}}`:                            1,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"controller":"x"}}`:              1,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"reservation":"x"}}`:             0,
		`{"apiVersion":"resource.k8s.io/v1beta2","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"future":"x"}}`:             0,
		`{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"future":"x"}}`:             1,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml","uid":"u"},"spec":{"controller":"x","future":"x"}}`: 0,
	} {
		header := `{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Snapshot","time":"2026-11-28T10:00:00Z"}`
		deciding, _ := inspect.NewerFields(read(t, []byte(header+"\n"+text)).Objects().Claims[0])
		if (len(deciding) == 0) != (want == 1) {
			t.Errorf("%s: %q", text, deciding)
		}
	}
}

// ofVersion is a snapshot of a server, with some objects.
func ofVersion(version, more string, objects ...string) []byte {
	header := `{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Snapshot","time":"2026-11-28T10:00:00Z","serverVersion":"` + version + `"` + more + `}`
	return []byte(strings.Join(append([]string{header}, objects...), "\n"))
}

// TestNewFieldsOfServersWithoutUID: all that a newer server has made has no mistakes, and what older ones
// have made no new fields.
func TestNewFieldsOfServersWithoutUID(t *testing.T) {
	const claim = `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"ml"},"spec":{"devices":{"requests":[{"name":"r","device":"x"}]}}}`
	for version, want := range map[string]int{"v1.39.0": 1, "v1.38.0-rc.0+k3s1": 1, "1.40": 1, "v2.0.0": 1, "v1.37.2": 0, "": 0, "odd": 0} {
		deciding, _ := inspect.NewerFields(read(t, ofVersion(version, "", claim)).Objects().Claims[0])
		if len(deciding) != want {
			t.Errorf("%s: %q", version, deciding)
		}
	}
}

// TestNewFieldsOfWhatIsDropped: new fields stay where the rest is dropped, but where secrets may be.
func TestNewFieldsOfWhatIsDropped(t *testing.T) {
	text := string(write(t, read(t, ofVersion("v1.39.0", "",
		`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1","n1":1}],"images":[{"names":["x"],"n2":2}],"nodeInfo":{"n3":3}}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"ml"},"spec":{"dnsConfig":{"n4":4},"containers":[{"name":"c","env":[{"name":"E","value":"v","n5":5}],"livenessProbe":{"n6":6},"securityContext":{"seccompProfile":{"type":"Localhost","n7":7}}}]}}`,
	)), archive.Options{Plain: true}))
	for field, want := range map[string]bool{`"n1":1`: true, `"n2":2`: true, `"n3":3`: true, `"n4":4`: true, `"n5":5`: false, `"n6":6`: false, `"n7":7`: true, "10.0.0.1": false} {
		if strings.Contains(text, field) != want {
			t.Errorf("%s: %t\n%s", field, !want, text)
		}
	}
}

// TestNewKueueConfig: the same of Kueue, whose configuration has a version of its own.
func TestNewKueueConfig(t *testing.T) {
	const future = `,"kueue":{"config":"apiVersion: config.kueue.x-k8s.io/v1\nkind: Configuration\nfuture: 1\n","from":"ConfigMap a/b","version":"1.0.0"}`
	s := read(t, ofVersion("v1.37.2", future))
	for range 2 {
		if c := s.Kueue(); !strings.Contains(c.Unreadable(), `newer than this program`) || !strings.Contains(c.Text, "future: 1") || c.Version != "1.0.0" {
			t.Errorf("%q, %q, %q", c.Unreadable(), c.Text, c.Version)
		}
		s = read(t, write(t, s, archive.Options{}))
	}
	if c := read(t, write(t, s, archive.Options{Anonymize: true})).Kueue(); c.Unreadable() == "" || c.Text != "" || strings.Contains(c.Unreadable(), "v1") {
		t.Errorf("%q, %q", c.Unreadable(), c.Text)
	}
}

// TestNewSchedulerConfig: a configuration that is newer than this program does not keep a snapshot from being
// read. It stays, but where names are replaced, and what it changes is not known.
func TestNewSchedulerConfig(t *testing.T) {
	const future = `,"schedulerConfig":"apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nfuture: 1\n","schedulerConfigFrom":"ConfigMap a/b"`
	s := read(t, ofVersion("v1.39.0", future))
	for range 2 {
		if c := s.Scheduler(); !strings.Contains(c.Unreadable(), `newer than this program`) || !strings.Contains(c.Text, "future: 1") || c.Origin != "ConfigMap a/b" {
			t.Errorf("%q, %q, %q", c.Unreadable(), c.Text, c.Origin)
		}
		s = read(t, write(t, s, archive.Options{}))
	}
	if c := read(t, write(t, s, archive.Options{Anonymize: true})).Scheduler(); c.Unreadable() == "" || c.Text != "" || strings.Contains(c.Unreadable(), "future") {
		t.Errorf("%q, %q", c.Unreadable(), c.Text)
	}
	header, _, err := archive.Read(t.Context(), bytes.NewReader(ofVersion("v1.37.2", future)), "test", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := header.Config(); err == nil {
		t.Error("an unknown field of a server that is not newer is no error")
	}
}
