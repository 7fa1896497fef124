package cli

import (
	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// completeViews completes VIEW NAME…
func completeViews(c *completer, cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		var names []string
		for _, v := range views {
			names = append(names, v.names[0])
		}
		return withPrefix(names, nil, prefix)
	}
	v, err := viewByName(args[0])
	switch {
	case err != nil || v.names[0] == "extended":
		return nil, cobra.ShellCompDirectiveNoFileComp
	case v.names[0] == "devices":
		return c.devicePaths(cmd, args[1:], prefix)
	case v.names[0] == "pools":
		return c.poolPaths(cmd, args[1:], prefix)
	case v.names[0] == usageView:
		return c.namespaces(cmd, args, prefix)
	case v.names[0] == "drivers":
		return c.drivers(cmd, args, prefix)
	}
	resource := inspect.Nodes
	if len(v.needs) > 0 {
		resource = v.needs[0]
	}
	if v.inAllNamespaces {
		return withPrefix(c.namesIn(cmd.Context(), resource, c.reader.connection.namespaceFlag()), args[1:], prefix)
	}
	return withPrefix(c.names(cmd.Context(), resource), args[1:], prefix)
}
