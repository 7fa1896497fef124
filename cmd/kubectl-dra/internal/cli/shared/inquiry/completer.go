package inquiry

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
)

// Completion of arguments in a shell. It reads less than the command itself would (names, and not objects),
// says nothing when that fails, and gives up before the user loses patience.

const (
	// completionTimeout is how long a completion may take.
	completionTimeout = 1500 * time.Millisecond
	// hintTimeout is how long reading may take that only makes an error message more helpful.
	hintTimeout = 3 * time.Second
)

// Completer completes what is typed in a shell, from what the flags say to read.
type Completer struct {
	streams *console.Streams
	Reader  *sources.Reader
	timeout time.Duration
	// noPrompt keeps credential plugins from the keyboard, which is the shell's.
	noPrompt bool
}

// NewCompleter returns what completes for a shell.
func NewCompleter(streams *console.Streams, reader *sources.Reader) *Completer {
	return &Completer{streams: streams, Reader: reader, timeout: completionTimeout, noPrompt: true}
}

// Each completes the names of objects of a resource. As an argument, those that are given already are left
// out.
func (c *Completer) Each(resource inspect.Resource) console.Completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return console.WithPrefix(c.Names(cmd.Context(), resource), args, prefix)
	}
}

// Nodes completes the name of a node.
func (c *Completer) Nodes(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.Each(inspect.Nodes)(cmd, args, prefix)
}

// Typed completes TYPE NAME… and TYPE/NAME…, and words that stand in the place of the type.
func (c *Completer) Typed(kinds []Kind, words ...string) console.Completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if word, _, ok := strings.Cut(prefix, "/"); ok && (len(args) == 0 || strings.Contains(args[0], "/")) {
			return c.typedName(cmd.Context(), kinds, word, args, prefix)
		}
		switch {
		case len(args) == 0:
			return console.WithPrefix(append(slices.Clone(words), typeNames(kinds)...), nil, prefix)
		case strings.Contains(args[0], "/") || slices.Contains(words, args[0]):
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return console.WithPrefix(c.namesCalled(cmd.Context(), kinds, args[0]), args[1:], prefix)
	}
}

// typedName completes the NAME of TYPE/NAME.
func (c *Completer) typedName(ctx context.Context, kinds []Kind, word string, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	names := c.namesCalled(ctx, kinds, word)
	for i := range names {
		names[i] = word + "/" + names[i]
	}
	return console.WithPrefix(names, given, prefix)
}

// namesCalled lists the objects of the kind that a word names, in the namespace of the command.
func (c *Completer) namesCalled(ctx context.Context, kinds []Kind, word string) []string {
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.HasName(word) })
	switch {
	case i < 0:
		return nil
	case kinds[i].Owner != nil:
		return c.ownersOf(ctx, *kinds[i].Owner)
	}
	return c.Names(ctx, kinds[i].Resource)
}

// ownersOf lists the objects of a kind because of which there are pods.
func (c *Completer) ownersOf(ctx context.Context, k inspect.OwnerKind) []string {
	if k.IsPodGroup() && !c.Reader.Offline() {
		return c.Names(ctx, inspect.PodGroups)
	}
	if c.Reader.Offline() {
		c.Reader.KeepWorkloads = true
		snapshot, namespace := c.readQuietly(ctx, []inspect.Resource{inspect.Pods, inspect.PodGroups})
		if snapshot == nil {
			return nil
		}
		of := &Owners{Reader: c.Reader}
		return of.names(snapshot, k, namespace)
	}
	namespace, err := c.Reader.Namespace()
	if err != nil {
		return nil
	}
	return ofServer(ctx, c, func(ctx context.Context, server *live.Finder) ([]string, error) {
		return server.Names(ctx, k, namespace)
	})
}

// Names lists the objects of a resource in the namespace of the command, or without a namespace if they have
// none.
func (c *Completer) Names(ctx context.Context, resource inspect.Resource) []string {
	if !inspect.KindOf(resource).Namespaced {
		return c.NamesIn(ctx, resource, "")
	}
	namespace, err := c.Reader.Namespace()
	if err != nil {
		return nil
	}
	return c.NamesIn(ctx, resource, namespace)
}

// NamesIn lists the objects of a resource in a namespace, or in all (""). Of a server only names are asked
// for.
func (c *Completer) NamesIn(ctx context.Context, resource inspect.Resource, namespace string) []string {
	if !c.Reader.Offline() {
		return words.Each(c.rows(ctx, resource, namespace), func(row live.Row) string { return row.Name })
	}
	snapshot := c.readOf(ctx, namespace, []inspect.Resource{resource})
	if snapshot == nil {
		return nil
	}
	if resource == inspect.Nodes { // which slices tell of, too
		return words.Each(snapshot.Nodes(), func(node *corev1.Node) string { return node.Name })
	}
	var names []string
	for _, o := range inspect.KindOf(resource).Objects(snapshot.Objects()) {
		if namespace == "" || o.GetNamespace() == namespace {
			names = append(names, o.GetName())
		}
	}
	return names
}

// rows lists a resource of a server.
func (c *Completer) rows(ctx context.Context, resource inspect.Resource, namespace string) []live.Row {
	return ofServer(ctx, c, func(ctx context.Context, server *live.Finder) ([]live.Row, error) {
		return server.Rows(ctx, resource, namespace)
	})
}

// ofServer is what a server answers in time, or nothing.
func ofServer[T any](ctx context.Context, c *Completer, ask func(context.Context, *live.Finder) ([]T, error)) []T {
	ctx, cancel := c.within(ctx)
	defer cancel()
	finder := c.finder()
	if finder == nil {
		return nil
	}
	out, err := ask(ctx, finder)
	if err != nil {
		return nil
	}
	return out
}

// finder asks the server of the flags. It is nil if they do not say which that is.
func (c *Completer) finder() *live.Finder {
	of := &Owners{Reader: c.Reader}
	if !c.beQuiet() || of.Connect() != nil {
		return nil
	}
	return of.Finder
}

// within bounds a completion: by the clock where a server may not answer, and otherwise by processor time, so
// that completion also works on a busy machine.
func (c *Completer) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Reader.Offline() {
		return timebudget.WithLimit(ctx, c.timeout)
	}
	return context.WithTimeout(ctx, c.timeout)
}

// readQuietly returns the snapshot that the flags ask for, and the namespace. The snapshot is nil if it
// cannot be read.
func (c *Completer) readQuietly(ctx context.Context, resources []inspect.Resource) (*inspect.Snapshot, string) {
	namespace, err := c.Reader.Namespace()
	if err != nil {
		return nil, ""
	}
	return c.readOf(ctx, namespace, resources), namespace
}

// beQuiet keeps everything off the terminal, and reports whether there is something to read.
func (c *Completer) beQuiet() bool {
	if slices.Contains(c.Reader.From, "-") {
		return false // the shell's input is not ours
	}
	c.Reader.From = words.AppendNew(nil, c.Reader.From...) // cobra reads flags twice when it completes
	c.streams.ErrOut = io.Discard
	c.Reader.Connection.KeyboardTaken = c.Reader.Connection.KeyboardTaken || c.noPrompt
	return console.ConfigureLog(io.Discard, 0) == nil && c.Reader.Validate() == nil
}

func (c *Completer) readOf(ctx context.Context, namespace string, resources []inspect.Resource) *inspect.Snapshot {
	if !c.beQuiet() {
		return nil
	}
	ctx, cancel := c.within(ctx)
	defer cancel()
	snapshot, err := c.Reader.Read(ctx, namespace, resources)
	if err != nil {
		return nil
	}
	return snapshot
}
