package yamlpatch

import (
	"strings"
	"testing"
)

// each returns the operations for every object.
func each(operations ...Operation) func(Object) []Operation {
	return func(Object) []Operation { return operations }
}

// TestApply changes texts. Comments, quotes and the order of keys are kept.
func TestApply(t *testing.T) {
	add := func(path string, value any) Operation { return Operation{"add", path, value} }
	replace := func(path string, value any) Operation { return Operation{"replace", path, value} }
	remove := func(path string) Operation { return Operation{Op: "remove", Path: path} }
	tolerations := []any{map[string]any{"key": "k", "operator": "Exists"}}
	for _, tt := range []struct {
		name          string
		before, after string
		operations    []Operation
	}{
		{
			"a number, beside a comment",
			"# mine\na:\n  count: 5   # of them\n\n  b:   x\n", "# mine\na:\n  count: 4   # of them\n\n  b:   x\n",
			[]Operation{replace("/a/count", 4)},
		},
		{
			"no line break at the end",
			"a: {b: 1}\nc: 5", "a: {b: 1}\nc: 4",
			[]Operation{replace("/c", 4)},
		},
		{
			"a quoted text",
			"a: 'it''s'\nb: \"x \\\" y\" # c\nc: d\n", "a: 'it''s not'\nb: \"y\" # c\nc: d\n",
			[]Operation{replace("/a", "it's not"), replace("/b", "y")},
		},
		{
			"a plain text over several lines",
			"a: one two\n  three\n\n  four # not this\nb: c\n", "a: five # not this\nb: c\n",
			[]Operation{replace("/a", "five")},
		},
		{
			"a literal text",
			"a:\n  e: |-  # why\n    one &&\n    two\n\n  # below\n  b: c\n", "a:\n  e: |- # why\n    one\n  # below\n  b: c\n",
			[]Operation{replace("/a/e", "one")},
		},
		{
			"a literal text that loses its last line break",
			"e: |\n  one\nb: c\n", "e: |-\n  two\nb: c\n",
			[]Operation{replace("/e", "two")},
		},
		{
			"a folded text",
			"e: >-\n  one &&\n  two\nb: c\n", "e: >-\n  one && three\nb: c\n",
			[]Operation{replace("/e", "one && three")},
		},
		{
			"a folded text that gets several lines",
			"e: >\n  one\nb: c\n", "e: |-\n  one\n  two\nb: c\n",
			[]Operation{replace("/e", "one\ntwo")},
		},
		{
			"a new key behind a list",
			"r:\n- name: a\n  x:\n    s:\n    - one\n    # end\n\n# below\n- name: b\n",
			"r:\n- name: a\n  x:\n    s:\n    - one\n    # end\n\n    tolerations:\n    - key: k\n      operator: Exists\n# below\n- name: b\n",
			[]Operation{add("/r/0/x/tolerations", tolerations)},
		},
		{
			"lists are indented",
			"r:\n  - name: a\n    x: y\n", "r:\n  - name: a\n    x: y\n    tolerations:\n      - key: k\n        operator: Exists\n",
			[]Operation{add("/r/0/tolerations", tolerations)},
		},
		{
			"a new key at the end of a file without a line break",
			"a:\n  b: c", "a:\n  b: c\n  d: e\n",
			[]Operation{add("/a/d", "e")},
		},
		{
			"items",
			"a:\n- x # 1\n- y\nb: c\n", "a:\n- v\n- x # 1\n- y\n- z\nb: c\n",
			[]Operation{add("/a/-", "z"), add("/a/0", "v")},
		},
		{
			"an item is removed, and the comment above it",
			"a:\n# first\n- x:\n    y: z\n  w: v # of it\n# second\n- u\n", "a:\n# second\n- u\n",
			[]Operation{remove("/a/0")},
		},
		{
			"the last item is removed",
			"# some\na:\n- x:\n    y: z\nb: c # of b\n", "# some\na: []\nb: c # of b\n",
			[]Operation{remove("/a/0")},
		},
		{
			"keys are removed",
			"a:\n- b: 1\n  c: 2\n  d: 3\ne:\n  f: 4\n", "a:\n- c: 2\ne: {}\n",
			[]Operation{remove("/a/0/b"), remove("/a/0/d"), remove("/e/f")},
		},
		{
			"a list becomes shorter",
			"a:\n  requests:\n  - x\n  - y # second\n  - z\n  m: n\n", "a:\n  requests:\n  - x\n  - z\n  m: n\n",
			[]Operation{add("/a/requests", []string{"x", "z"})},
		},
		{
			"flow style",
			"a: {b: {c: 5, d: x}, l: [{n: 1}, {n: 2}]} # all\n", "a: {b: {c: 4, d: x, e: [{key: k, operator: Exists}]}, l: [{n: 2}]} # all\n",
			[]Operation{replace("/a/b/c", 4), add("/a/b/e", tolerations), remove("/a/l/0")},
		},
		{
			"flow style loses all",
			"a: {b: [{n: 1}], c: {d: e}}\n", "a: {b: [], c: {}}\n",
			[]Operation{remove("/a/b/0"), remove("/a/c/d")},
		},
		{
			"a value in flow style over several lines",
			"{\n  a: 1, # one\n  b: [\n    x,\n    y,\n  ],\n}\n", "{\n  a: 2, # one\n  b: [\n    x,\n    z,\n  ],\n}\n",
			[]Operation{replace("/a", 2), replace("/b/1", "z")},
		},
		{
			"an empty list",
			"a: []\nb: {}\n", "a: [1]\nb: {c: 2}\n",
			[]Operation{add("/a/-", 1), add("/b/c", 2)},
		},
		{
			"JSON",
			"{\n\t\"a\": {\n\t\t\"b\": 5,\n\t\t\"c\": [\n\t\t\t\"x\"\n\t\t]\n\t}\n}\n", "{\n\t\"a\": {\n\t\t\"b\": 4,\n\t\t\"c\": [\n\t\t\t\"x\",\n\t\t\t\"y\"\n\t\t],\n\t\t\"d\": \"e\"\n\t}\n}\n",
			[]Operation{replace("/a/b", 4), add("/a/c/-", "y"), add("/a/d", "e")},
		},
		{
			"JSON on one line",
			`{"a":{"b":5,"c":["x"]}}`, `{"a":{"b":"<4>","c":[]}}`,
			[]Operation{replace("/a/b", "<4>"), remove("/a/c/0")},
		},
		{
			"other alphabets",
			"ключ: {имя: 5, б: 'ä'} # ö\nb: c\n", "ключ: {имя: 4, б: 'ä'} # ö\nb: c\n",
			[]Operation{replace("/ключ/имя", 4)},
		},
		{
			"what is not there is added",
			"a:\n  b: c\n", "a:\n  b: c\n  d/e: 1\n",
			[]Operation{replace("/a/d~1e", 1)},
		},
		{
			"texts that look like something else",
			"a: x\nb: y\n", "a: \"4\"\nb: \"yes\"\n",
			[]Operation{replace("/a", "4"), replace("/b", "yes")},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Apply([]byte(tt.before), each(tt.operations...))
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Text) != tt.after || len(r.Changed) != 1 {
				t.Errorf("changed %d:\n%s\nwant\n%s", len(r.Changed), r.Text, tt.after)
			}
		})
	}
}

// TestApplyToObjects changes one object among others.
func TestApplyToObjects(t *testing.T) {
	const before = `# head
kind: A
metadata: {name: x}
---
# of b
kind: B
metadata:
  name: x
  namespace: n
spec: 1   # one
---
kind: List
items:
- kind: B
  metadata: {name: y, namespace: n}
  spec: 1
- kind: B
  metadata: {name: x, namespace: n}
  spec: 1
...
---
`
	r, err := Apply([]byte(before), func(o Object) []Operation {
		if o != (Object{Kind: "B", Namespace: "n", Name: "x"}) {
			return nil
		}
		return []Operation{{"replace", "/spec", 2}}
	})
	if err != nil {
		t.Fatal(err)
	}
	after := strings.Replace(before, "spec: 1   # one", "spec: 2   # one", 1)
	last := strings.LastIndex(after, "spec: 1")
	after = after[:last] + "spec: 2" + after[last+len("spec: 1"):]
	if string(r.Text) != after || len(r.Changed) != 2 {
		t.Errorf("%+v\n%s", r, r.Text)
	}
}

// TestOddPlaces: comments are kept where something stands in an odd way, but for those within flow style.
func TestOddPlaces(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		operation    Operation
		keeps        []string
	}{
		{"no value", "# head\na:\nb: c # of b\n", Operation{"replace", "/a", 1}, []string{"# head\na: 1\nb: c # of b\n"}},
		{"items of items", "# of a\na:\n- - x\n  - y # of y\nb:   c\n", Operation{Op: "remove", Path: "/a/0/0"}, []string{"# of a\na:\n- - y # of y\nb: c\n"}},
		{"explicit indentation", "# why\na: |1\n  x\nb:   c\n", Operation{"replace", "/a", "y"}, []string{"# why\na: |", "\n  y\nb: c\n"}},
		{"a tag", "a: !!str x # of a\nb:   c\n", Operation{"replace", "/a", "y"}, []string{"y", " # of a\nb:   c\n"}},
		{
			"flow style over several lines", "# head\na: 1\nb: { # of b\n  c: [x, # of x\n    y],\n}\n# foot\nd:   e\n", Operation{"add", "/b/c/-", "z"},
			[]string{"# head\na: 1\nb: {c: [x, # of x\n", "y, z]}\n# foot\nd: e\n"},
		},
		{
			"JSON with a layout of its own", "{\"a\": 1,\n     \"b\": [ 1.50 ]}\n", Operation{"add", "/b/-", 2},
			[]string{"{\n     \"a\": 1,\n     \"b\": [\n          1.50,\n          2\n     ]\n}\n"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Apply([]byte(tt.before), each(tt.operation))
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range tt.keeps {
				if !strings.Contains(string(r.Text), part) {
					t.Errorf("%q is lost:\n%s", part, r.Text)
				}
			}
		})
	}
}

// TestImpossible: what cannot be done right is not done.
func TestImpossible(t *testing.T) {
	for _, tt := range []struct {
		name, before string
		operation    Operation
	}{
		{"an anchor", "a: &x {b: 1}\nc: *x\n", Operation{"replace", "/a/b", 2}},
		{"a path that does not exist", "a: {b: 1}\n", Operation{"replace", "/x/y/z", 2}},
		{"an item that does not exist", "a: [1]\n", Operation{Op: "remove", Path: "/a/3"}},
		{"no YAML", "a: [1\n", Operation{"replace", "/a", 2}},
	} {
		if r, err := Apply([]byte(tt.before), each(tt.operation)); err == nil {
			t.Errorf("%s: %s", tt.name, r.Text)
		}
	}
}
