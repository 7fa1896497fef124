package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

const explainLevelLong = `Say why a priority level of API Priority and Fairness has so many seats: how its
limits follow from the shares of all levels, why it has its current limit, how many
seats a request may take, when requests are queued or rejected, and which components
of DRA depend on the level.

Without a name it says which levels the requests of DRA's components go to: those
of drivers, the claim controller, kube-scheduler and the kubelets.

With --set or -f it says what a change would do before you apply it: the limits of
all levels, and which typical requests would go to another level. What the API
server would refuse is refused here too. --set takes shares, lendable and borrowing
(in percent; borrowing=none lifts the limit), queues, hand and queueLength.`

const explainLevelExample = `  # Which levels do the requests of drivers and kube-scheduler go to?
  kubectl dra explain prioritylevel

  # Why does workload-low have so few seats at the moment?
  kubectl dra explain prioritylevel workload-low

  # What if it had more seats, and lent fewer?
  kubectl dra explain prioritylevel --set workload-low.shares=150,lendable=50

  # Where would requests go with these levels and FlowSchemas?
  kubectl dra explain prioritylevel -f levels.yaml`

func newExplainLevel(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &levelOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:     "prioritylevel [NAME... | --set LEVEL.FIELD=VALUE,... | -f FILE]",
		Aliases: []string{"prioritylevels", "prioritylevelconfiguration", "prioritylevelconfigurations", "pl"},
		Short:   "Say why a priority level has so many seats, or what a change of levels would do",
		Long:    explainLevelLong,
		Example: explainLevelExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.names = args; len(args) > 0 && len(o.sets)+len(o.files) > 0 {
				return console.Usagef("a change has to do with all levels: give either names, or --set and -f")
			}
			if err := sources.CheckSeats(o.seats); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	set := cmd.Flags()
	set.StringArrayVar(&o.sets, "set", nil, "assume these settings of a level, such as workload-low.shares=150,lendable=50; may be repeated")
	set.StringArrayVarP(&o.files, "filename", "f", nil, "assume the priority levels and FlowSchemas in this file, directory or - (stdin)")
	console.CompleteArguments(cmd, "priority levels", completer.Each(inspect.PriorityLevels))
	console.CompleteFiles(cmd, "filename")
	set.IntVar(&o.seats, "server-concurrency", 0, "compute the limits for this server concurrency limit; 0 asks the server, or takes its default, 600")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	return cmd
}

// levelOptions are a question about priority levels.
type levelOptions struct {
	sources.Options
	names, sets, files []string
	seats              int
}

// levelResources are what priority levels are explained with: who uses them, too.
var levelResources = append([]inspect.Resource{inspect.Slices, inspect.Pods, inspect.Nodes}, sources.FlowControlResources...)

func (o *levelOptions) run(ctx context.Context) error {
	snapshot, err := o.Reader.Read(ctx, "", levelResources)
	if err != nil {
		return err
	}
	if err := requireFlowControl(snapshot); err != nil {
		return err
	}
	o.NoteHealth(snapshot, []inspect.Resource{inspect.Slices, inspect.Pods, inspect.Nodes})
	in, err := o.input(ctx, snapshot)
	switch {
	case err != nil:
		return err
	case len(o.sets)+len(o.files) > 0:
		return o.plan(ctx, in)
	case len(o.names) == 0:
		return o.actors(in)
	}
	all := fairness.ExplainLevels(in)
	var picked []*fairness.PriorityLevelExplanation
	for _, name := range o.names {
		at := slices.IndexFunc(all, func(e *fairness.PriorityLevelExplanation) bool { return e.Level.Name == name })
		if at < 0 {
			return unknownLevel(name, in.Limits.Levels)
		}
		picked = append(picked, all[at])
	}
	return o.print(picked)
}

func unknownLevel(name string, levels []flowcontrol.Level) error {
	names := words.Each(levels, func(l flowcontrol.Level) string { return l.Name })
	hint := cmp.Or(console.DidYouMean(name, names), "; there are "+console.CommaList(names))
	return fmt.Errorf("prioritylevelconfiguration %q not found%s", name, hint)
}

// input reads what the server says of the levels, if there is one.
func (o *levelOptions) input(ctx context.Context, s *inspect.Snapshot) (fairness.LevelInput, error) {
	in, asked, err := readLevels(ctx, o.Reader, s, o.seats)
	if err != nil {
		return in, err
	}
	if asked {
		o.NoteReading(in.Reading)
	}
	if in.Limits.Source == flowcontrol.ConcurrencyDefault && o.Format.Name == "" && len(o.names)+len(o.sets)+len(o.files) > 0 {
		o.Note("the server concurrency limit is taken to be %d, the default; --server-concurrency sets another", in.Limits.ServerConcurrency)
	}
	return in, nil
}

// readLevels asks the server, or the demo, for its load. asked is false for files, which have none.
func readLevels(ctx context.Context, reader *sources.Reader, s *inspect.Snapshot, seats int) (in fairness.LevelInput, asked bool, err error) {
	in.Snapshot = s
	source, err := reader.LevelSource()
	if err != nil {
		return in, false, err
	}
	if source != nil {
		in.Reading = source.Read(ctx)
	}
	if ctx.Err() != nil {
		return in, true, context.Cause(ctx)
	}
	in.Limits = flowcontrol.Resolve(s.PriorityLevels(), seats, in.Reading.Metrics)
	return in, source != nil, nil
}

func (o *levelOptions) print(all []*fairness.PriorityLevelExplanation) error {
	list := output.OneOrList("PriorityLevelExplanationList", all)
	return sources.AnswerEach(&o.Options, list, all, func(w io.Writer, opts text.Options, e *fairness.PriorityLevelExplanation) error {
		return output.PrintPage(w, opts.Width, e.Write)
	}, console.ExitAnswered)
}

// actors says where DRA's actors ask.
func (o *levelOptions) actors(in fairness.LevelInput) error {
	actors := fairness.DRAActors(in.Snapshot, in.Reading)
	list := &output.ListOf[fairness.DRAActor]{Head: output.HeadOf("DRAActorList"), Items: actors}
	return o.Answer(list, console.OnPage(func(p *output.Page) { fairness.WriteActors(p, actors) }), console.ExitAnswered)
}

// plan says what the supposed changes would do.
func (o *levelOptions) plan(ctx context.Context, in fairness.LevelInput) error {
	before := in.Snapshot.Objects()
	after := inspect.Objects{PriorityLevels: slices.Clone(before.PriorityLevels), FlowSchemas: slices.Clone(before.FlowSchemas)}
	if len(o.files) > 0 {
		read, err := o.Reader.ReadManifests(ctx, o.files, "default", false)
		if err != nil {
			return err
		}
		if len(read.Objects.PriorityLevels)+len(read.Objects.FlowSchemas) == 0 {
			return fmt.Errorf("there are no PriorityLevelConfigurations and no FlowSchemas in %s", strings.Join(o.files, ", "))
		}
		sources.Overlay(&after, &inspect.Objects{PriorityLevels: read.Objects.PriorityLevels, FlowSchemas: read.Objects.FlowSchemas})
		if err := refused(&read.Objects); err != nil {
			return err
		}
	}
	if err := o.set(&after, in.Limits.Levels); err != nil {
		return err
	}
	limits := flowcontrol.Resolved{Limits: flowcontrol.Compute(after.PriorityLevels, in.Limits.ServerConcurrency), Source: in.Limits.Source}
	probes := flowcontrol.Probes(flowcontrol.DRAActors(in.Snapshot), append(slices.Clone(before.FlowSchemas), after.FlowSchemas...))
	moves := flowcontrol.Moves(probes, before.FlowSchemas, after.FlowSchemas, &in.Limits.Limits, &limits.Limits)
	plan := fairness.LevelPlan(in.Limits, limits, moves, flowcontrol.DanglingSchemas(after.FlowSchemas, &limits.Limits), flowcontrol.TakesBack(before, &after))
	return o.Answer(plan, console.OnPage(plan.Write), console.ExitAnswered)
}

// set makes the changes of --set.
func (o *levelOptions) set(objects *inspect.Objects, levels []flowcontrol.Level) error {
	for _, text := range o.sets {
		name, changes, ok := cutField(text)
		if !ok {
			return console.Usagef("--set is %q; it is LEVEL.FIELD=VALUE,FIELD=VALUE, such as workload-low.shares=150,lendable=50", text)
		}
		at := slices.IndexFunc(objects.PriorityLevels, func(l *flowcontrolv1.PriorityLevelConfiguration) bool { return l.Name == name })
		if at < 0 {
			made := flowcontrol.Mandatory(name)
			if made == nil {
				return unknownLevel(name, levels)
			}
			objects.PriorityLevels = append(objects.PriorityLevels, made)
			at = len(objects.PriorityLevels) - 1
		}
		changed, err := flowcontrol.Set(objects.PriorityLevels[at], changes)
		if err != nil {
			return console.Usagef("%w", err)
		}
		objects.PriorityLevels[at] = changed
		if err := refused(&inspect.Objects{PriorityLevels: []*flowcontrolv1.PriorityLevelConfiguration{changed}}); err != nil {
			return err
		}
	}
	return nil
}

// cutField separates the name of a level, which may have dots, from its first field.
func cutField(text string) (name, changes string, ok bool) {
	head, rest, ok := strings.Cut(text, "=")
	at := strings.LastIndex(head, ".")
	if !ok || at < 0 {
		return "", "", false
	}
	return head[:at], head[at+1:] + "=" + rest, true
}

// refused returns an error for what the API server would refuse.
func refused(objects *inspect.Objects) error {
	var errs []error
	for _, level := range objects.PriorityLevels {
		if reason := flowcontrol.RefusedLevel(level); reason != "" {
			errs = append(errs, fmt.Errorf("the API server would refuse PriorityLevelConfiguration %s: %s", level.Name, reason))
		}
	}
	for _, schema := range objects.FlowSchemas {
		if reason := flowcontrol.RefusedSchema(schema); reason != "" {
			errs = append(errs, fmt.Errorf("the API server would refuse FlowSchema %s: %s", schema.Name, reason))
		}
	}
	return errors.Join(errs...)
}
