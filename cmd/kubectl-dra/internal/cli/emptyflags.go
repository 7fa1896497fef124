package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// mayBeEmpty are flags of commands that may be given without a value: to kubectl it is as if the first three
// were not given, and the others have a default that somebody may want to do without.
var mayBeEmpty = []string{"output", "selector", "sort-by", "kubelet-flags", "cni-default-network"}

// refuseEmptyFlags refuses flags of a command that were given an empty value. Most often a variable in a
// script is empty then, and a question about one node must not become one about all of them, nor a dry run a
// run that writes. Flags that all commands have are not looked at: kubectl takes those of the connection, and
// the others are checked elsewhere.
func refuseEmptyFlags(cmd *cobra.Command) error {
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		if err == nil && isEmpty(flag.Value) && cmd.Root().PersistentFlags().Lookup(flag.Name) == nil && !slices.Contains(mayBeEmpty, flag.Name) {
			err = console.Usagef("--%s needs a value, and was given an empty one", flag.Name)
		}
	})
	return err
}

// isEmpty reports whether a value, or one of several, is the empty text.
func isEmpty(value pflag.Value) bool {
	if several, ok := value.(pflag.SliceValue); ok {
		texts := several.GetSlice()
		return len(texts) == 0 || slices.Contains(texts, "")
	}
	return value.String() == ""
}
