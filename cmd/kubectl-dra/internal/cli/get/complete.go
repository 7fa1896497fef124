package get

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// completeViews completes VIEW NAME…
func completeViews(c *inquiry.Completer) console.Completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return console.WithPrefix(viewNames(), nil, prefix)
		}
		v, err := viewByName(args[0])
		switch {
		case err != nil || v.names[0] == "extended":
			return nil, cobra.ShellCompDirectiveNoFileComp
		case v.names[0] == "devices":
			return c.DevicePaths(cmd, args[1:], prefix)
		case v.names[0] == "pools":
			return c.PoolPaths(cmd, args[1:], prefix)
		case v.names[0] == usageView:
			return c.Namespaces(cmd, args, prefix)
		case v.names[0] == "drivers":
			return c.Drivers(cmd, args, prefix)
		}
		resource := inspect.Nodes
		if len(v.needs) > 0 {
			resource = v.needs[0]
		}
		if v.inAllNamespaces {
			return console.WithPrefix(c.NamesIn(cmd.Context(), resource, c.Reader.Connection.NamespaceFlag()), args[1:], prefix)
		}
		return console.WithPrefix(c.Names(cmd.Context(), resource), args[1:], prefix)
	}
}
