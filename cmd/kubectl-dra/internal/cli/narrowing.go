package cli

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
)

// narrowing says which of all pods and claims are meant.
type narrowing struct {
	allNamespaces bool
	selector      string
	labels        labels.Selector // that selector means; nil if there is none
}

// addTo adds the flags to a command.
func (n *narrowing) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&n.allNamespaces, "all-namespaces", "A", false, "without a name: what is stuck in all namespaces, as without -n")
	flags.StringVarP(&n.selector, "selector", "l", "", "without a name: only what has these labels, as key=value,…")
}

// given reports whether a flag was given that a question about names has no use for.
func (n *narrowing) given() bool { return n.allNamespaces || n.selector != "" }

// complete reads the selector. The namespace is that of -n, or empty.
func (n *narrowing) complete(namespace string) (err error) {
	if n.allNamespaces && namespace != "" {
		return usagef("--namespace and --all-namespaces exclude each other")
	}
	if n.selector != "" {
		if n.labels, err = labels.Parse(n.selector); err != nil {
			return usagef("--selector: %w", err)
		}
	}
	return nil
}
