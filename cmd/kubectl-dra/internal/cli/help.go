package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// readingFlags are the flags that every command's help shows besides its own. Most of the connection's are
// shown by kubectl dra options only, as kubectl does.
var readingFlags = []string{"from", "demo", "features", "verbose", "color", "namespace", "context", "kubeconfig"}

// help prints a command's long text and usage to stdout. Cobra takes no error from it, so what could not be
// written is found in failed.
func help(failed *error) func(*cobra.Command, []string) {
	return func(cmd *cobra.Command, _ []string) {
		text := cmd.Long
		if text == "" {
			text = cmd.Short
		}
		if _, err := io.WriteString(cmd.OutOrStdout(), strings.TrimSpace(text)+"\n\n"+usageText(cmd)); err != nil {
			*failed = fmt.Errorf("printing the help of %s: %w", cmd.CommandPath(), err)
		}
	}
}

func usage(cmd *cobra.Command) error {
	_, err := io.WriteString(cmd.ErrOrStderr(), usageText(cmd))
	return err
}

// usageText is what a command's help says below its long text.
func usageText(cmd *cobra.Command) string {
	var b strings.Builder
	if cmd.HasExample() {
		b.WriteString("Examples:\n" + cmd.Example + "\n\n")
	}
	b.WriteString("Usage:\n")
	if cmd.HasParent() {
		b.WriteString("  " + cmd.UseLine() + "\n")
	} else {
		b.WriteString("  " + cmd.CommandPath() + " COMMAND [flags]\n")
	}
	if cmd.HasAvailableSubCommands() {
		b.WriteString("\nCommands:\n")
		width := 11
		for _, c := range cmd.Commands() {
			width = max(width, len(c.Name()))
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-*s  %s\n", width, c.Name(), c.Short)
			}
		}
	}
	if flags := cmd.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		b.WriteString("\nFlags:\n" + flags.FlagUsagesWrapped(80))
	}
	b.WriteString("\nWhat to read:\n" + flagSubset(cmd.Root().PersistentFlags(), readingFlags).FlagUsagesWrapped(80))
	b.WriteString("\n\"kubectl dra options\" lists all flags of the connection to a cluster.\n")
	return b.String()
}

func flagSubset(flags *pflag.FlagSet, names []string) *pflag.FlagSet {
	out := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, name := range names {
		if flag := flags.Lookup(name); flag != nil {
			out.AddFlag(flag)
		}
	}
	return out
}

// newOptions lists the flags that every command has.
func newOptions(streams *console.Streams) *cobra.Command {
	return &cobra.Command{
		Use: "options", Short: "List the flags that every command has", Args: console.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(streams.Out, "Every command has these flags:\n\n%s", cmd.Root().PersistentFlags().FlagUsagesWrapped(80))
			return err
		},
	}
}

// newHelp is cobra's help command with our errors.
func newHelp(root *cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: "help [COMMAND]", Short: "Show help about a command",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil {
				return console.Usagef("%w", err)
			}
			if cmd == root && len(rest) > 0 {
				return knownCommand(root, rest)
			}
			return cmd.Help()
		},
	}
	console.CompleteArguments(cmd, "commands", func(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		of, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return console.WithPrefix(availableIn(of), nil, prefix)
	})
	return cmd
}

// flagError turns what pflag says about a flag into a usage error with a hint.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		name := "--" + unknown.GetSpecifiedName()
		if hint := console.DidYouMean(name, names); hint != "" {
			return console.Usagef("unknown flag %s%s", name, hint)
		}
	}
	return console.Usagef("%w; see %s --help", err, cmd.CommandPath())
}
