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

// completionPatience is how long a completion may take.
const completionPatience = 3 * time.Second

// completion is what cobra wants of a function that completes.
type completion = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective)

// completeTyped completes TYPE NAME…
func (s *source) completeTyped(kinds []kind) completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return withPrefix(typeNames(kinds), nil, prefix)
		}
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.called(args[0]) })
		if i < 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return withPrefix(s.namesOf(cmd.Context(), kinds[i]), args[1:], prefix)
	}
}

// completeNodes completes the name of a node.
func (s *source) completeNodes(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return withPrefix(s.namesOf(cmd.Context(), kindNode), nil, prefix)
}

// completeViews completes VIEW NAME… of get.
func (s *source) completeViews(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if len(args) == 0 {
		for _, v := range views {
			names = append(names, v.names[0])
		}
		return withPrefix(names, nil, prefix)
	}
	v, err := viewCalled(args[0])
	if err != nil || v.list == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	snapshot, namespace := s.readQuietly(cmd.Context(), slices.Concat(v.needs, v.uses))
	if snapshot == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if !v.namespaced {
		namespace = ""
	}
	if v.widely {
		namespace = s.config.namespace()
	}
	for _, item := range v.list(snapshot, namespace).Items {
		names = append(names, item.Meta().Name)
	}
	return withPrefix(names, args[1:], prefix)
}

// namesOf lists the objects of a kind in the namespace of the command.
func (s *source) namesOf(ctx context.Context, k kind) []string {
	snapshot, namespace := s.readQuietly(ctx, []inspect.Resource{k.resource})
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

// readQuietly reads the snapshot that the flags speak of, nil when that fails, and the namespace.
func (s *source) readQuietly(ctx context.Context, resources []inspect.Resource) (*inspect.Snapshot, string) {
	if slices.Contains(s.from, "-") {
		return nil, "" // the shell's input is not ours
	}
	s.streams.ErrOut = io.Discard
	if configureLog(io.Discard, 0) != nil || s.validate() != nil {
		return nil, ""
	}
	namespace, err := s.namespace()
	if err != nil {
		return nil, ""
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	snapshot, err := s.read(ctx, namespace, resources)
	if err != nil {
		return nil, ""
	}
	return snapshot, namespace
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
