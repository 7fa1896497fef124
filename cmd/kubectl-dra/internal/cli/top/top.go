package top

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/settings"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// Writers make what the terminal UI writes with.
type Writers interface {
	// Cluster is for the cluster of the connection. wait returns when nothing is being written any more, or
	// after a while.
	Cluster() (writer tui.Writer, wait func())
	// Demo is for the demo cluster, which is only in memory.
	Demo(life *demo.Alive) tui.Writer
}

// UI is what the terminal UI works with.
type UI struct {
	Streams    *console.Streams
	Connection *sources.Connection
	Reader     *sources.Reader
	Memory     *sources.Memory
	Writers    Writers
}

// topOptions are a checked request for the terminal UI.
type topOptions struct {
	*UI
	view      string
	namespace string // empty for all namespaces
	once, all bool
	asked     remedy.Asked
	typing    bool  // the view takes text from the beginning
	seats     int   // 0 asks the server, or takes its default
	unread    error // says what the view lacks, with --once
}

// New returns the command top.
func New(ui *UI) *cobra.Command {
	o := &topOptions{UI: ui}
	views := tui.Views()
	cmd := &cobra.Command{
		Use:   "top [" + strings.Join(views, "|") + "]",
		Short: "Watch claims, devices and nodes in a terminal UI",
		Long: `Follow the cluster in a terminal UI: claims, devices, nodes, API priority levels
and storage, who uses how much, and what has happened. In it you can ask why
something is stuck, and test selectors.

All namespaces are shown unless -n is given. The key n changes that, and ? lists
all keys. Unless a view is named, it starts with the causes if pods are stuck.

What it shows, how it looks and its keys can be changed in
~/.config/kubectl-dra/config.yaml (docs/top.md).

With --once, or when standard output is no terminal, the whole view is printed
as plain text, and the command ends.`,
		Example: `  # Learn it without a cluster
  kubectl dra top --demo

  # The occupancy of the nodes
  kubectl dra top nodes

  # A cluster that was saved with kubectl dra snapshot
  kubectl dra top --from cluster.pb.gz

  # What happened, step by step: ← and → go through a log of kubectl dra record
  kubectl dra top --from cluster.log`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			return o.follow(cmd.Context(), cmd.Flags())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.once, "once", false, "print the view as plain text and exit")
	f.BoolVarP(&o.all, "all-namespaces", "A", false, "show all namespaces, which is the default")
	sources.AddConcurrencyFlag(f, &o.seats)
	console.CompleteArguments(cmd, "views", console.CompleteFirst(console.CompleteWords(views...)))
	return cmd
}

// complete checks what is to be shown.
func (o *topOptions) complete(args []string) error {
	if err := sources.CheckSeats(o.seats); err != nil {
		return err
	}
	if len(args) > 1 {
		return console.Usagef("one view at a time, not %s", console.CommaList(args))
	}
	if len(args) == 1 {
		o.view = args[0]
		if known := tui.Views(); !slices.Contains(known, o.view) {
			return console.Usagef("unknown view %q%s", o.view, cmp.Or(console.DidYouMean(o.view, known), "; there are "+console.CommaList(known)))
		}
	}
	if !o.all { // -A wins, as in kubectl
		o.namespace = o.Connection.NamespaceFlag()
	}
	return nil
}

// follow shows the cluster of the flags, and then each that the user goes to.
func (o *topOptions) follow(ctx context.Context, flags *pflag.FlagSet) error {
	for {
		o.asked = o.Reader.Asked(flags)
		err := o.run(ctx)
		next, ok := errors.AsType[tui.SwitchContext](err)
		if !ok {
			return err
		}
		if err := o.Connection.SwitchTo(string(next), flags); err != nil {
			return err
		}
		if err := o.Reader.Validate(); err != nil { // no flag of the old cluster is in force
			return err
		}
		o.namespace, o.seats = "", 0
	}
}

func (o *topOptions) run(ctx context.Context) error {
	options := o.screenOptions()
	once := o.once || !o.Streams.Interactive()
	if !once { // what is printed depends on nothing but what the command says
		options.Preferences, options.Notice = settings.Read()
		o.view = cmp.Or(o.view, options.Preferences.View)
	}
	options.View, options.Typing, options.Namespace, options.Seats = o.view, o.typing, o.namespace, o.seats
	options.Asked = o.asked
	options.StuckFirst = o.view == "" && !once
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := o.connect(ctx, &options, once); err != nil {
		return err
	}
	if once {
		options.Profile = colorprofile.NoTTY // plain text, without bold type either
		if o.Streams.UseColor() {
			options.Profile = colorprofile.Detect(o.Streams.Out, os.Environ())
		}
		options.Width = o.Streams.TableWidth()
		return errors.Join(tui.Once(ctx, o.Streams.Text(), options), o.unread)
	}
	sources.CollectSooner()
	if !o.Reader.Offline() {
		writer, wait := o.Writers.Cluster()
		defer wait()
		options.Writer = writer
	}
	o.Memory.OnScreen.Store(true)
	if err := tui.Run(ctx, options); errors.Is(err, tui.ErrInterrupted) {
		return console.ExitWith(console.ExitInterrupted)
	} else if err != nil {
		return err
	}
	return nil
}

// connect sets where snapshots and the figures of priority levels come from: a cluster is followed and the
// demo cluster lives until ctx is done, unless one look is enough; files are read once.
func (o *topOptions) connect(ctx context.Context, options *tui.Options, once bool) (err error) {
	if !o.Reader.Offline() && !once {
		if err := o.logIn(ctx); err != nil {
			return err
		}
		options.Remarks = o.Connection.Plugin.LastLines
	}
	if options.Levels, err = o.Reader.LevelSource(); err != nil {
		return err
	}
	var config *rest.Config
	var namespace string // where the user may at least look, when not everywhere
	if !o.Reader.Offline() {
		if config, err = o.Connection.RESTConfig(); err != nil {
			return err
		}
		if namespace, err = o.Reader.Namespace(); err != nil {
			return err
		}
	}
	o.connectEvents(options, config, namespace)
	if !once {
		if log, err := o.connectLog(ctx, options); log || err != nil {
			return err
		}
	}
	if o.Reader.Offline() || once {
		snapshot, err := o.Reader.Read(ctx, o.namespace, inspect.Resources())
		if err != nil {
			return err
		}
		options.Source = tui.Static(snapshot)
		if given := o.Reader.GivenEvents(); len(given.List) > 0 {
			options.Events = func(context.Context, []inspect.ObjectRef) (inspect.Events, error) { return given, nil }
		}
		if once {
			o.Streams.NoteHealth(snapshot, inspect.Resources())
			if err := o.Reader.CheckNamespace(ctx, snapshot); err != nil {
				return err
			}
			o.unread = o.lacks(snapshot)
		}
		if !o.Reader.Demo || once {
			return nil
		}
		life, err := demo.Live(ctx, sources.DemoSeed, snapshot.Features(), demo.Pace)
		if err != nil {
			return err
		}
		options.Source = life
		options.Writer = o.Writers.Demo(life)
		return nil
	}
	options.Events = func(ctx context.Context, objects []inspect.ObjectRef) (inspect.Events, error) {
		return live.Events(ctx, config, inquiry.WithUID(objects))
	}
	options.Logs = func(ctx context.Context, namespace, pod, container string, lines int) (string, error) {
		return live.Logs(ctx, config, namespace, pod, container, lines)
	}
	options.Source, err = o.Reader.Updates(ctx, namespace, inspect.Resources(), shownFirst[o.view]...)
	return err
}

// needed are the resources without which a view is no answer, where those are not what it shows first.
var needed = map[string][]inspect.Resource{
	"causes": {inspect.Pods, inspect.Claims}, "checkup": {inspect.Pods, inspect.Claims}, "usage": {inspect.Claims, inspect.Slices},
	"priority": {inspect.PriorityLevels}, "storage": {inspect.StorageCapacities},
}

// shownFirst is what a view cannot do without; it has none if that is nothing or everything. Without a view
// it begins with the claims, or with the causes.
var shownFirst = map[string][]inspect.Resource{
	"": {inspect.Claims}, "claims": {inspect.Claims}, "pods": {inspect.Pods},
	"devices": {inspect.Claims, inspect.Slices}, "pools": {inspect.Claims, inspect.Slices}, "drivers": {inspect.Claims, inspect.Slices},
	"nodes": {inspect.Claims, inspect.Slices, inspect.Nodes},
}

// lacks says what was not read of that without which a view is no answer.
func (o *topOptions) lacks(s *inspect.Snapshot) error {
	for _, r := range slices.Concat(needed[o.view], shownFirst[o.view]) {
		switch h := s.Health(r); {
		case h.State == inspect.NotRead:
			return fmt.Errorf("the view is incomplete: no %s were read", r)
		case h.PartialIn(o.namespace):
			return fmt.Errorf("the view is incomplete, because not all could be read: %s", console.HealthText(r, h))
		}
	}
	return nil
}

// connectLog sets a log as the source, with its time line. log is false if there is none.
func (o *topOptions) connectLog(ctx context.Context, options *tui.Options) (log bool, err error) {
	path, rest, err := sources.SplitLog(o.Reader.From)
	if err != nil || path == "" {
		return false, err
	}
	opened, err := o.Reader.OpenLog(path) // to be read until the program ends
	if err != nil {
		return true, err
	}
	more, err := o.Reader.ReadMore(ctx, rest)
	if err != nil {
		return true, err
	}
	moment, t, err := o.Reader.MomentOf(ctx, opened, o.Reader.At)
	if err != nil {
		return true, err
	}
	first, err := opened.Snapshot(ctx, moment)
	if err != nil {
		return true, err
	}
	finish := func(s *inspect.Snapshot) *inspect.Snapshot { return o.Reader.OnTop(s, more) }
	options.Asked.Once = true // the moment that is shown is not the one that would be asked about
	options.Source = tui.NewLog(opened, finish(first.AsOf(t)), moment, finish)
	return true, nil
}

// connectEvents sets where the Events of the cluster come from.
func (o *topOptions) connectEvents(options *tui.Options, config *rest.Config, namespace string) {
	switch {
	case o.Reader.Demo:
		options.NoRecent = "the demo cluster has none"
	case o.Reader.Offline():
		options.NoRecent = "the files have none"
		options.Recent = func(context.Context) (inspect.Events, error) {
			given := o.Reader.GivenEvents()
			if len(given.List) == 0 {
				given.Health.Message = options.NoRecent
			}
			return given, nil
		}
	default:
		options.Recent = func(ctx context.Context) (inspect.Events, error) { return live.RecentEvents(ctx, config, namespace) }
	}
}

// logIn leaves the keyboard to the terminal UI. A credential plugin that must ask on the terminal does so
// before.
func (o *topOptions) logIn(ctx context.Context) error {
	config, err := o.Connection.RESTConfig()
	if err != nil {
		return err
	}
	if sources.NeedsKeyboard(config) {
		if _, err := o.Connection.ServerVersion(ctx); err != nil {
			return err
		}
	}
	o.Connection.KeyboardTaken = true
	o.Connection.Plugin.KeepForScreen()
	return nil
}

// demoCluster stands where other clusters have their name.
const demoCluster = "demo, only in memory"

// Lab opens the editor of selectors, on what the flags say to read.
func (u *UI) Lab(ctx context.Context, flags *pflag.FlagSet) error {
	o := &topOptions{UI: u, view: "cel", typing: true, namespace: u.Connection.NamespaceFlag()}
	return o.follow(ctx, flags)
}

// screenOptions are those that follow from where the data comes from.
func (u *UI) screenOptions() tui.Options {
	options := tui.Options{Clock: u.Reader.Clock, Save: tui.SaveHere, Input: u.Streams.In, Output: u.Streams.Text()}
	switch {
	case u.Reader.Demo:
		options.Origin, options.Cluster = tui.Demo, demoCluster
	case len(u.Reader.From) > 0:
		options.Origin, options.NoWriter = "recorded", "this is a recorded cluster"
	default:
		options.Cluster, options.User = u.Connection.ClusterAndUser()
		options.Context, options.Contexts = u.Connection.ContextInUse(), u.Connection.Contexts()
		options.CheckContext = u.Connection.CheckContext
	}
	if u.Streams.Color == "never" {
		options.Profile = colorprofile.ASCII
	}
	return options
}
