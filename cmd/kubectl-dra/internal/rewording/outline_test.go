package rewording

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// outline is an answer without its prose: a line for every value. The prose is kept beside it.
type outline struct {
	Lines, Prose []string
	// LookedAt are ways of showing the answer that look at its prose.
	LookedAt []string
	keys     map[string]int
}

// prosaic are the fields of answers, and of their wire forms, that hold prose. A list of them is compared by
// its length.
var prosaic = proseFields

// add writes a value with all that is in it. A key is written as the number of the first that is equal: it
// may be another one when things are said otherwise, but what had the same must have the same.
func (o *outline) add(path string, v reflect.Value) {
	if quantity, ok := v.Interface().(resource.Quantity); ok {
		o.line(path, quantity.String())
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			o.line(path, "nil")
			return
		}
		o.add(path, v.Elem())
	case reflect.Struct:
		if reflect.PointerTo(v.Type()).Implements(reflect.TypeFor[json.Marshaler]()) || strings.HasPrefix(v.Type().PkgPath(), "k8s.io/") {
			o.json(path, v)
			return
		}
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() { // of a wire form: it is not printed as JSON
				continue
			}
			o.field(path+"."+v.Type().Field(i).Name, v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		o.line(path+" length", v.Len())
		for i := range v.Len() {
			o.add(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		o.json(path, v)
	default:
		o.line(path, v.Interface())
	}
}

func (o *outline) field(path, name string, v reflect.Value) {
	switch {
	case name == "Key", name == "Found":
		key := v.String()
		if _, ok := o.keys[key]; !ok {
			o.keys[key] = len(o.keys)
		}
		o.line(path, o.keys[key])
	case !slices.Contains(prosaic, name):
		o.add(path, v)
	case v.Kind() == reflect.Slice:
		o.line(path+" length", v.Len())
		for i := range v.Len() {
			o.prose(path, v.Index(i).String())
		}
	default:
		o.line(path+" said", v.String() != "")
		o.prose(path, v.String())
	}
}

// prose keeps a text, unless it is the scheduler's own message or that of an Event.
func (o *outline) prose(path, text string) {
	if text != "" && !strings.HasPrefix(path, ".Scheduler[") && !strings.HasPrefix(path, ".Lifecycle.Events[") {
		o.Prose = append(o.Prose, text)
	}
}

func (o *outline) json(path string, v reflect.Value) {
	data, err := json.Marshal(v.Interface())
	o.line(path, fmt.Sprint(string(data), err))
}

func (o *outline) line(path string, value any) {
	o.Lines = append(o.Lines, fmt.Sprintf("%s = %v", path, value))
}

func outlineOf(v any) outline {
	o := outline{keys: map[string]int{}}
	o.add("", reflect.ValueOf(v))
	return o
}
