package inquiry

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Completion of the values of flags that every command has.

// CommonFlags completes the values of flags that every command has.
func (c *Completer) CommonFlags(root *cobra.Command) {
	console.CompleteFlag(root, "namespace", "namespaces; where they may not be listed, those of the kubeconfig", c.Namespaces)
	console.CompleteFlag(root, "context", "contexts of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.Contexts)) }))
	console.CompleteFlag(root, "cluster", "clusters of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.Clusters)) }))
	console.CompleteFlag(root, "user", "users of the kubeconfig", c.configured(func(config *api.Config) []string { return slices.Collect(maps.Keys(config.AuthInfos)) }))
	console.CompleteFlag(root, "features", "feature gates, then `true` and `false`; several after commas", c.features)
	console.CompleteFlag(root, "color", "`auto`, `always`, `never`", console.CompleteWords("auto", "always", "never"))
	console.CompleteFlag(root, "max-input", "a few sizes", console.CompleteWords("512Mi", "1Gi", "2Gi", "4Gi"))
	CompleteAsker(root)
	console.CompleteFiles(root, "from", "kubeconfig", "certificate-authority", "client-certificate", "client-key")
}

// CompleteAsker completes who asks the API server: --as and --as-group.
func CompleteAsker(cmd *cobra.Command) {
	console.CompleteFlag(cmd, "as", "users of Kubernetes' own", console.CompleteWords("system:admin", "system:anonymous", "system:apiserver",
		"system:kube-controller-manager", "system:kube-proxy", "system:kube-scheduler"))
	console.CompleteFlag(cmd, "as-group", "groups of Kubernetes' own", console.CompleteWords("system:authenticated", "system:masters", "system:nodes",
		"system:serviceaccounts", "system:unauthenticated"))
}

// Namespaces completes a namespace.
func (c *Completer) Namespaces(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if !c.Reader.Offline() {
		names := c.NamesIn(cmd.Context(), inspect.Namespaces, "")
		if len(names) == 0 {
			return c.configured(contextNamespaces)(cmd, nil, prefix)
		}
		return console.WithPrefix(names, nil, prefix)
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
	return console.WithPrefix(slices.Sorted(maps.Keys(found)), nil, prefix)
}

func contextNamespaces(config *api.Config) []string {
	var names []string
	for _, context := range config.Contexts {
		names = append(names, context.Namespace)
	}
	return names
}

// configured completes names of the kubeconfig.
func (c *Completer) configured(names func(*api.Config) []string) console.Completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		raw, err := c.Reader.Connection.ClientConfig().RawConfig()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		found := names(&raw)
		slices.Sort(found)
		return console.WithPrefix(found, nil, prefix)
	}
}

// splitLast returns what stands before the last of several values after commas, and that value.
func splitLast(prefix string) (before, last string) {
	at := strings.LastIndexByte(prefix, ',') + 1
	return prefix[:at], prefix[at:]
}

// Several completes the last of several words after commas, of those that are not there yet.
func Several(words []string) console.Completion {
	return func(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		before, _ := splitLast(prefix)
		var out []string
		for _, word := range words {
			if !slices.Contains(strings.Split(before, ","), word) {
				out = append(out, before+word)
			}
		}
		return console.WithPrefix(out, nil, prefix)
	}
}

// features completes the last of several gates, and its value.
func (c *Completer) features(_ *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
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
	found, directive := console.WithPrefix(words, nil, prefix)
	if !strings.Contains(last, "=") {
		directive |= cobra.ShellCompDirectiveNoSpace
	}
	return found, directive
}
