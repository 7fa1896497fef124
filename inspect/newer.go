package inspect

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TypesMinor is the minor release of the API types that this program is built with: objects of a server that
// is not newer have no field that these do not know.
const TypesMinor = 37

// NewerKey is the annotation in which an object keeps its fields that the API types of this program do not
// know. Its value is a tree like that of the object, with nothing but these fields: {"=": VALUE} is such a
// field, {"[]": [...]} a list of which some items have some, {"{}": {...}} a map of which some values have.
// It is in no object outside this program but in packed or anonymized archives, and in logs.
const NewerKey = "kubectl-dra.dev/newer-fields"

// Marks in a tree of NewerKey, which no field is called by.
const (
	newField  = "="
	newItems  = "[]"
	newValues = "{}"
)

// newerItem is an item of a list: the one whose field By is Name, or if it has no such field, the one at At.
type newerItem struct {
	At   int    `json:"at"`
	By   string `json:"by,omitempty"`
	Name string `json:"name,omitempty"`
	Rest any    `json:"rest"`
}

// KeepNewer has an object that was decoded from JSON keep what is in that and its type does not know.
func KeepNewer(object metav1.Object, raw []byte) {
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&tree) == nil {
		setNewer(object, newerIn(tree, reflect.TypeOf(object)))
	}
}

func setNewer(object metav1.Object, tree any) {
	all := maps.Clone(object.GetAnnotations())
	delete(all, NewerKey)
	if text, err := json.Marshal(tree); tree != nil && err == nil {
		if all == nil {
			all = map[string]string{}
		}
		all[NewerKey] = string(text)
	}
	object.SetAnnotations(all)
}

// unread are parts of objects that nothing here reads and that may hold secrets: what is new in them is not
// kept, as they are not.
var unread = map[string]bool{
	"env": true, "envFrom": true, "livenessProbe": true, "readinessProbe": true, "startupProbe": true, "lifecycle": true,
	"securityContext": true, "dnsConfig": true, "images": true, "nodeInfo": true, "addresses": true, "managedFields": true,
}

// newerIn is what of a JSON value a type does not know, or nil. What decodes itself knows everything.
func newerIn(tree any, t reflect.Type) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	fields, _ := tree.(map[string]any)
	list, _ := tree.([]any)
	out, known, items := map[string]any{}, map[string]reflect.Type{}, []newerItem(nil)
	switch t.Kind() {
	case reflect.Struct:
		addFields(known, t)
		for name, field := range fields {
			if of, ok := known[name]; !ok {
				out[name] = map[string]any{newField: field}
			} else if rest := newerIn(field, of); rest != nil && !unread[name] {
				out[name] = rest
			}
		}
	case reflect.Map:
		for key, value := range fields {
			if rest := newerIn(value, t.Elem()); rest != nil {
				out[key] = rest
			}
		}
		if len(out) > 0 {
			return map[string]any{newValues: out}
		}
	case reflect.Slice:
		for i, item := range list {
			if rest := newerIn(item, t.Elem()); rest != nil {
				by, name := identity(item)
				items = append(items, newerItem{i, by, name, rest})
			}
		}
		if items != nil {
			return map[string]any{newItems: items}
		}
	}
	if len(out) > 0 {
		return out
	}
	return nil
}

// addFields adds the fields of a struct by their names in JSON.
func addFields(to map[string]reflect.Type, t reflect.Type) {
	for field := range t.Fields() {
		switch name, _, _ := strings.Cut(field.Tag.Get("json"), ","); {
		case name != "":
			to[name] = field.Type
		case field.Type.Kind() == reflect.Struct:
			addFields(to, field.Type)
		}
	}
}

// identity is the field that an item of a list is told from others by, also in a list of which some items are
// left out.
func identity(item any) (by, name string) {
	fields, _ := item.(map[string]any)
	for _, by := range []string{"mountPath", "name", "type"} {
		if name, ok := fields[by].(string); ok {
			return by, name
		}
	}
	return "", ""
}

// newerOf is the tree that an object keeps, or nil.
func newerOf(object metav1.Object) (tree map[string]any) {
	if text, ok := object.GetAnnotations()[NewerKey]; ok {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&tree) != nil {
			return nil
		}
	}
	return tree
}

// WithNewer returns what stands for an object in JSON and YAML: the object itself, or a tree with the fields
// that it keeps in their places.
func WithNewer(object metav1.Object) (any, error) {
	rest := newerOf(object)
	if rest == nil {
		return object, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	meta, _ := tree["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if delete(annotations, NewerKey); len(annotations) == 0 {
		delete(meta, "annotations")
	}
	return restored(tree, rest), nil
}

// restored is a value with what a tree of NewerKey has besides.
func restored(value, rest any) any {
	tree, _ := rest.(map[string]any)
	if field, ok := tree[newField]; ok {
		return field
	}
	if _, ok := tree[newItems]; ok {
		list, _ := value.([]any)
		for _, item := range itemsOf(tree) {
			at := item.At
			if item.By != "" {
				at = slices.IndexFunc(list, func(other any) bool { by, name := identity(other); return by == item.By && name == item.Name })
			}
			if at < 0 || at >= len(list) { // it was left out; what is new in it was not
				list, at = append(list, map[string]any{}), len(list)
				if item.By != "" {
					list[at] = map[string]any{item.By: item.Name}
				}
			}
			list[at] = restored(list[at], item.Rest)
		}
		return list
	}
	fields, ok := value.(map[string]any)
	if values, isMap := tree[newValues].(map[string]any); isMap {
		maps.DeleteFunc(values, func(key string, _ any) bool { return fields[key] == nil }) // a key that was left out, or renamed
		tree = values
	} else if value == nil {
		fields = map[string]any{}
	} else if !ok {
		return value
	}
	for name, rest := range tree {
		fields[name] = restored(fields[name], rest)
	}
	return fields
}

func itemsOf(tree map[string]any) (items []newerItem) {
	text, err := json.Marshal(tree[newItems])
	if err == nil {
		_ = json.Unmarshal(text, &items) // what is none was not written by this program
	}
	return items
}

// NewerFields returns the paths of the fields of an object that the API types of this program do not know,
// sorted: those that may decide about devices or pods, and others, such as metadata and what is reported of
// pods.
func NewerFields(object metav1.Object) (deciding, others []string) {
	var all []string
	addPaths(&all, "", newerOf(object))
	slices.Sort(all)
	for _, path := range all {
		if decides(object, path) {
			deciding = append(deciding, path)
		} else {
			others = append(others, path)
		}
	}
	return deciding, others
}

func addPaths(out *[]string, path string, rest any) {
	tree, _ := rest.(map[string]any)
	if _, ok := tree[newField]; ok {
		*out = append(*out, path)
		return
	}
	for _, item := range itemsOf(tree) {
		addPaths(out, fmt.Sprintf("%s[%d]", path, item.At), item.Rest)
	}
	for name, rest := range tree {
		switch {
		case name == newItems:
		case name == newValues:
			addPaths(out, path, rest)
		case strings.ContainsAny(name, "./[] "):
			addPaths(out, path+"["+name+"]", rest)
		default:
			addPaths(out, strings.TrimPrefix(path+"."+name, "."), rest)
		}
	}
}

// decides reports whether a field that is not known may decide about devices or pods. Of a status only that
// of nodes, and what a claim has, ever did.
func decides(object metav1.Object, path string) bool {
	_, node := object.(*corev1.Node)
	_, namespace := object.(*corev1.Namespace)
	root, below, _ := strings.Cut(path, ".")
	switch {
	case root == "metadata", strings.HasPrefix(path, "spec.metadata"), namespace:
		return false
	case root == "status":
		return node && !strings.HasPrefix(below, "conditions[") || strings.HasPrefix(below, "allocation")
	}
	return true
}

// HideNewer drops the values of the fields that an object keeps, and all names in its tree but those of fields.
func HideNewer(object metav1.Object) {
	if tree := newerOf(object); tree != nil {
		setNewer(object, hidden(tree))
	}
}

func hidden(value any) any {
	switch v := value.(type) {
	case string: // that tells an item from others
		return ""
	case []any:
		for i := range v {
			v[i] = hidden(v[i])
		}
	case map[string]any:
		for name, field := range v {
			if v[name] = hidden(field); name == newField {
				v[name] = nil
			}
		}
		if values, ok := v[newValues].(map[string]any); ok {
			numbered := map[string]any{}
			for i, key := range slices.Sorted(maps.Keys(values)) {
				numbered[fmt.Sprintf("key-%d", i)] = values[key]
			}
			v[newValues] = numbered
		}
	}
	return value
}
