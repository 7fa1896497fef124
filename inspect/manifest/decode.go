package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	drav1beta1 "k8s.io/dynamic-resource-allocation/api/v1beta1"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// unmarshal decodes JSON as the API server does: field names are case-sensitive, and unknown or
// repeated fields are complaints, not errors.
func unmarshal(raw []byte, into any) (complaints []error, err error) {
	return kjson.UnmarshalStrict(raw, into)
}

// decodeAlphaSlice decodes a ResourceSlice of v1alpha3, where a capacity was a plain quantity, as one of
// v1beta1, where it is {value: quantity}.
func decodeAlphaSlice(raw []byte) (metav1.Object, []error, error) {
	raw, err := wrapCapacities(raw)
	if err != nil {
		return nil, nil, err
	}
	return converting(drav1beta1.Convert_v1beta1_ResourceSlice_To_v1_ResourceSlice)(raw)
}

// decodeAlphaPodGroup decodes a PodGroup of Kubernetes 1.36.
func decodeAlphaPodGroup(raw []byte) (metav1.Object, []error, error) {
	var old inspect.AlphaPodGroup
	complaints, err := unmarshal(raw, &old)
	if err != nil {
		return nil, nil, err
	}
	return old.PodGroup(), complaints, nil
}

func wrapCapacities(raw []byte) ([]byte, error) {
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, err
	}
	spec, _ := tree["spec"].(map[string]any)
	devices, _ := spec["devices"].([]any)
	for _, d := range devices {
		device, _ := d.(map[string]any)
		basic, _ := device["basic"].(map[string]any)
		capacities, _ := basic["capacity"].(map[string]any)
		for name, value := range capacities {
			switch value.(type) {
			case string, json.Number:
				capacities[name] = map[string]any{"value": value}
			}
		}
	}
	return json.Marshal(tree)
}

// A mistake is a value that cannot be decoded, with the path of its field.
type mistake struct {
	path   string
	detail string
	advice string // may be empty
}

// findMistake finds the value that makes decoding fail. The decoders report no list indexes, and for
// quantities and times no field at all; so each part of the object is decoded on its own, outermost
// first, within nothing but the objects and lists that hold it.
//
// Example: {"spec":{"a":[{"n":1},{"n":"x"}]}} is tried as {"spec":{}}, {"spec":{"a":[]}},
// {"spec":{"a":[{}]}}, {"spec":{"a":[{"n":1}]}}, ... until one fails.
func findMistake(raw []byte, decode decodeFunc) (mistake, bool) {
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return mistake{}, false
	}
	f := finder{decode: decode, budget: maxProbeBytes}
	return f.search(tree, "", nil)
}

// maxProbeBytes bounds the search for a mistake by the JSON that it may decode; beyond it the message is
// the decoder's own.
const maxProbeBytes = 8 << 20

type finder struct {
	decode decodeFunc
	budget int // bytes
}

// search looks below value, which stands at path; wrap puts a value into the containers that hold it.
func (f *finder) search(value any, path string, wrap func(any) any) (mistake, bool) {
	if f.budget < 0 {
		return mistake{}, false
	}
	if wrap == nil {
		wrap = func(v any) any { return v }
	}
	probe := value
	switch value.(type) {
	case map[string]any:
		probe = map[string]any{}
	case []any:
		probe = []any{}
	}
	if err := f.try(wrap(probe)); err != nil {
		return mistake{path: path, detail: describe(value, err), advice: adviceFor(path, value, err)}, true
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			inner := func(v any) any { return wrap(map[string]any{key: v}) }
			if m, ok := f.search(value[key], joinPath(path, key), inner); ok {
				return m, true
			}
		}
	case []any:
		inner := func(v any) any { return wrap([]any{v}) }
		for i, item := range value {
			if m, ok := f.search(item, fmt.Sprintf("%s[%d]", path, i), inner); ok {
				return m, true
			}
		}
	}
	return mistake{}, false
}

func (f *finder) try(tree any) error {
	raw, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	f.budget -= len(raw)
	_, _, err = f.decode(raw)
	return err
}

func joinPath(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./[] "):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// describe says what is wrong with a value, in a user's words where the decoder's are a programmer's.
func describe(value any, err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return fmt.Sprintf("%s is given where %s is expected", jsonName(value), goName(typeErr.Type))
	}
	if s, ok := value.(string); ok {
		return fmt.Sprintf("%q: %v", inspect.SanitizeShort(s, maxSnippetLength), err)
	}
	return err.Error()
}

var capacityPath = regexp.MustCompile(`\.(capacity|counters)(\.[^.]+|\[[^]]+\])$`)

// adviceFor says how a value is written right, where a mistake is common.
func adviceFor(path string, value any, err error) string {
	var typeErr *json.UnmarshalTypeError
	if !errors.As(err, &typeErr) {
		return ""
	}
	stringWanted := goName(typeErr.Type) == goName(reflect.TypeFor[string]())
	switch value.(type) {
	case bool:
		if stringWanted {
			return "put it in quotes: YAML takes y, n, yes, no, on and off for booleans"
		}
	case string, json.Number:
		if capacityPath.MatchString(path) {
			return fmt.Sprintf("write it as {value: %v}", value)
		}
		if stringWanted {
			return "put it in quotes"
		}
	}
	return ""
}

func jsonName(value any) string {
	switch v := value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return fmt.Sprintf("the string %q", inspect.SanitizeShort(v, maxSnippetLength))
	case json.Number:
		return "the number " + v.String()
	case bool:
		return fmt.Sprintf("the boolean %v", v)
	}
	return "null"
}

func goName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number (%d bits)", t.Bits())
	case reflect.Pointer:
		return goName(t.Elem())
	}
	return t.String()
}
