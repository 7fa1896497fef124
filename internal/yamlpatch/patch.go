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
}

// Apply applies to each object in a text the operations that patch returns for it. Objects for which it
// returns none stay as they are. Operations that replace what is not there add it.
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
			return []byte(d.text), nil
		}
		object := roots[i].Object
		operations := patch(object)
		if len(operations) == 0 {
			continue
		}
		for _, op := range operations {
			op.Path = roots[i].path + op.Path
			if d, err = d.apply(op); err != nil {
				return nil, fmt.Errorf("changing %s %s: %w", object.Kind, object.Name, err)
			}
		}
		r.Changed = append(r.Changed, object)
	}
}

// document is a parsed document with its text.
type document struct {
	text     string
	node     *yaml.Node // the document
	root     *yaml.Node // its value; nil if there is none
	json     bool
	indented bool // lists are, below their keys
}

func parse(text []byte) (*document, error) {
	d := &document{text: string(text), json: isJSON(text)}
	if d.json {
		text = bytes.ReplaceAll(text, []byte("\t"), []byte(" ")) // which YAML does not take for indentation
	}
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil {
		return nil, err
	}
	if node.Kind == yaml.DocumentNode {
		d.node, d.root = &node, node.Content[0]
		d.indented, _ = indentsLists(d.root)
	}
	return d, nil
}

// located is an object in a document, with the JSON pointer to it.
type located struct {
	Object
	node *yaml.Node
	path string
}

// objects are the objects of a document: itself, or the items of a list.
func (d *document) objects() []located {
	if d.root == nil || d.root.Kind != yaml.MappingNode {
		return nil
	}
	object, items := objectOf(d.root)
	if !strings.HasSuffix(object.Kind, "List") || items.Kind != yaml.SequenceNode {
		return []located{{object, d.root, ""}}
	}
	var out []located
	for i, item := range items.Content {
		object, _ := objectOf(item)
		out = append(out, located{object, item, fmt.Sprintf("/items/%d", i)})
	}
	return out
}

// objectOf says which object a node is, and what its items are.
func objectOf(node *yaml.Node) (object Object, items yaml.Node) {
	var head struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Namespace, Name string }
		Items      yaml.Node
	}
	_ = node.Decode(&head) // what is no text is none of these
	return Object{head.APIVersion, head.Kind, head.Metadata.Namespace, head.Metadata.Name}, head.Items
}

// apply applies an operation.
func (d *document) apply(op Operation) (*document, error) {
	e := d.locate(op.Path)
	if e == nil {
		return nil, fmt.Errorf("there is no %s", op.Path)
	}
	if op.Op == "replace" && e.value() == nil {
		op.Op = "add"
	}
	before, err := d.value()
	if err != nil {
		return nil, err
	}
	want, err := patchedValue(before, op)
	if err != nil {
		return nil, err
	}
	var changed *document
	check := func(text string, err error) bool {
		if err == nil {
			changed, err = parse([]byte(text))
		}
		return err == nil && changed.equals(want)
	}
	if op.Op != "remove" && e.value() != nil && (e.inMapping() || op.Op == "replace") {
		if text, ok := d.replaceScalar(e.value(), op.Value); ok && check(text, nil) {
			return changed, nil
		}
	}
	switch {
	case d.json:
		var patched []byte
		if patched, err = patchedJSON([]byte(d.text), op); err == nil && check(indentedJSON(patched, d.text)) {
			return changed, nil
		}
	case edit(op, e):
		if check(d.whole()) {
			return changed, nil
		}
		if dropComments(d.root); check(d.whole()) {
			return changed, nil
		}
	}
	return nil, fmt.Errorf("%s of %s: %w", op.Op, op.Path, errors.Join(errOdd, err))
}

// errOdd says that a place is written in a way in which it cannot be changed.
var errOdd = errors.New("it cannot be changed in place")

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
