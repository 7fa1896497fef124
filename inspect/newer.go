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
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
)

// TypesMinor is the minor release of the API types that this program is built with: objects of a server that
// is not newer have no field that these do not know.
const TypesMinor = 37

// NewerThanTypes reports whether a server of a version, such as "v1.38.0", is newer than the API types. It is
// false for what is no version.
func NewerThanTypes(serverVersion string) bool {
	v, err := version.Parse(serverVersion)
	return err == nil && (v.Major() > 1 || v.Minor() > TypesMinor)
}

// NewerKey is the annotation in which an object keeps its fields that the API types of this program do not
// know, as a list in JSON. It is in no object outside this program but in packed or anonymized archives, and
// in logs.
const NewerKey = "kubectl-dra.dev/newer-fields"

// newerField is a field that the API types do not know.
type newerField struct {
	Path  []step `json:"path"`
	Value any    `json:"value"`
}

// step leads from a value of JSON to one in it: a field of the API, a key of a map, or an item of a list.
// That is the one whose field By is Name, also when other items are left out, or the one at the index At if
// there is no such field.
type step struct {
	Field string `json:"field,omitempty"`
	Key   string `json:"key,omitempty"`
	At    *int   `json:"at,omitempty"`
	By    string `json:"by,omitempty"`
	Name  string `json:"name,omitempty"`
}

// KeepNewer has an object that was decoded from JSON keep what is in that and its type does not know.
func KeepNewer(object metav1.Object, raw []byte) {
	var fields []newerField
	addNewer(&fields, nil, decoded(raw), reflect.TypeOf(object))
	setNewer(object, fields)
}

// decoded is JSON with its numbers as they are written. It is nil if it is none.
func decoded(raw []byte) (tree any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if decoder.Decode(&tree) != nil {
		return nil
	}
	return tree
}

func setNewer(object metav1.Object, fields []newerField) {
	all := maps.Clone(object.GetAnnotations())
	delete(all, NewerKey)
	if text, err := json.Marshal(fields); len(fields) > 0 && err == nil {
		if all == nil {
			all = map[string]string{}
		}
		all[NewerKey] = string(text)
	}
	object.SetAnnotations(all)
}

// secret are parts of objects that may hold secrets, and that nothing here reads: what is new in them is not
// kept, as they are not.
var secret = map[string]bool{
	"env": true, "envFrom": true, "livenessProbe": true, "readinessProbe": true, "startupProbe": true, "lifecycle": true,
	"managedFields": true,
}

// idle are parts of objects of which no filter of kube-scheduler up to 1.38.0-beta.0 reads more than is
// known. Of a seccompProfile it reads the type alone; the rest of the security context may become a feature
// that nodes must have, as that did.
var idle = map[string]bool{
	"seccompProfile": true, "dnsConfig": true, "images": true, "nodeInfo": true, "addresses": true, "podIPs": true, "hostIPs": true,
	"conditions": true, "state": true, "lastState": true, "allocatedResourcesStatus": true, "user": true,
}

// addNewer adds what of a JSON value a type does not know. What decodes itself knows everything.
func addNewer(out *[]newerField, path []step, tree any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if p := reflect.PointerTo(t); p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return
	}
	path = slices.Clip(path)
	fields, _ := tree.(map[string]any)
	list, _ := tree.([]any)
	switch t.Kind() {
	case reflect.Struct:
		known := map[string]reflect.Type{}
		addFields(known, t)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if of, ok := known[name]; !ok {
				*out = append(*out, newerField{append(path, step{Field: name}), fields[name]})
			} else if !secret[name] {
				addNewer(out, append(path, step{Field: name}), fields[name], of)
			}
		}
	case reflect.Map:
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			addNewer(out, append(path, step{Key: key}), fields[key], t.Elem())
		}
	case reflect.Slice:
		for i, item := range list {
			by, name := identity(item)
			addNewer(out, append(path, step{At: &i, By: by, Name: name}), item, t.Elem())
		}
	}
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

// identity is the field that an item of a list is told from others by.
func identity(item any) (by, name string) {
	fields, _ := item.(map[string]any)
	for _, by := range []string{"mountPath", "name", "type"} {
		if name, ok := fields[by].(string); ok {
			return by, name
		}
	}
	return "", ""
}

// newerOf are the fields that an object keeps.
func newerOf(object metav1.Object) (fields []newerField) {
	if text, ok := object.GetAnnotations()[NewerKey]; ok {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if decoder.Decode(&fields) != nil {
			return nil
		}
	}
	return fields
}

// NamesWorkload reports whether a pod has the field spec.workloadRef of Kubernetes 1.35, which the API types
// no longer know: the pods of a Workload of scheduling.k8s.io wait for each other there.
func NamesWorkload(pod *corev1.Pod) bool {
	return slices.ContainsFunc(newerOf(pod), func(f newerField) bool {
		return len(f.Path) == 2 && f.Path[0].Field == "spec" && f.Path[1].Field == "workloadRef"
	})
}

// WithNewer returns what stands for an object in JSON and YAML: the object itself, or a tree with the fields
// that it keeps in their places.
func WithNewer(object metav1.Object) (any, error) {
	kept := newerOf(object)
	if kept == nil {
		return object, nil
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what is wrong
	}
	tree, _ := decoded(text).(map[string]any)
	meta, _ := tree["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	if delete(annotations, NewerKey); len(annotations) == 0 {
		delete(meta, "annotations")
	}
	for _, f := range kept {
		put(tree, f.Path, f.Value)
	}
	return tree, nil
}

// put returns a value with a field at a path. What leads there is made if it was left out, but for keys.
func put(value any, path []step, field any) any {
	if len(path) == 0 {
		return field
	}
	s, rest := path[0], path[1:]
	fields, isMap := value.(map[string]any)
	switch list, isList := value.([]any); {
	case s.At != nil && (isList || value == nil):
		at := *s.At
		if s.By != "" {
			at = slices.IndexFunc(list, func(o any) bool { by, name := identity(o); return by == s.By && name == s.Name })
		}
		if at < 0 || at >= len(list) {
			list, at = append(list, map[string]any{}), len(list)
			if s.By != "" {
				list[at] = map[string]any{s.By: s.Name}
			}
		}
		list[at] = put(list[at], rest, field)
		return list
	case s.Key != "" && fields[s.Key] != nil:
		fields[s.Key] = put(fields[s.Key], rest, field)
	case s.Field != "" && isMap:
		fields[s.Field] = put(fields[s.Field], rest, field)
	case s.Field != "" && value == nil:
		return map[string]any{s.Field: put(nil, rest, field)}
	}
	return value
}

// NewerFields returns the paths of the fields of an object that the API types of this program do not know, in
// their order: those that may decide about devices or pods, and others, such as metadata and what is reported
// of pods.
func NewerFields(object metav1.Object) (deciding, others []string) {
	for _, f := range newerOf(object) {
		path := ""
		for _, s := range f.Path {
			switch {
			case s.At != nil:
				path += fmt.Sprintf("[%d]", *s.At)
			case s.Key != "":
				path += "[" + s.Key + "]"
			default:
				path = strings.TrimPrefix(path+"."+s.Field, ".")
			}
		}
		if decides(object, f.Path) {
			deciding = append(deciding, path)
		} else {
			others = append(others, path)
		}
	}
	return deciding, others
}

// decides reports whether a field that is not known may decide about devices or pods. Those of a status do
// where kube-scheduler reads it: most fields that the status of pods got lately are about what a pod takes.
func decides(object metav1.Object, path []step) bool {
	if len(path) == 0 || slices.ContainsFunc(path[:len(path)-1], func(s step) bool { return idle[s.Field] }) {
		return false
	}
	root, below := path[0].Field, ""
	if len(path) > 2 {
		below = path[1].Field
	}
	switch object.(type) {
	case *corev1.Namespace:
		return false
	case *resourcev1.ResourceClaim: // what drivers report of devices
		return root != "metadata" && (root != "status" || below != "devices")
	case *corev1.Node, *corev1.Pod, *resourcev1.ResourceSlice, *resourcev1.DeviceClass, *schedulingv1beta1.PodGroup, *schedulingv1alpha3.CompositePodGroup, *policyv1.PodDisruptionBudget, *kueuev1beta2.Workload:
		return root != "metadata"
	}
	return root != "metadata" && root != "status" && (root != "spec" || below != "metadata")
}

// HideNewer drops the values of the fields that an object keeps, and all names that lead to them but those of
// fields.
func HideNewer(object metav1.Object) {
	fields := newerOf(object)
	for i := range fields {
		fields[i].Value = nil
		for j := range fields[i].Path {
			s := &fields[i].Path[j]
			if s.By, s.Name = "", ""; s.Key != "" {
				s.Key = "*"
			}
		}
	}
	if fields != nil {
		setNewer(object, fields)
	}
}
