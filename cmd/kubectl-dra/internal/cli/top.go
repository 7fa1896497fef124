package cli

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/demo"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// topFlags are the flags of kubectl dra top.
type topFlags struct {
	once, allNamespaces bool
	seats               int
}

// topOptions are a checked request for the terminal UI.
type topOptions struct {
	src       *source
	view      string
	namespace string // "" is all
	once      bool
	typing    bool // the view takes text from the beginning
	seats     int  // 0 finds it out
}

func newTop(src *source) *cobra.Command {
	flags := &topFlags{}
	views := tui.Views()
	cmd := &cobra.Command{
		Use:   "top [" + strings.Join(views, "|") + "]",
		Short: "Watch claims, devices and nodes in a terminal UI",
		Long: `Watch claims, devices, nodes, API priority levels and storage, test selectors, and
ask why something is stuck, in a terminal UI that follows the cluster.

All namespaces are shown unless -n is given; the key n changes that, ? lists
all keys. With --once, or when stdout is no terminal, the view is printed as
plain text, all of it, and the command ends.`,
		Example: `  # Learn it without a cluster
  kubectl dra top --demo

  # The occupancy of the nodes
  kubectl dra top nodes

  # A recorded cluster (kubectl dra snapshot -o cluster.json)
  kubectl dra top --from cluster.json`,
		ValidArgs: views,
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := flags.toOptions(src, args)
			if err != nil {
				return err
			}
			return options.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.once, "once", false, "print the view as plain text and exit")
	f.BoolVarP(&flags.allNamespaces, "all-namespaces", "A", false, "show all namespaces, which is the default")
	addConcurrencyFlag(f, &flags.seats)
	return cmd
}

func (f *topFlags) toOptions(src *source, args []string) (*topOptions, error) {
	o := &topOptions{src: src, once: f.once, seats: f.seats}
	if err := checkSeats(f.seats); err != nil {
		return nil, err
	}
	if len(args) > 1 {
		return nil, usagef("one view at a time, not %s", commaList(args))
	}
	if len(args) == 1 {
		o.view = args[0]
		if known := tui.Views(); !slices.Contains(known, o.view) {
			if hint := didYouMean(o.view, known); hint != "" {
				return nil, usagef("unknown view %q%s", o.view, hint)
			}
			return nil, usagef("unknown view %q; there are %s", o.view, commaList(known))
		}
	}
	if !f.allNamespaces { // -A wins, as in kubectl
		o.namespace = src.config.namespace()
	}
	return o, nil
}

func (o *topOptions) run(ctx context.Context) error {
	options := o.src.topOptions()
	options.View, options.Typing, options.Namespace, options.Seats = o.view, o.typing, o.namespace, o.seats
	once := o.once || !o.src.interactive()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := o.connect(ctx, &options, once); err != nil {
		return err
	}
	if once {
		options.Profile = colorprofile.NoTTY // plain text, without bold type either
		if o.src.useColor() {
			options.Profile = colorprofile.Detect(o.src.streams.Out, os.Environ())
		}
		options.Width = o.src.tableWidth()
		return tui.Once(ctx, o.src.streams.Out, options)
	}
	if os.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	}
	if !o.src.offline() {
		writer := &topWriter{src: o.src}
		defer writer.wait()
		options.Writer = writer
	}
	o.src.memory.onScreen.Store(true)
	if err := tui.Run(ctx, options); errors.Is(err, tui.ErrInterrupted) {
		return answered(exitInterrupted)
	} else if err != nil {
		return err
	}
	return nil
}

// gcPercent is how much the heap of the terminal UI may grow before garbage is collected, in per cent of what is
// live. It runs for days beside other programs, and what it keeps of a large cluster is mostly long-lived.
const gcPercent = 50

// connect sets where snapshots and the figures of priority levels come from: a cluster is followed and the
// demo cluster lives until ctx is done, unless one look is enough; files are read once.
func (o *topOptions) connect(ctx context.Context, options *tui.Options, once bool) (err error) {
	if !o.src.offline() && !once {
		if err := o.logIn(ctx); err != nil {
			return err
		}
		options.Remarks = o.src.plugin.remarks
	}
	if options.Levels, err = o.src.levelReader(); err != nil {
		return err
	}
	if o.src.offline() || once {
		snapshot, err := o.src.read(ctx, o.namespace, inspect.Resources())
		if err != nil {
			return err
		}
		options.Source = tui.Static(snapshot)
		if once {
			o.src.noteHealth(snapshot, inspect.Resources())
		}
		if !o.src.demo || once {
			return nil
		}
		options.Source, err = demo.Live(ctx, demoSeed, snapshot.Features(), demo.Pace)
		return err
	}
	config, err := o.src.restConfig()
	if err != nil {
		return err
	}
	namespace, err := o.src.namespace() // where the user may at least look, when not everywhere
	if err != nil {
		return err
	}
	options.Remarks = o.src.plugin.remarks
	options.Source, err = live.Watch(ctx, config, live.Options{Namespace: namespace, Resources: inspect.Resources(), Override: o.src.override})
	return err
}

// logIn leaves the keyboard to the terminal UI. A credential plugin that must ask on the terminal does so before.
func (o *topOptions) logIn(ctx context.Context) error {
	config, err := o.src.restConfig()
	if err != nil {
		return err
	}
	if asksAlways(config) {
		if _, err := (&versionOptions{src: o.src}).serverVersion(ctx); err != nil {
			return err
		}
	}
	o.src.keyboard = true
	o.src.plugin.keep()
	return nil
}

// demoSeed makes the demo cluster live the same life for everybody.
const demoSeed = 1

// topOptions are those that follow from where the data comes from.
func (s *source) topOptions() tui.Options {
	options := tui.Options{Clock: s.clock, Input: s.streams.In, Output: s.streams.Out}
	switch {
	case s.demo:
		options.Origin, options.Cluster, options.NoWriter = "demo", "demo", "the demo cluster cannot be written"
	case len(s.from) > 0:
		options.Origin, options.NoWriter = "recorded", "this is a recorded cluster"
	default:
		options.Cluster, options.User = s.contextNames()
	}
	if s.color == "never" {
		options.Profile = colorprofile.ASCII
	}
	return options
}

// contextNames are the names of the cluster and the user of the kubeconfig context in use.
func (s *source) contextNames() (cluster, user string) {
	raw, err := s.config.clientConfig().RawConfig()
	if err != nil {
		return "", "" // they only adorn the header; reading has told of it
	}
	name := raw.CurrentContext
	if s.config.context() != "" {
		name = s.config.context()
	}
	if current := raw.Contexts[name]; current != nil {
		cluster, user = current.Cluster, current.AuthInfo
	}
	return cluster, user
}

// interactive reports whether stdin and stdout are a terminal that can show a screen.
func (s *source) interactive() bool {
	_, output := terminalWidth(s.streams.Out)
	in, ok := s.streams.In.(interface{ Fd() uintptr })
	return output && ok && term.IsTerminal(int(in.Fd())) && os.Getenv("TERM") != "dumb"
}
