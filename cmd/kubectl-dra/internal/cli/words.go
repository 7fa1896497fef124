package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no arguments, not %q", cmd.CommandPath(), args[0])
	}
	return nil
}

// commaList joins words as "a, b, c".
func commaList(words []string) string { return strings.Join(words, ", ") }

// orList joins words as "a, b or c".
func orList(words []string) string {
	if n := len(words); n > 1 {
		return commaList(words[:n-1]) + " or " + words[n-1]
	}
	return commaList(words)
}
