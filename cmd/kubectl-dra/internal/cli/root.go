package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
)

const rootLong = `kubectl dra explains Dynamic Resource Allocation (DRA): why a claim is, can be or
cannot be allocated, decided exactly as the Kubernetes scheduler decides it.

It reads the cluster of the current kubeconfig context, or files (--from), or
an embedded demo cluster (--demo). It never writes unless you say so.`

const rootExample = `  # Why is a claim pending?
  kubectl dra explain claim train-0 -n ml

  # The same without a cluster
  kubectl dra explain claim train-0 -n ml --demo

  # What is free?
  kubectl dra get nodes`

// newRoot makes the command tree.
func newRoot(src *source) *cobra.Command {
	streams := src.streams
	root := &cobra.Command{
		Use:           "kubectl-dra",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dra"},
		Short:         "Explain Dynamic Resource Allocation",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return runRoot(src, cmd) },
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if err := configureLog(streams.ErrOut, src.verbosity); err != nil {
				return err
			}
			return src.validate()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	src.addFlags(root.PersistentFlags())
	src.config.addTo(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help(&src.helpFailed))
	root.Flags().Bool("version", false, "print the version of the plugin, as kubectl dra version --client does")
	root.AddCommand(
		newTop(src), src.reading(newExplain(src)), newAllocate(src), newDeallocate(src), src.reading(newFit(src)), newCel(src), src.reading(newGet(src)), newSnapshot(src),
		src.reading(newVersion(src)), newCompletion(src), newOptions(src),
	)
	root.SetHelpCommand(newHelp(root))
	return root
}

// runRoot is what happens without a command.
func runRoot(src *source, cmd *cobra.Command) error {
	if asked, err := cmd.Flags().GetBool("version"); err != nil || !asked {
		return errors.Join(err, cmd.Help())
	}
	return output.PrintVersion(src.streams.Out, pluginVersion())
}

// knownCommand refuses words that are no command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if hint := didYouMean(args[0], names); hint != "" {
		return usagef("unknown command %q%s", args[0], hint)
	}
	return usagef("unknown command %q; there are %s", args[0], commaList(names))
}
