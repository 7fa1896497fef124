package manifest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	goodNode  = "{apiVersion: v1, kind: Node, metadata: {name: %}}\n"
	wrongNode = "{apiVersion: v1, kind: Node, metadata: {name: 7}}\n"
)

func node(name string) string { return strings.ReplaceAll(goodNode, "%", name) }

// TestFailuresInDirectories: in a directory, what cannot be read is left out, document by document, and what
// may be missing is marked.
func TestFailuresInDirectories(t *testing.T) {
	everything := inspect.Resources()
	for name, test := range map[string]struct {
		files      map[string]string
		nodes      string
		failures   []string // place: code
		incomplete []inspect.Resource
	}{
		"nothing is wrong":   {map[string]string{"a.yaml": node("a")}, "a", nil, nil},
		"a broken document":  {map[string]string{"a.yaml": node("a") + "---\nkind: [\n---\n" + node("b"), "b.yaml": node("c")}, "a b c", []string{"a.yaml:3: Syntax"}, everything},
		"a wrong field":      {map[string]string{"a.yaml": wrongNode + "---\n" + node("b")}, "b", []string{"a.yaml:1: WrongType"}, []inspect.Resource{inspect.Nodes}},
		"an item of a list":  {map[string]string{"a.json": `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":7}},{"metadata":{"name":"b"}}]}`}, "b", []string{"a.json:1: WrongType"}, []inspect.Resource{inspect.Nodes}},
		"no text":            {map[string]string{"a.yaml": "\x00\x01", "b.yaml": node("b")}, "b", []string{"a.yaml:1: Binary"}, everything},
		"half a file":        {map[string]string{"a.json": `{"apiVersion":"v1","kind":"Node","metadata":{"name":"a"}}` + "\n" + `{"apiVersion":`, "b/c.yaml": node("b")}, "a b", []string{"a.json:2: Syntax"}, everything},
		"a list of nothing":  {map[string]string{"a.yaml": "- 1\n", "b.yaml": node("b")}, "b", []string{"a.yaml:1: NotObject"}, everything},
		"two, of two nodes":  {map[string]string{"a.yaml": wrongNode, "b.yaml": wrongNode, "c.yaml": node("c")}, "c", []string{"a.yaml:1: WrongType", "b.yaml:1: WrongType"}, []inspect.Resource{inspect.Nodes}},
		"a template, helm's": {map[string]string{"a.yaml": "kind: {{ .Values.kind }}\n", "b.yaml": node("b")}, "b", []string{"a.yaml:1: Syntax"}, everything},
	} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, test.files)
			r, err := Read(context.Background(), []string{dir}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var nodes, failures []string
			for _, n := range r.Objects.Nodes {
				nodes = append(nodes, n.Name)
			}
			for _, e := range r.Failures {
				failures = append(failures, strings.TrimPrefix(e.Warning().Source, dir+"/")+": "+string(e.Code))
			}
			if got := strings.Join(nodes, " "); got != test.nodes || !slices.Equal(failures, test.failures) {
				t.Errorf("read %q with failures %q, want %q and %q", got, failures, test.nodes, test.failures)
			}
			for _, resource := range everything {
				if got := r.Health[resource].State == inspect.Incomplete; got != slices.Contains(test.incomplete, resource) {
					t.Errorf("%s: %+v", resource, r.Health[resource])
				}
			}
		})
	}
}

// TestFailuresThatEndTheRead: what a user named must be readable, something must be, and no limit may be
// exceeded.
func TestFailuresThatEndTheRead(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		path  string
		want  Code
	}{
		"named":            {map[string]string{"a.yaml": node("a") + "---\nkind: [\n"}, "a.yaml", Syntax},
		"nothing else":     {map[string]string{"a.yaml": "kind: [\n", "b.yaml": "\x00"}, "", Syntax},
		"not there":        {map[string]string{"a.yaml": node("a")}, "b", Unreadable},
		"too deep":         {map[string]string{"a.yaml": node("a"), "b.yaml": strings.Repeat("[", 600)}, "", TooLarge},
		"only other files": {map[string]string{"a.txt": "x"}, "", Empty},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(context.Background(), []string{filepath.Join(writeFiles(t, test.files), test.path)}, Options{})
			if e, ok := err.(*Error); !ok || e.Code != test.want { //nolint:errorlint // Read returns it as it is
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
