package sources

import (
	"reflect"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestOverlayForgetsNoKind: objects of every kind join those that are there, and replace one of the same
// name.
func TestOverlayForgetsNoKind(t *testing.T) {
	// named returns objects with one object of each kind.
	named := func(name string) inspect.Objects {
		var objects inspect.Objects
		v := reflect.ValueOf(&objects).Elem()
		for i := range v.NumField() {
			list := v.Field(i)
			object := reflect.New(list.Type().Elem().Elem())
			object.Elem().FieldByName("Name").SetString(name)
			list.Set(reflect.Append(list, object))
		}
		return objects
	}
	base, same, other := named("a"), named("a"), named("b")
	Overlay(&base, &same)
	Overlay(&base, &other)
	v := reflect.ValueOf(base)
	for i := range v.NumField() {
		list := v.Field(i)
		if list.Len() != 2 || list.Index(0).Pointer() != reflect.ValueOf(same).Field(i).Index(0).Pointer() {
			t.Errorf("%s: %d objects, want the new a and b", v.Type().Field(i).Name, list.Len())
		}
	}
}
