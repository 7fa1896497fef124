package cli

import (
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

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
	streams    *streams
	connection *connection
	reader     *reader
	completer  *completer
	memory     *memory
	grace      *gracePeriod
	clock      Clock
	helpFailed error // why help could not be printed
}

func newProgram(io genericiooptions.IOStreams, clock Clock) *program {
	p := &program{streams: &streams{IOStreams: io}, memory: &memory{}, grace: &gracePeriod{}, clock: clock}
	p.connection = newConnection(p.streams)
	p.reader = newReader(p.streams, p.connection, p.memory, clock)
	p.completer = newCompleter(p.streams, p.reader)
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
			if err := configureLog(p.streams.ErrOut, p.streams.verbosity); err != nil {
				return err
			}
			if err := p.reader.validate(); err != nil {
				return err
			}
			return refuseEmptyFlags(cmd)
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetIn(p.streams.In)
	root.SetOut(p.streams.Out)
	root.SetErr(p.streams.ErrOut)
	p.reader.addFlags(root.PersistentFlags())
	p.streams.addFlags(root.PersistentFlags())
	p.connection.addFlags(root.PersistentFlags())
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	root.SetHelpFunc(help(&p.helpFailed))
	root.Flags().Bool("version", false, "print the version of the plugin, as kubectl dra version --client does")
	p.completer.commonFlags(root)
	root.AddCommand(p.commands()...)
	root.SetHelpCommand(newHelp(root))
	offerNothingElse(root)
	return root
}

func (p *program) commands() []*cobra.Command {
	streams, connection, reader, completer := p.streams, p.connection, p.reader, p.completer
	access := &writeAccess{streams: streams, connection: connection, reader: reader, grace: p.grace}
	ui := &terminalUI{streams: streams, connection: connection, reader: reader, memory: p.memory, writers: access}
	return []*cobra.Command{
		newTop(ui),
		streams.onlyReading(newExplain(streams, reader, completer)),
		newAllocate(access, completer),
		newDeallocate(access, completer),
		streams.onlyReading(newFit(streams, reader, completer)),
		newCel(streams, reader, completer, ui.Lab),
		streams.onlyReading(newGet(streams, reader, completer)),
		streams.onlyReading(newCheck(streams, reader, completer, clientVersion().GitVersion)),
		streams.onlyReading(newPlan(streams, reader, completer)),
		streams.onlyReading(newNode(streams, reader, completer)),
		newSnapshot(streams, connection, reader, p.memory),
		newRecord(streams, reader, p.grace),
		streams.onlyReading(newDiff(streams, reader)),
		streams.onlyReading(newVersion(streams, reader, pluginVersion())),
		newCompletion(streams),
		newSchema(streams),
		newMCP(streams, reader, p.clock),
		newOptions(streams),
	}
}

// runRoot is what happens without a command.
func runRoot(streams *streams, cmd *cobra.Command) error {
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

// offerNothingElse keeps shells from offering files where nothing else is said of arguments and flags.
func offerNothingElse(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = nothing
	}
	for _, flags := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
		flags.VisitAll(func(f *pflag.Flag) {
			_ = cmd.RegisterFlagCompletionFunc(f.Name, nothing) // fails for those that complete something
		})
	}
	for _, sub := range cmd.Commands() {
		offerNothingElse(sub)
	}
}
