package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/mcpserver"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const mcpLong = `Serve the Model Context Protocol on stdin and stdout, for AI assistants. Its tools
are explain, fit, plan, check and cel; they answer with what these commands print
with -o json, and with the same in Markdown. They only read: no other command can
be run, and only GET requests are sent to the cluster.

The flags say which cluster, or which files, all questions are about. The cluster
is read again for every question, and questions are answered one after the other.
When stdin ends, pending questions are answered first, within --timeout.`

const mcpExample = `  # The command and arguments for an assistant's configuration
  kubectl-dra mcp --context my-cluster

  # On a snapshot, without a cluster
  kubectl-dra mcp --from cluster.json`

// mcpFlags are the bounds of a call.
type mcpFlags struct {
	timeout   time.Duration
	maxOutput string
}

func newMCP(streams *console.Streams, reader *sources.Reader, clock sources.Clock) *cobra.Command {
	flags := &mcpFlags{}
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Serve the Model Context Protocol (MCP), for AI assistants",
		Long:    mcpLong,
		Example: mcpExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("mcp takes no arguments: assistants ask on stdin")
			}
			opts, err := flags.options()
			if err != nil {
				return err
			}
			if slices.Contains(reader.From, "-") {
				return console.Usagef("--from - cannot be read: stdin is what assistants ask on")
			}
			source := sources.GivenFlags(cmd.Root().PersistentFlags(), sourceFlags(cmd.Root().PersistentFlags()))
			ask := func(ctx context.Context, q mcpserver.Question) (*mcpserver.Answer, error) {
				return askReading(ctx, clock, source, q)
			}
			err = mcpserver.Serve(cmd.Context(), mcpserver.New(ask, opts), streams.In, streams.Out, flags.timeout)
			if cmd.Context().Err() != nil {
				return context.Cause(cmd.Context())
			}
			if err != nil {
				return fmt.Errorf("what the assistant sent cannot be read: %w", err)
			}
			return nil
		},
	}
	cmd.Flags().DurationVar(&flags.timeout, "timeout", time.Minute, "how long a question may take")
	cmd.Flags().StringVar(&flags.maxOutput, "max-output", "256Ki", "how long an answer may be, its JSON and its text together")
	console.CompleteArguments(cmd, "nothing: it takes none", console.CompleteNothing)
	return cmd
}

func (f *mcpFlags) options() (mcpserver.Options, error) {
	opts := mcpserver.Options{Version: clientVersion().GitVersion, Timeout: f.timeout}
	if f.timeout <= 0 {
		return opts, console.Usagef("--timeout is %v; it has to be more than nothing", f.timeout)
	}
	n, err := sources.ParseMaxInput(f.maxOutput)
	if err != nil || n < 1<<10 {
		return opts, console.Usagef("--max-output is %q; it can be from 1Ki on", f.maxOutput)
	}
	opts.MaxBytes = int(n)
	return opts, nil
}

// sourceFlags are the flags that all commands have, but for those about how to print.
func sourceFlags(flags *pflag.FlagSet) []string {
	var out []string
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Name != "verbose" && f.Name != "color" {
			out = append(out, f.Name)
		}
	})
	return out
}

// readingCommands are the commands that assistants can reach.
var readingCommands = []string{"explain", "fit", "plan", "check", "cel"}

// sink takes the value that a command prints.
type sink struct{ value any }

// Take makes a sink an [output.Taker].
func (s *sink) Take(value any) error { s.value = value; return nil }

func (s *sink) Write([]byte) (int, error) {
	return 0, errors.New("only an answer can be printed here")
}

// askReading runs a command line in a program of its own, which has no command that writes, and whose
// connection refuses to.
func askReading(ctx context.Context, clock sources.Clock, source []string, q mcpserver.Question) (*mcpserver.Answer, error) {
	var notes bytes.Buffer
	printed := &sink{}
	p := newProgram(genericiooptions.IOStreams{In: strings.NewReader(q.Input), Out: printed, ErrOut: &notes}, clock)
	p.connection.ReadOnly = true
	root := p.root()
	for _, cmd := range root.Commands() {
		if !slices.Contains(readingCommands, cmd.Name()) {
			root.RemoveCommand(cmd)
		}
	}
	if q.Alone {
		source = nil
	}
	root.SetArgs(slices.Concat(q.Args[:1], source, q.Args[1:]))
	done := make(chan error, 1)
	go func() {
		defer p.connection.Plugin.Release()
		done <- p.memory.RunBounded(ctx, root.ExecuteContext)
	}()
	select {
	case err := <-done:
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		console.Report(&notes, err)
		return &mcpserver.Answer{Value: printed.value, Notes: safeNotes(notes.String())}, nil
	case <-ctx.Done(): // what runs may not listen; nobody hears it any more
		return nil, ctx.Err()
	}
}

// safeNotes are the lines of a text, each safe.
func safeNotes(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i := range lines {
		lines[i] = inspect.Sanitize(lines[i])
	}
	return strings.Join(lines, "\n")
}
