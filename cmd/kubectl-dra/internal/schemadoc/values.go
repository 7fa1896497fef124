package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// folders are those of the packages whose constants are the values of fields.
var folders = map[string]string{
	"explain": "explain", "allocator": "allocator", "filters": "scheduler/filters", "bench": "allocator/selector/bench", "extended": "scheduler/extended",
	"inspect": "inspect", "flowcontrol": "inspect/flowcontrol", "checkup": "internal/checkup", "kueue": "scheduler/kueue",
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
		values = output.Optional(found, func(value string) any { return value })
	} else {
		values = output.Optional(strings.Split(tag, ","), func(value string) any { return value })
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
	declared := regexp.MustCompile(`(?m)^\s*(?:const )?\w+ +` + name + ` += "(.+?)"`) // a field that is "" is left out
	var out []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path) //nolint:gosec // of the module
		if err != nil {
			return nil, err
		}
		for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
			out = append(out, found[1])
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no constants of type %s", folder, name)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
