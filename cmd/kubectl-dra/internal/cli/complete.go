package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Completion of arguments in a shell. It reads what the command itself would read, says nothing when that
// fails, and gives up before the user loses patience.

// completionTimeout is how long a completion may take.
const completionTimeout = 3 * time.Second

// completion is what cobra wants of a function that completes.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// completer completes what is typed in a shell, from what the flags say to read.
type completer struct {
	streams *streams
	reader  *reader
}

// typed completes TYPE NAME… and TYPE/NAME…
func (c *completer) typed(kinds []kind) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if word, _, ok := strings.Cut(prefix, "/"); ok && (len(args) == 0 || strings.Contains(args[0], "/")) {
			return c.typedName(cmd.Context(), kinds, word, args, prefix)
		}
		if len(args) == 0 {
			return withPrefix(typeNames(kinds), nil, prefix)
		}
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.hasName(args[0]) })
		if i < 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withPrefix(c.namesOf(cmd.Context(), kinds[i]), args[1:], prefix)
	}
}

// typedName completes the NAME of TYPE/NAME.
func (c *completer) typedName(ctx context.Context, kinds []kind, word string, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.hasName(word) })
	if i < 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := c.namesOf(ctx, kinds[i])
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return withPrefix(names, given, prefix)
}

// nodes completes the name of a node.
func (c *completer) nodes(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return withPrefix(c.namesOf(cmd.Context(), kindNode), nil, prefix)
}

// views completes VIEW NAME… of get.
func (c *completer) views(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, v := range views {
			names = append(names, v.names[0])
		}
		return withPrefix(names, nil, prefix)
	}
	v, err := viewByName(args[0])
	if err != nil || v.list == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	snapshot, namespace := c.readQuietly(cmd.Context(), slices.Concat(v.needs, v.uses))
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if !v.namespaced {
		namespace = ""
	}
	if v.inAllNamespaces {
		namespace = c.reader.connection.namespaceFlag()
	}
	for _, item := range v.list(snapshot, namespace).Items {
		names = append(names, item.Meta().Spoken())
	}
	return withPrefix(slices.Compact(names), args[1:], prefix)
}

// cel completes TYPE NAME… of cel. An expression cannot be completed by a shell.
func (c *completer) cel(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && kindClass.hasName(args[0]) {
		names, directive := c.classes(cmd, nil, prefix)
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(args[1:], name) }), directive
	}
	return c.typed(celKinds)(cmd, args, prefix)
}

// classes completes the name of a device class.
func (c *completer) classes(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	snapshot, _ := c.readQuietly(cmd.Context(), []inspect.Resource{inspect.Classes})
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, class := range snapshot.Objects().Classes {
		names = append(names, class.Name)
	}
	return withPrefix(names, nil, prefix)
}

// namesOf lists the objects of a kind in the namespace of the command.
func (c *completer) namesOf(ctx context.Context, k kind) []string {
	if k.owner != nil {
		return c.ownersOf(ctx, *k.owner)
	}
	snapshot, namespace := c.readQuietly(ctx, []inspect.Resource{k.resource})
	if snapshot == nil {
		return nil
	}
	if k.resource == inspect.Nodes {
		namespace = ""
	}
	var names []string
	for _, o := range objectNames(snapshot, k) {
		if o.Namespace == namespace {
			names = append(names, o.Name)
		}
	}
	return names
}

// ownersOf lists the objects of a kind because of which there are pods. Of a server only their names are asked for.
func (c *completer) ownersOf(ctx context.Context, k inspect.OwnerKind) []string {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	of := &owners{reader: c.reader}
	if k.IsPodGroup() || c.reader.offline() {
		c.reader.keepWorkloads = true
		snapshot, namespace := c.readQuietly(ctx, []inspect.Resource{inspect.Pods, inspect.PodGroups})
		if snapshot == nil {
			return nil
		}
		return of.names(snapshot, k, namespace)
	}
	namespace, err := c.reader.namespace()
	if err != nil || !c.beQuiet() || of.connect() != nil {
		return nil
	}
	names, err := of.finder.Names(ctx, k, namespace)
	if err != nil {
		return nil
	}
	return names
}

// readQuietly returns the snapshot that the flags ask for, and the namespace. The snapshot is nil if it cannot be read.
func (c *completer) readQuietly(ctx context.Context, resources []inspect.Resource) (*inspect.Snapshot, string) {
	if !c.beQuiet() {
		return nil, ""
	}
	namespace, err := c.reader.namespace()
	if err != nil {
		return nil, ""
	}
	return c.readOf(ctx, namespace, resources), namespace
}

// readAllQuietly reads all namespaces.
func (c *completer) readAllQuietly(ctx context.Context, resources []inspect.Resource) *inspect.Snapshot {
	if !c.beQuiet() {
		return nil
	}
	return c.readOf(ctx, "", resources)
}

// beQuiet keeps everything off the terminal, and reports whether there is something to read.
func (c *completer) beQuiet() bool {
	if slices.Contains(c.reader.from, "-") {
		return false // the shell's input is not ours
	}
	c.streams.ErrOut = io.Discard
	return configureLog(io.Discard, 0) == nil && validate(c.reader, c.streams) == nil
}

func (c *completer) readOf(ctx context.Context, namespace string, resources []inspect.Resource) *inspect.Snapshot {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	snapshot, err := c.reader.read(ctx, namespace, resources)
	if err != nil {
		return nil
	}
	return snapshot
}

// withPrefix returns the names that begin with the prefix and are not given yet. Names that could upset a
// terminal are left out.
func withPrefix(names, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var out []string
	for _, name := range names {
		if strings.HasPrefix(name, prefix) && !slices.Contains(given, name) && inspect.Sanitize(name) == name {
			out = append(out, name)
		}
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFlag completes the values of a flag of the command.
func completeFlag(cmd *cobra.Command, flag string, complete completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the command has no such flag, which every run would tell
	}
}
