package cli

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Completion of the values of flags that every command has.

// commonFlags completes the values of flags that every command has.
func (c *completer) commonFlags(root *cobra.Command) {
	completeFlag(root, "namespace", "namespaces; where they may not be listed, those of the kubeconfig", c.namespaces)
	completeFlag(root, "context", "contexts of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.Contexts)) }))
	completeFlag(root, "cluster", "clusters of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.Clusters)) }))
	completeFlag(root, "user", "users of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.AuthInfos)) }))
	completeFlag(root, "features", "feature gates, then `true` and `false`; several after commas", c.features)
	completeFlag(root, "color", "`auto`, `always`, `never`", fixed("auto", "always", "never"))
	completeFlag(root, "max-input", "a few sizes", fixed("512Mi", "1Gi", "2Gi", "4Gi"))
	completeAsker(root)
	completeFiles(root, "from", "kubeconfig", "certificate-authority", "client-certificate", "client-key")
}

// completeAsker completes who asks the API server: --as and --as-group.
func completeAsker(cmd *cobra.Command) {
	completeFlag(cmd, "as", "users of Kubernetes' own", fixed("system:admin", "system:anonymous", "system:apiserver",
		"system:kube-controller-manager", "system:kube-proxy", "system:kube-scheduler"))
	completeFlag(cmd, "as-group", "groups of Kubernetes' own", fixed("system:authenticated", "system:masters", "system:nodes",
		"system:serviceaccounts", "system:unauthenticated"))
}

// namespaces completes a namespace.
func (c *completer) namespaces(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if !c.reader.offline() {
		names := c.namesIn(cmd.Context(), inspect.Namespaces, "")
		if len(names) == 0 {
			return c.configured(contextNamespaces)(cmd, nil, prefix)
		}
		return withPrefix(names, nil, prefix)
	}
	resources := []inspect.Resource{inspect.Claims, inspect.Templates, inspect.Pods, inspect.VolumeClaims}
	snapshot := c.readOf(cmd.Context(), "", resources)
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

func contextNamespaces(config *api.Config) []string {
	var names []string
	for _, context := range config.Contexts {
		names = append(names, context.Namespace)
	}
	return names
}

// configured completes names of the kubeconfig.
func (c *completer) configured(names func(*api.Config) []string) completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		raw, err := c.reader.connection.clientConfig().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := names(&raw)
		slices.Sort(found)
		return withPrefix(found, nil, prefix)
	}
}

// splitLast returns what stands before the last of several values after commas, and that value.
func splitLast(prefix string) (before, last string) {
	at := strings.LastIndexByte(prefix, ',') + 1
	return prefix[:at], prefix[at:]
}

// several completes the last of several words after commas, of those that are not there yet.
func several(words []string) completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		before, _ := splitLast(prefix)
		var out []string
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				out = append(out, before+word)
			}
		}
		return withPrefix(out, nil, prefix)
	}
}

// features completes the last of several gates, and its value.
func (c *completer) features(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	before, last := splitLast(prefix)
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
