package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
)

// Completion of arguments in a shell. It reads less than the command itself would (names, and not objects), says nothing when that
// fails, and gives up before the user loses patience.

const (
	// completionTimeout is how long a completion may take.
	completionTimeout = 1500 * time.Millisecond
	// hintTimeout is how long reading may take that only makes an error message more helpful.
	hintTimeout = 3 * time.Second
)

// completer completes what is typed in a shell, from what the flags say to read.
type completer struct {
	streams *streams
	reader  *reader
	timeout time.Duration
	// noPrompt keeps credential plugins from the keyboard, which is the shell's.
	noPrompt bool
}

// newCompleter returns what completes for a shell.
func newCompleter(streams *streams, reader *reader) *completer {
	return &completer{streams: streams, reader: reader, timeout: completionTimeout, noPrompt: true}
}

// each completes the names of objects of a resource. As an argument, those that are given already are left out.
func (c *completer) each(resource inspect.Resource) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return withPrefix(c.names(cmd.Context(), resource), args, prefix)
	}
}

// nodes completes the name of a node.
func (c *completer) nodes(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.each(inspect.Nodes)(cmd, args, prefix)
}

// typed completes TYPE NAME… and TYPE/NAME…, and words that stand in the place of the type.
func (c *completer) typed(kinds []kind, words ...string) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if word, _, ok := strings.Cut(prefix, "/"); ok && (len(args) == 0 || strings.Contains(args[0], "/")) {
			return c.typedName(cmd.Context(), kinds, word, args, prefix)
		}
		switch {
		case len(args) == 0:
			return withPrefix(append(slices.Clone(words), typeNames(kinds)...), nil, prefix)
		case strings.Contains(args[0], "/") || slices.Contains(words, args[0]):
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withPrefix(c.namesCalled(cmd.Context(), kinds, args[0]), args[1:], prefix)
	}
}

// typedName completes the NAME of TYPE/NAME.
func (c *completer) typedName(ctx context.Context, kinds []kind, word string, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names := c.namesCalled(ctx, kinds, word)
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return withPrefix(names, given, prefix)
}

// namesCalled lists the objects of the kind that a word names, in the namespace of the command.
func (c *completer) namesCalled(ctx context.Context, kinds []kind, word string) []string {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.hasName(word) })
	switch {
	case i < 0:
		return nil
	case kinds[i].owner != nil:
		return c.ownersOf(ctx, *kinds[i].owner)
	}
	return c.names(ctx, kinds[i].resource)
}

// ownersOf lists the objects of a kind because of which there are pods.
func (c *completer) ownersOf(ctx context.Context, k inspect.OwnerKind) []string {
	if k.IsPodGroup() && !c.reader.offline() {
		return c.names(ctx, inspect.PodGroups)
	}
	if c.reader.offline() {
		c.reader.keepWorkloads = true
		snapshot, namespace := c.readQuietly(ctx, []inspect.Resource{inspect.Pods, inspect.PodGroups})
		if snapshot == nil {
			return nil
		}
		of := &owners{reader: c.reader}
		return of.names(snapshot, k, namespace)
	}
	namespace, err := c.reader.namespace()
	if err != nil {
		return nil
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	finder := c.finder()
	if finder == nil {
		return nil
	}
	names, err := finder.Names(ctx, k, namespace)
	if err != nil {
		return nil
	}
	return names
}

// names lists the objects of a resource in the namespace of the command, or without a namespace if they have none.
func (c *completer) names(ctx context.Context, resource inspect.Resource) []string {
	if !inspect.KindOf(resource).Namespaced {
		return c.namesIn(ctx, resource, "")
	}
	namespace, err := c.reader.namespace()
	if err != nil {
		return nil
	}
	return c.namesIn(ctx, resource, namespace)
}

// namesIn lists the objects of a resource in a namespace, or in all (""). Of a server only names are asked for.
func (c *completer) namesIn(ctx context.Context, resource inspect.Resource, namespace string) []string {
	var names []string
	if !c.reader.offline() {
		for _, row := range c.rows(ctx, resource, namespace) {
			names = append(names, row.Name)
		}
		return names
	}
	snapshot := c.readOf(ctx, namespace, []inspect.Resource{resource})
	if snapshot == nil {
		return nil
	}
	if resource == inspect.Nodes { // which slices tell of, too
		for _, node := range snapshot.Nodes() {
			names = append(names, node.Name)
		}
		return names
	}
	for _, o := range inspect.KindOf(resource).Objects(snapshot.Objects()) {
		if namespace == "" || o.GetNamespace() == namespace {
			names = append(names, o.GetName())
		}
	}
	return names
}

// rows lists a resource of a server.
func (c *completer) rows(ctx context.Context, resource inspect.Resource, namespace string) []live.Row {
	ctx, cancel := c.within(ctx)
	defer cancel()
	finder := c.finder()
	if finder == nil {
		return nil
	}
	rows, err := finder.Rows(ctx, resource, namespace)
	if err != nil {
		return nil
	}
	return rows
}

// finder asks the server of the flags. It is nil if they do not say which that is.
func (c *completer) finder() *live.Finder {
	of := &owners{reader: c.reader}
	if !c.beQuiet() || of.connect() != nil {
		return nil
	}
	return of.finder
}

// within bounds a completion: by the clock where a server may not answer, and otherwise by processor time, so that completion also works on
// a busy machine.
func (c *completer) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.reader.offline() {
		return timebudget.WithLimit(ctx, c.timeout)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// readQuietly returns the snapshot that the flags ask for, and the namespace. The snapshot is nil if it cannot be read.
func (c *completer) readQuietly(ctx context.Context, resources []inspect.Resource) (*inspect.Snapshot, string) {
	namespace, err := c.reader.namespace()
	if err != nil {
		return nil, ""
	}
	return c.readOf(ctx, namespace, resources), namespace
}

// beQuiet keeps everything off the terminal, and reports whether there is something to read.
func (c *completer) beQuiet() bool {
	if slices.Contains(c.reader.from, "-") {
		return false // the shell's input is not ours
	}
	c.reader.from = once(c.reader.from)
	c.streams.ErrOut = io.Discard
	c.reader.connection.keyboardTaken = c.reader.connection.keyboardTaken || c.noPrompt
	return configureLog(io.Discard, 0) == nil && c.reader.validate() == nil
}

// once returns each path once: cobra reads flags twice when it completes, so that those that may be repeated have everything twice.
func once(paths []string) []string {
	var out []string
	for _, path := range paths {
		if !slices.Contains(out, path) {
			out = append(out, path)
		}
	}
	return out
}

func (c *completer) readOf(ctx context.Context, namespace string, resources []inspect.Resource) *inspect.Snapshot {
	if !c.beQuiet() {
		return nil
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	snapshot, err := c.reader.read(ctx, namespace, resources)
	if err != nil {
		return nil
	}
	return snapshot
}
