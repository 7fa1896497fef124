package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// folders are those of the packages whose constants are the values of fields.
var folders = map[string]string{
	"explain": "explain", "allocator": "allocator", "filters": "scheduler/filters", "bench": "allocator/selector/bench", "extended": "scheduler/extended",
	"inspect": "inspect", "flowcontrol": "inspect/flowcontrol", "checkup": "internal/checkup",
}

// valuesOf are the values that a tag names: the constants of a type, as "explain.Verdict", or a list, as
// "Made,Gone".
func (g *generator) valuesOf(tag string) ([]any, error) {
	if known := g.values[tag]; known != nil {
		return known, nil
	}
	var values []any
	if tag == "checkup.Code" { // which is a table
		for _, rule := range checkup.Rules() {
			values = append(values, string(rule.Code))
		}
	} else if pkg, name, ok := strings.Cut(tag, "."); ok {
		found, err := constants(folders[pkg], name)
		if err != nil {
			return nil, err
		}
		for _, value := range found {
			values = append(values, value)
		}
	} else {
		for value := range strings.SplitSeq(tag, ",") {
			values = append(values, value)
		}
	}
	g.values[tag] = values
	return values, nil
}

// constants are the values of the constants of a type of texts, sorted.
func constants(folder, name string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				values, err := valuesIn(spec.(*ast.ValueSpec), name) //nolint:forcetypeassert // constants have no other specs
				if err != nil {
					return nil, fmt.Errorf("%s: %w", path, err)
				}
				out = append(out, values...)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no constants of type %s", folder, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// valuesIn are the texts of a declaration, if it is one of the type.
func valuesIn(spec *ast.ValueSpec, name string) ([]string, error) {
	if kind, ok := spec.Type.(*ast.Ident); !ok || kind.Name != name {
		return nil, nil
	}
	var out []string
	for _, value := range spec.Values {
		literal, ok := value.(*ast.BasicLit)
		if !ok {
			return nil, fmt.Errorf("the value of %s is no text", spec.Names[0].Name)
		}
		text, err := strconv.Unquote(literal.Value)
		if err != nil {
			return nil, err
		}
		if text != "" { // a field is left out then
			out = append(out, text)
		}
	}
	return out, nil
}
