package inquiry

import (
	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// Narrowing says which of all pods and claims are meant.
type Narrowing struct {
	allNamespaces bool
	selector      string
	Labels        labels.Selector // that selector means; nil if there is none
}

// AddTo adds the flags to a command.
func (n *Narrowing) AddTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&n.allNamespaces, "all-namespaces", "A", false, "without a name: what is stuck in all namespaces, as without -n")
	flags.StringVarP(&n.selector, "selector", "l", "", "without a name: only what has these labels, as key=value,…")
}

// Given reports whether a flag was given that a question about names has no use for.
func (n *Narrowing) Given() bool { return n.allNamespaces || n.selector != "" }

// Complete reads the selector. The namespace is that of -n, or empty.
func (n *Narrowing) Complete(namespace string) (err error) {
	if n.allNamespaces && namespace != "" {
		return console.Usagef("--namespace and --all-namespaces exclude each other")
	}
	if n.selector != "" {
		if n.Labels, err = labels.Parse(n.selector); err != nil {
			return console.Usagef("--selector: %w", err)
		}
	}
	return nil
}
