package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/about"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/allocate"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/cel"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/check"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/explain"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/fit"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/get"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/node"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/plan"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/record"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/top"
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

// Commands returns the tree of commands with their flags and help, for who describes them. Main runs them.
func Commands() *cobra.Command {
	return newProgram(genericiooptions.NewTestIOStreamsDiscard(), time.Now).root()
}

// program is what commands are made of. Each takes of it what it needs.
type program struct {
	streams    *console.Streams
	connection *sources.Connection
	reader     *sources.Reader
	completer  *inquiry.Completer
	memory     *sources.Memory
	grace      *console.GracePeriod
	clock      sources.Clock
	helpFailed error // why help could not be printed
	// completions tells cobra what completes flags.
	completions func()
}

func newProgram(io genericiooptions.IOStreams, clock sources.Clock) *program {
	p := &program{streams: &console.Streams{IOStreams: io}, memory: &sources.Memory{}, grace: &console.GracePeriod{}, clock: clock}
	p.connection = sources.NewConnection(p.streams)
	p.reader = sources.NewReader(p.streams, p.connection, p.memory, clock)
	p.completer = inquiry.NewCompleter(p.streams, p.reader)
	return p
}

// root makes the command tree.
func (p *program) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "kubectl-dra",
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl dra"},
		Short:         "Explain Dynamic Resource Allocation",
		Long:          rootLong,
		Example:       rootExample,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return runRoot(p.streams, cmd) },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Name() == cobra.ShellCompRequestCmd {
				p.completions()
			}
			if err := console.ConfigureLog(p.streams.ErrOut, p.streams.Verbosity); err != nil {
				return err
			}
			if err := p.reader.Validate(); err != nil {
				return err
			}
			return refuseEmptyFlags(cmd)
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(p.streams.In)
	root.SetOut(p.streams.Out)
	root.SetErr(p.streams.ErrOut)
	p.reader.AddFlags(root.PersistentFlags())
	p.streams.AddFlags(root.PersistentFlags())
	p.connection.AddFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help(&p.helpFailed))
	root.Flags().Bool("version", false, "print the version of the plugin, as kubectl dra version --client does")
	p.completer.CommonFlags(root)
	root.AddCommand(p.commands()...)
	root.SetHelpCommand(newHelp(root))
	p.completions = console.Completions(root)
	return root
}

func (p *program) commands() []*cobra.Command {
	streams, connection, reader, completer := p.streams, p.connection, p.reader, p.completer
	access := &allocate.Access{Streams: streams, Connection: connection, Reader: reader, Grace: p.grace}
	ui := &top.UI{Streams: streams, Connection: connection, Reader: reader, Memory: p.memory, Writers: access}
	return []*cobra.Command{
		top.New(ui),
		streams.OnlyReading(explain.New(streams, reader, completer)),
		allocate.NewAllocate(access, completer),
		allocate.NewDeallocate(access, completer),
		streams.OnlyReading(fit.New(streams, reader, completer)),
		cel.New(streams, reader, completer, ui.Lab),
		streams.OnlyReading(get.New(streams, reader, completer)),
		streams.OnlyReading(check.New(streams, reader)),
		streams.OnlyReading(plan.New(streams, reader, completer)),
		streams.OnlyReading(node.New(streams, reader, completer)),
		record.NewSnapshot(streams, connection, reader, p.memory),
		record.NewRecord(streams, reader, p.grace),
		streams.OnlyReading(record.NewDiff(streams, reader)),
		streams.OnlyReading(about.NewVersion(streams, reader, pluginVersion())),
		about.NewCompletion(streams),
		newOptions(streams),
	}
}

// runRoot is what happens without a command.
func runRoot(streams *console.Streams, cmd *cobra.Command) error {
	if asked, err := cmd.Flags().GetBool("version"); err != nil || !asked {
		return errors.Join(err, cmd.Help())
	}
	return output.PrintVersion(streams.Out, pluginVersion())
}

// knownCommand refuses words that are no command.
func knownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := availableIn(cmd)
	if hint := console.DidYouMean(args[0], names); hint != "" {
		return console.Usagef("unknown command %q%s", args[0], hint)
	}
	return console.Usagef("unknown command %q; there are %s", args[0], console.CommaList(names))
}

// availableIn names the subcommands of a command.
func availableIn(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}
