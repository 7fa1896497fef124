package cli

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// Completion of views, of their items and of the fields that these have.

// views completes VIEW NAME… of get.
func (c *completer) views(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		var names []string
		for _, v := range views {
			names = append(names, v.names[0])
		}
		return withPrefix(names, nil, prefix)
	}
	v, err := viewByName(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if c.reader.offline() {
		return withPrefix(c.itemsOf(cmd.Context(), v), args[1:], prefix)
	}
	switch v.needs1() {
	case inspect.Slices:
		if v.names[0] == "pools" {
			return c.poolPaths(cmd, args[1:], prefix)
		}
		return c.devicePaths(cmd, args[1:], prefix)
	case inspect.StorageCapacities:
		return withPrefix(c.namesIn(cmd.Context(), inspect.StorageCapacities, c.reader.connection.namespaceFlag()), args[1:], prefix)
	}
	switch v.names[0] {
	case "extended":
		return withPrefix(c.extendedResources(cmd.Context(), v), args[1:], prefix)
	case usageView:
		return c.namespaces(cmd, args, prefix)
	case "nodes":
		return withPrefix(c.names(cmd.Context(), inspect.Nodes), args[1:], prefix)
	}
	return withPrefix(c.names(cmd.Context(), v.needs1()), args[1:], prefix)
}

// needs1 is the resource that the items of the view are made of.
func (v view) needs1() inspect.Resource {
	if len(v.needs) == 0 {
		return inspect.Nodes
	}
	return v.needs[0]
}

// itemsOf are the names of the items that a view lists of files.
func (c *completer) itemsOf(ctx context.Context, v view) []string {
	snapshot, namespace := c.readQuietly(ctx, slices.Concat(v.needs, v.uses))
	if snapshot == nil || v.list == nil {
		return nil
	}
	if !v.namespaced {
		namespace = ""
	}
	if v.inAllNamespaces {
		namespace = c.reader.connection.namespaceFlag()
	}
	var names []string
	for _, item := range v.list(snapshot, namespace).Items {
		names = append(names, item.Meta().Spoken())
	}
	return names
}

// extendedResources are those that some nodes offer, and those of device classes.
func (c *completer) extendedResources(ctx context.Context, v view) []string {
	var objects inspect.Objects
	spread := func(rows []live.Row) []string { return sample(rows, deviceFilter{}, sampled) }
	if nodes := c.readSome(ctx, inspect.Nodes, spread); nodes != nil {
		objects.Nodes = nodes.Objects().Nodes
	}
	if classes := c.readSome(ctx, inspect.Classes, spread); classes != nil {
		objects.Classes = classes.Objects().Classes
	}
	var names []string
	for _, item := range v.list(c.snapshotOf(objects), "").Items {
		names = append(names, item.Meta().Spoken())
	}
	return names
}

// sortFields completes the fields by which a view of get can be sorted: those that are no lists and no objects.
func (c *completer) sortFields(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	dot := "."
	if prefix != "" && prefix[0] != '.' {
		dot = ""
	}
	var words []string
	for _, field := range fieldsOf(args, true) {
		words = append(words, dot+field)
	}
	return withPrefix(words, nil, prefix)
}

// formatsOf completes -o of get: formats, and the columns of custom-columns.
func (c *completer) formatsOf(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	const custom = "custom-columns="
	if !strings.HasPrefix(prefix, custom) {
		return completeFormats(output.TableFormats)(cmd, args, prefix)
	}
	before, _ := splitLast(prefix)
	if before == "" {
		before = custom
	}
	var words []string
	for _, field := range fieldsOf(args, false) {
		column := strings.ToUpper(field) + ":." + field
		if !strings.Contains(before, column+",") {
			words = append(words, before+column)
		}
	}
	found, directive := withPrefix(words, nil, prefix)
	return found, directive | cobra.ShellCompDirectiveNoSpace // more may follow after a comma
}

// completeFormats completes -o. What wants an argument is followed by "=" and no blank.
func completeFormats(names []string) completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, name := range names {
			if output.NeedsArgument(name) {
				name += "="
			}
			if strings.HasSuffix(name, "-file=") && strings.HasPrefix(prefix, name) {
				return nil, cobra.ShellCompDirectiveDefault
			}
			words = append(words, name)
		}
		found, directive := withPrefix(words, nil, prefix)
		if len(found) > 0 && !slices.ContainsFunc(found, func(word string) bool { return !strings.HasSuffix(word, "=") }) {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return found, directive
	}
}

// fieldsOf are the fields of the JSON form of the items of the view that is named by the arguments, sorted. They are those of its
// type, which the demo cluster has an item of, so that no cluster is asked. scalar leaves out lists and objects.
func fieldsOf(args []string, scalar bool) []string {
	if len(args) == 0 {
		return nil
	}
	v, err := viewByName(plainType(args[0]))
	if err != nil || v.list == nil {
		return nil
	}
	snapshot, err := (&reader{streams: &streams{}}).readDemo()
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	if items := v.list(snapshot, "").Items; len(items) > 0 { // which are all of one type
		addFields(found, reflect.TypeOf(items[0]), scalar)
	}
	return slices.Sorted(maps.Keys(found))
}

// addFields adds the names under which encoding/json writes the fields of a type.
func addFields(to map[string]bool, t reflect.Type, scalar bool) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && name == "":
			addFields(to, field.Type, scalar)
		case !field.IsExported() || name == "-" || name == "":
		case scalar && !isScalar(field.Type):
		default:
			to[name] = true
		}
	}
}

// isScalar reports whether values of a type are neither lists nor objects in JSON.
func isScalar(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Array, reflect.Interface:
		return false
	case reflect.Struct:
		return t.PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && t.Name() == "Time" || t.PkgPath() == "time"
	}
	return true
}
