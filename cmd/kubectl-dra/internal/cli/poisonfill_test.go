package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// withKind encodes an object with its kind.
func withKind(t *testing.T, k inspect.Kind, object any) []byte {
	t.Helper()
	object.(runtime.Object).GetObjectKind().SetGroupVersionKind(k.GroupVersionKind())
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// encode returns the objects as a stream of JSON documents.
func encode(t *testing.T, o *inspect.Objects) []byte {
	t.Helper()
	var out []byte
	for _, k := range inspect.Kinds() {
		for _, object := range k.Objects(o) {
			out = append(append(out, withKind(t, k, object)...), "\n---\n"...)
		}
	}
	return out
}

// numbers are quantities that take hours to parse.
func numbers() []string {
	return []string{"1e-2000000000", "1e999999999", strings.Repeat("9", 1<<20)}
}

// marker is the quantity that fillAll puts everywhere.
const marker = "424242"

// fillAll sets every field of an object that a pointer points to: texts to a letter, numbers to one,
// quantities to marker, lists and maps to a single element.
func fillAll(object any) { fill(reflect.ValueOf(object).Elem()) }

func fill(v reflect.Value) {
	switch field := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return
	case *resource.Quantity:
		*field = resource.MustParse(marker)
		return
	case *metav1.Time:
		*field = metav1.Unix(1_700_000_000, 0)
		return
	case *metav1.MicroTime:
		*field = metav1.NewMicroTime(metav1.Unix(1_700_000_000, 0).Time)
		return
	case *intstr.IntOrString:
		*field = intstr.FromInt32(1)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, element)
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.Uint8:
		v.SetUint('1') // of raw JSON
	}
}
