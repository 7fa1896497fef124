package console

import (
	"strings"

	"github.com/spf13/cobra"
)

// NoArguments refuses arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// CommaList joins words as "a, b, c".
func CommaList(words []string) string { return strings.Join(words, ", ") }
