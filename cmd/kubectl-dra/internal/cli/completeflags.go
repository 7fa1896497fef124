package cli

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Completion of the values of flags.

// completeProgram is the name under which kubectl asks a plugin called dra to complete.
const completeProgram = "kubectl_complete-dra"

// Arguments returns the arguments of a process. One that is called kubectl_complete-dra, by a link to this program, completes.
func Arguments(process []string) []string {
	if strings.TrimSuffix(filepath.Base(process[0]), ".exe") == completeProgram {
		return append([]string{cobra.ShellCompRequestCmd}, process[1:]...)
	}
	return process[1:]
}

// commonFlags completes the values of flags that every command has.
func (c *completer) commonFlags(root *cobra.Command) {
	completeFlag(root, "namespace", c.namespaces)
	completeFlag(root, "context", c.contexts)
	completeFlag(root, "features", c.features)
	completeFlag(root, "color", fixed("auto", "always", "never"))
}

// fixed completes one of a few words.
func fixed(words ...string) completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(words, nil, prefix)
	}
}

// completeFormats completes -o. What wants an argument is followed by "=" and no blank.
func completeFormats(names []string) completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		var words []string
		for _, name := range names {
			if output.NeedsArgument(name) {
				name += "="
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

// namespaces completes a namespace in which there is something to ask about.
func (c *completer) namespaces(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	resources := []inspect.Resource{inspect.Claims, inspect.Templates}
	if c.reader.offline() {
		resources = append(resources, inspect.Pods)
	}
	snapshot := c.readAllQuietly(cmd.Context(), resources)
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found := map[string]bool{}
	for _, resource := range resources {
		for _, object := range inspect.KindOf(resource).Objects(snapshot.Objects()) {
			found[object.GetNamespace()] = true
		}
	}
	return withPrefix(slices.Sorted(maps.Keys(found)), nil, prefix)
}

// contexts completes a context of the kubeconfig.
func (c *completer) contexts(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	raw, err := c.reader.connection.clientConfig().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return withPrefix(slices.Sorted(maps.Keys(raw.Contexts)), nil, prefix)
}

// features completes the last of several gates, and its value.
func (c *completer) features(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	before := prefix[:strings.LastIndexByte(prefix, ',')+1]
	last := prefix[len(before):]
	var words []string
	for _, gate := range inspect.Gates() {
		if strings.Contains(before, string(gate)+"=") {
			continue
		}
		if !strings.Contains(last, "=") {
			words = append(words, before+string(gate)+"=")
			continue
		}
		words = append(words, before+string(gate)+"=true", before+string(gate)+"=false")
	}
	found, directive := withPrefix(words, nil, prefix)
	if !strings.Contains(last, "=") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return found, directive
}

// drivers completes the name of a driver that publishes devices.
func (c *completer) drivers(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.fromSlices(cmd.Context(), prefix, func(id inspect.PoolID) string { return id.Driver })
}

// pools completes the name of a pool.
func (c *completer) pools(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.fromSlices(cmd.Context(), prefix, func(id inspect.PoolID) string { return id.Pool })
}

func (c *completer) fromSlices(ctx context.Context, prefix string, name func(inspect.PoolID) string) ([]string, cobra.ShellCompDirective) {
	snapshot, _ := c.readQuietly(ctx, []inspect.Resource{inspect.Slices})
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found := map[string]bool{}
	for _, slice := range snapshot.Slices() {
		found[name(inspect.PoolID{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name})] = true
	}
	return withPrefix(slices.Sorted(maps.Keys(found)), nil, prefix)
}

// sortFields completes the fields by which a view of get can be sorted: those of the first item that are no lists and no
// objects.
func (c *completer) sortFields(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	v, err := viewByName(plainType(args[0]))
	if err != nil || v.list == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	snapshot := c.readAllQuietly(cmd.Context(), slices.Concat(v.needs, v.uses))
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found := map[string]bool{}
	for _, item := range v.list(snapshot, "").Items {
		for _, field := range scalarFields(item) {
			found["."+field] = true
		}
	}
	dot := "."
	if prefix != "" && prefix[0] != '.' {
		dot = ""
	}
	var words []string
	for _, word := range slices.Sorted(maps.Keys(found)) {
		words = append(words, dot+word[1:])
	}
	return withPrefix(words, nil, prefix)
}

// scalarFields are the fields of the JSON form of an item that are neither lists nor objects.
func scalarFields(item output.Item) []string {
	raw, err := json.Marshal(item)
	if err != nil {
		return nil
	}
	tree := map[string]any{}
	if json.Unmarshal(raw, &tree) != nil {
		return nil
	}
	var out []string
	for field, value := range tree {
		switch value.(type) {
		case map[string]any, []any:
		default:
			out = append(out, field)
		}
	}
	return out
}
