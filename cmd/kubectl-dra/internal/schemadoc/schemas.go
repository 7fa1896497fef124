package main

import (
	"cmp"
	"encoding"
	"fmt"
	"maps"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/kinds"
	"github.com/kubectl-dra/kubectl-dra/tui"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// base is what the identifiers of schemas begin with.
const base = "https://kubectl-dra.dev/schema/v1alpha1/"

const (
	module  = "github.com/kubectl-dra/kubectl-dra"
	dialect = "https://json-schema.org/draft/2020-12/schema"
)

// described are the folders of the packages whose types are printed.
var described = []string{
	"./cmd/kubectl-dra/internal/output", "./tui", "./allocator", "./explain", "./inspect", "./scheduler/filters", "./internal/checkup",
}

// schemas are the schemas of all kinds, by their names.
func schemas(root string) (map[string]*jsonschema.Schema, error) {
	home, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	if err := os.Chdir(root); err != nil { // the reflector wants the paths of comments to be those of packages
		return nil, err
	}
	defer func() { _ = os.Chdir(home) }() // it was there a moment ago
	r := &jsonschema.Reflector{Anonymous: true, Mapper: mapped, Namer: typeName}
	for _, folder := range described {
		if err := r.AddGoComments(module, folder, jsonschema.WithFullComment()); err != nil {
			return nil, err
		}
	}
	g := &generator{reflector: r, kindOf: map[string]string{}, values: map[string][]any{}}
	for _, kind := range kinds.All() {
		for _, value := range kind.Types {
			if name := nameOf(value); kind.Item == nil && !kind.Streamed {
				g.kindOf[name] = kind.Name
			}
		}
	}
	out := map[string]*jsonschema.Schema{}
	for _, kind := range kinds.All() {
		schema, err := g.schema(kind)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.Name, err)
		}
		out[kind.Name] = schema
	}
	out[settingsName], err = g.settings()
	return out, err
}

// settingsName is what the schema of the file of a user's own is called.
const settingsName = "Config"

// settings is the schema of that file: the names that can be written in it are those that the program has.
func (g *generator) settings() (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{Version: dialect, ID: jsonschema.ID(base + settingsName + ".json"), Title: settingsName, Definitions: jsonschema.Definitions{}}
	if err := g.define(root, &tui.Preferences{}); err != nil {
		return nil, err
	}
	root.Ref = "#/$defs/Preferences"
	text := func(values ...string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "string"}
		for _, v := range values {
			s.Enum = append(s.Enum, v)
		}
		return s
	}
	object := func(of string, field string) *jsonschema.Schema {
		s, _ := root.Definitions[of].Properties.Get(field)
		return s
	}
	named := func(s *jsonschema.Schema, names []string, value func(name string) *jsonschema.Schema) {
		s.AdditionalProperties, s.Properties = jsonschema.FalseSchema, jsonschema.NewProperties()
		for _, name := range names {
			s.Properties.Set(name, value(name))
		}
	}
	list := func(of *jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{Type: "array", Items: of} }
	object("Preferences", "view").Enum = text(tui.Views()...).Enum
	object("ThemePreferences", "background").Enum = text(tui.Backgrounds()...).Enum
	object("Preferences", "owners").AdditionalProperties = text(theme.RoleNames()...)
	named(object("Preferences", "keys"), tui.KeyNames(), func(string) *jsonschema.Schema { return list(text()) })
	named(object("ThemePreferences", "colors"), theme.RoleNames(), func(string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", Pattern: theme.ColorForm}
	})
	named(object("Preferences", "views"), tui.ViewsWithColumns(), func(view string) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "object"}
		named(s, []string{"columns"}, func(string) *jsonschema.Schema { return list(text(tui.ColumnsOf(view)...)) })
		return s
	})
	delete(root.Definitions, "ViewPreferences")
	return root, nil
}

func nameOf(value any) string { return typeName(reflect.TypeOf(value).Elem()) }

// typeName is the name of a type, and of a list of answers that of its items with List.
func typeName(t reflect.Type) string {
	of, items, list := strings.Cut(t.Name(), "[")
	if !list {
		return of
	}
	return strings.TrimSuffix(items[strings.LastIndexByte(items, '.')+1:], "]") + "List"
}

// mapped are types that have a form of their own in JSON.
func mapped(t reflect.Type) *jsonschema.Schema {
	switch {
	case t == reflect.TypeFor[metav1.Time]():
		return &jsonschema.Schema{Type: "string", Format: "date-time"}
	case t == reflect.TypeFor[output.Item]():
		return &jsonschema.Schema{Ref: itemMark}
	case t == reflect.TypeFor[resource.Quantity](),
		t.PkgPath() == module+"/inspect" && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// itemMark stands for the items of a list until it is known what these are.
const itemMark = "#item"

type generator struct {
	reflector *jsonschema.Reflector
	kindOf    map[string]string // by the names of types
	values    map[string][]any  // of enumerations
}

// schema is the schema of a kind.
func (g *generator) schema(kind kinds.Kind) (*jsonschema.Schema, error) {
	root := &jsonschema.Schema{Version: dialect, ID: jsonschema.ID(base + kind.Name + ".json"), Title: kind.Name, Definitions: jsonschema.Definitions{}}
	for _, value := range kind.Types {
		if err := g.define(root, value); err != nil {
			return nil, err
		}
		root.OneOf = append(root.OneOf, &jsonschema.Schema{Ref: "#/$defs/" + nameOf(value)})
	}
	main := root.Definitions[nameOf(kind.Types[0])]
	if kind.Item != nil {
		if err := g.define(root, kind.Item); err != nil {
			return nil, err
		}
		constant(main, "kind", kind.Name)
		constant(main, "apiVersion", output.APIVersion)
		items, _ := main.Properties.Get("items")
		items.Items = &jsonschema.Schema{Ref: "#/$defs/" + nameOf(kind.Item)}
	}
	if kind.Streamed {
		streamed(main, kind.Name)
	}
	if len(root.OneOf) == 1 {
		root.Ref, root.OneOf = root.OneOf[0].Ref, nil
	}
	return root, nil
}

// streamed adds the fields by which an item that is printed on its own is known.
func streamed(item *jsonschema.Schema, kind string) {
	item.Properties.Set("apiVersion", &jsonschema.Schema{Type: "string", Const: output.APIVersion})
	item.Properties.Set("kind", &jsonschema.Schema{Type: "string", Const: kind})
	item.Required = append([]string{"apiVersion", "kind"}, item.Required...)
}

// define adds the definition of a type and of all that it is made of.
func (g *generator) define(root *jsonschema.Schema, value any) error {
	reflected := g.reflector.Reflect(value)
	found := map[string]reflect.Type{}
	collect(reflect.TypeOf(value), found)
	for _, name := range slices.Sorted(maps.Keys(reflected.Definitions)) {
		definition := reflected.Definitions[name]
		root.Definitions[name] = definition
		unwrap(definition)
		if kind := g.kindOf[name]; kind != "" {
			constant(definition, "kind", kind)
			constant(definition, "apiVersion", output.APIVersion)
		}
		if t := found[name]; t != nil {
			if err := g.enumerate(definition, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// unwrap puts the lines of descriptions together.
func unwrap(s *jsonschema.Schema) {
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	if s.Properties == nil {
		return
	}
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		unwrap(p.Value)
	}
}

func constant(s *jsonschema.Schema, property, value string) {
	if p, ok := s.Properties.Get(property); ok {
		p.Const = value
	}
}

// collect gathers the structs that a type is made of, by their names.
func collect(t reflect.Type, found map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collect(t.Elem(), found)
	case reflect.Struct:
		if found[t.Name()] != nil || !strings.HasPrefix(t.PkgPath(), module) {
			return
		}
		found[t.Name()] = t
		for i := range t.NumField() {
			collect(t.Field(i).Type, found)
		}
	}
}

// enumeration is a type of texts whose constants are all values that a field can have, as a tag would name
// it. It is "" for other types.
func enumeration(t reflect.Type) string {
	pkg, known := strings.CutPrefix(t.PkgPath(), module+"/")
	if !known || t.Kind() != reflect.String || t.Name() == "NodeName" {
		return ""
	}
	return path.Base(pkg) + "." + t.Name()
}

// enumerate adds the values that fields can have.
func (g *generator) enumerate(s *jsonschema.Schema, t reflect.Type) error {
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			if err := g.enumerate(s, field.Type); err != nil {
				return err
			}
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		enum := cmp.Or(field.Tag.Get("enum"), enumeration(field.Type))
		if enum == "" || name == "-" {
			continue
		}
		values, err := g.valuesOf(enum)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t.Name(), field.Name, err)
		}
		property, ok := s.Properties.Get(name)
		if !ok {
			return fmt.Errorf("%s has no property %s", t.Name(), name)
		}
		if property.Items != nil {
			property = property.Items
		}
		property.Enum = values
	}
	return nil
}
