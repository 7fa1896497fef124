package poison

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Text is what no terminal may get to see: it clears the screen, sets the title and the clipboard, turns the
// direction of writing, hides characters, and begins a line of its own.
const Text = "p\x1b[2J\x1b]0;pwn\x07\x1b]52;c;cHdu\x07\u009b2J\u202e\u200b\u2066\x7f\r\nFAKE: x"

// Leaf is a text within an object.
type Leaf struct {
	// Path is that of the field, as spec.requests[].name; keys of maps end in {key}.
	Path string
	// Set replaces the text.
	Set func(string)
}

// Strings returns the texts of an object that are set, in the order of its fields. kind and apiVersion are
// left out.
func Strings(object any) []Leaf {
	var w walker
	w.walk(reflect.ValueOf(object).Elem(), "")
	return w.leaves
}

type walker struct{ leaves []Leaf }

var (
	typeMeta     = reflect.TypeFor[metav1.TypeMeta]()
	quantityType = reflect.TypeFor[resource.Quantity]()
	timeType     = reflect.TypeFor[metav1.Time]()
	microType    = reflect.TypeFor[metav1.MicroTime]()
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
)

// opaque are types whose inside is not made of fields.
func opaque(t reflect.Type) bool {
	return t == typeMeta || t == quantityType || t == timeType || t == microType || t == intOrString
}

func (w *walker) walk(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			w.walk(v.Elem(), path)
		}
	case reflect.Struct:
		if opaque(v.Type()) {
			return
		}
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				w.walk(v.Field(i), join(path, f))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if v.Index(i).Kind() != reflect.Uint8 {
				w.walk(v.Index(i), path+"[]")
			}
		}
	case reflect.Map:
		w.walkMap(v, path)
	case reflect.String:
		if v.Len() > 0 && v.CanSet() {
			w.leaves = append(w.leaves, Leaf{path, v.SetString})
		}
	}
}

func (w *walker) walkMap(v reflect.Value, path string) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	for _, key := range keys {
		w.leaves = append(w.leaves, Leaf{path + "{key}", func(text string) {
			value := v.MapIndex(key)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
		}})
		if element := v.Type().Elem(); element.Kind() == reflect.String {
			w.leaves = append(w.leaves, Leaf{path + "{}", func(text string) {
				v.SetMapIndex(key, reflect.ValueOf(text).Convert(element))
			}})
			continue
		}
		inner := reflect.New(v.Type().Elem()).Elem() // elements of maps cannot be changed in place
		inner.Set(v.MapIndex(key))
		var below walker
		below.walk(inner, path+"{}")
		for _, leaf := range below.leaves {
			w.leaves = append(w.leaves, Leaf{leaf.Path, func(text string) {
				leaf.Set(text)
				v.SetMapIndex(key, inner)
			}})
		}
	}
}

func join(path string, f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "" && path == "":
		return ""
	case name == "":
		return path
	case path == "":
		return name
	}
	return path + "." + name
}

// Check returns what is wrong with the output of a command: a character that a terminal obeys or hides, or a
// line that a text has begun. Empty: nothing.
func Check(output string) string {
	if problem := CheckCharacters(output); problem != "" {
		return problem
	}
	if i := strings.Index("\n"+output, "\nFAKE"); i >= 0 {
		return fmt.Sprintf("a line of its own: %q", around(output, i))
	}
	return ""
}

// CheckCharacters is Check for output that keeps the line breaks of texts.
func CheckCharacters(output string) string {
	for i, r := range output {
		if r == utf8.RuneError && !strings.HasPrefix(output[i:], "\uFFFD") {
			return fmt.Sprintf("a byte that is no UTF-8: %q", around(output, i))
		}
		if r != '\n' && inspect.Unsafe(r) {
			return fmt.Sprintf("%U in %q", r, around(output, i))
		}
	}
	return ""
}

func around(text string, i int) string { return text[max(0, i-60):min(len(text), i+60)] }
