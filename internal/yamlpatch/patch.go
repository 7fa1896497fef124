package yamlpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Operation is an operation of a JSON patch: "add", "replace" or "remove".
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Object says which object a document, or an item of a list in it, is.
type Object struct{ APIVersion, Kind, Namespace, Name string }

// Result is what became of a text.
type Result struct {
	Text []byte
	// Changed are the objects to which operations were applied, in the order of the text.
	Changed []Object
	// Rewritten says that a document could not be changed in place, so that its layout is another one now.
	Rewritten bool
}

// Apply applies to each object in a text the operations that patch returns for it. Objects for which it returns none stay
// as they are. Operations that replace what is not there add it.
func Apply(text []byte, patch func(Object) []Operation) (*Result, error) {
	out := &Result{}
	for rest := text; len(rest) > 0; {
		var chunk []byte
		chunk, rest = cutDocument(rest)
		changed, err := out.apply(chunk, patch)
		if err != nil {
			return nil, err
		}
		out.Text = append(out.Text, changed...)
	}
	return out, nil
}

// apply changes one document.
func (r *Result) apply(chunk []byte, patch func(Object) []Operation) ([]byte, error) {
	d, err := parse(chunk)
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		roots := d.objects()
		if i >= len(roots) {
			return d.text, nil
		}
		object := objectOf(roots[i].node)
		operations := patch(object)
		if len(operations) == 0 {
			continue
		}
		for _, op := range operations {
			op.Path = roots[i].path + op.Path
			var rewritten bool
			if d, rewritten, err = d.apply(op); err != nil {
				return nil, fmt.Errorf("changing %s %s: %w", object.Kind, object.Name, err)
			}
			r.Rewritten = r.Rewritten || rewritten
		}
		r.Changed = append(r.Changed, object)
	}
}

// document is a parsed document with its text.
type document struct {
	text []byte
	node *yaml.Node // the document
	root *yaml.Node // its value; nil if there is none
	json bool
	// lines are the offsets at which lines begin.
	lines []int
}

func parse(text []byte) (*document, error) {
	d := &document{text: text, lines: []int{0}, json: isJSON(text)}
	for i, c := range text {
		if c == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	source := text
	if d.json {
		source = bytes.ReplaceAll(text, []byte("\t"), []byte(" ")) // which YAML does not take for indentation
	}
	var node yaml.Node
	if err := yaml.Unmarshal(source, &node); err != nil {
		return nil, err
	}
	if node.Kind == yaml.DocumentNode {
		d.node, d.root = &node, node.Content[0]
	}
	return d, nil
}

// located is an object in a document, with the JSON pointer to it.
type located struct {
	node *yaml.Node
	path string
}

// objects are the objects of a document: itself, or the items of a list.
func (d *document) objects() []located {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return nil
	}
	items := child(d.root, "items")
	if !strings.HasSuffix(scalarAt(d.root, "kind"), "List") || items == nil || items.Kind != yaml.SequenceNode {
		return []located{{d.root, ""}}
	}
	var out []located
	for i, item := range items.Content {
		out = append(out, located{item, fmt.Sprintf("/items/%d", i)})
	}
	return out
}

func objectOf(node *yaml.Node) Object {
	o := Object{APIVersion: scalarAt(node, "apiVersion"), Kind: scalarAt(node, "kind")}
	if metadata := child(node, "metadata"); metadata != nil {
		o.Namespace, o.Name = scalarAt(metadata, "namespace"), scalarAt(metadata, "name")
	}
	return o
}

// child is the value of a key, or nil.
func child(node *yaml.Node, key string) *yaml.Node {
	if node.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == key {
			return node.Content[i+1]
		}
	}
	return nil
}

func scalarAt(node *yaml.Node, key string) string {
	if value := child(node, key); value != nil && value.Kind == yaml.ScalarNode {
		return value.Value
	}
	return ""
}

// errOdd says that a place is written in a way in which it cannot be spliced.
var errOdd = errors.New("it cannot be changed in place")

// apply applies an operation. rewritten says that the layout could not be kept.
func (d *document) apply(op Operation) (changed *document, rewritten bool, err error) {
	want, err := d.patched(op)
	if err != nil {
		return nil, false, err
	}
	for _, edit := range []func(Operation) ([]byte, error){d.splice, d.rewrite} {
		var text []byte
		if text, err = edit(op); err == nil {
			if changed, err = parse(text); err == nil && changed.equals(want) {
				return changed, rewritten, nil
			}
		}
		rewritten = true
	}
	return nil, false, fmt.Errorf("%s of %s: %w", op.Op, op.Path, errors.Join(errOdd, err))
}

// patched is what the value of the document is to become.
func (d *document) patched(op Operation) (any, error) {
	before, err := d.value()
	if err != nil {
		return nil, err
	}
	if op.Op == "replace" && d.find(op.Path) == nil {
		op.Op = "add"
	}
	return patchedValue(before, op)
}

// value is what the document says.
func (d *document) value() (any, error) {
	var value any
	if err := d.root.Decode(&value); err != nil {
		return nil, err
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return decodeJSON(data)
}

func (d *document) equals(want any) bool {
	if d.root == nil {
		return false
	}
	have, err := d.value()
	return err == nil && reflect.DeepEqual(have, want)
}

func decodeJSON(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var out any
	return out, decoder.Decode(&out)
}

// cutDocument cuts text before the next line that begins a document.
func cutDocument(text []byte) (chunk, rest []byte) {
	for from := 0; ; {
		n := bytes.IndexByte(text[from:], '\n')
		if n < 0 {
			return text, nil
		}
		from += n + 1
		if next := text[from:]; bytes.HasPrefix(next, []byte("---")) && (len(next) == 3 || bytes.IndexByte([]byte(" \t\r\n"), next[3]) >= 0) {
			return text[:from], next
		}
	}
}

// isJSON tells JSON from YAML: it begins with a bracket and a quote, or is empty.
func isJSON(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return false
	}
	text = bytes.TrimSpace(text[1:])
	return len(text) > 0 && (text[0] == '"' || text[0] == '}')
}
