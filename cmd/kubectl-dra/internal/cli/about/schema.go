package about

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/docs/schema"
)

// NewSchema makes the command that prints JSON Schemas.
func NewSchema(streams *console.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schema [KIND]",
		Short: "Print the JSON Schema of what commands print with -o json",
		Long: `Print the JSON Schema (draft 2020-12) of a kind that commands print with -o json or
yaml, such as Explanation or Plan; without KIND, list the kinds that have one.`,
		Example: `  # Which fields does an explanation have?
  kubectl dra schema Explanation

  # Which kinds are there?
  kubectl dra schema`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.Usagef("name one KIND, or none to list them")
			}
			if len(args) == 0 {
				for _, kind := range schema.Kinds() {
					if _, err := fmt.Fprintln(streams.Out, kind); err != nil {
						return err
					}
				}
				return nil
			}
			data, ok := schema.Of(args[0])
			if !ok {
				return console.Usagef("there is no kind %q%s", args[0], console.DidYouMean(args[0], schema.Kinds()))
			}
			_, err := streams.Out.Write(data)
			return err
		},
	}
	console.CompleteArguments(cmd, "kinds", console.CompleteFirst(console.CompleteWords(schema.Kinds()...)))
	return cmd
}
