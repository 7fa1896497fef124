package record

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/diffs"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// diffOptions are a request for a comparison.
type diffOptions struct {
	sources.Options
	sides []string
}

// NewDiff returns the command diff.
func NewDiff(streams *console.Streams, reader *sources.Reader) *cobra.Command {
	o := &diffOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:   "diff BEFORE [AFTER]",
		Short: "Say which verdicts flipped between two moments, and which changes caused it",
		Long: `Compare a cluster at two moments: which claims and pods have a different verdict,
different devices or another node, and which changes caused that.

BEFORE and AFTER are files, directories or snapshots as for --from, or a log of
kubectl dra record; LOG@TIME is a moment in a log, as for --at. Without AFTER it
is the cluster as it is now, or what --from or --demo says.

For each verdict that flipped it names a minimal set of changes that is enough:
with only these objects changed the scheduler decides as it does afterwards, and
without any one of them it does not. That was tried.`,
		Example: `  # What has changed since the snapshot was taken?
  kubectl dra diff cluster.pb.gz

  # What happened in the last hour of a log?
  kubectl dra diff cluster.log@-1h cluster.log

  # For a script
  kubectl dra diff before.pb.gz after.pb.gz -o jsonpath='{.flips[*].subject.name}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.sides = args
			switch {
			case len(args) == 0:
				return console.Usagef("name what to compare: diff BEFORE [AFTER]")
			case len(args) > 2:
				return console.Usagef("diff compares two moments, not %s", console.CommaList(args))
			case len(args) == 2 && reader.Offline():
				return console.Usagef("--from and --demo are for what comes after; give either that or AFTER")
			case args[0] == "-" && args[len(args)-1] == "-" && len(args) == 2:
				return console.Usagef("standard input (-) can be read only once")
			}
			return o.run(cmd.Context())
		},
	}
	console.CompleteArguments(cmd, "files", console.CompletePaths)
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	return cmd
}

func (o *diffOptions) run(ctx context.Context) error {
	before, from, err := o.side(ctx, o.sides[0])
	if err != nil {
		return err
	}
	var after *inspect.Snapshot
	var to diffs.Moment
	if len(o.sides) == 2 {
		after, to, err = o.side(ctx, o.sides[1])
	} else {
		after, to, err = o.now(ctx)
	}
	if err != nil {
		return err
	}
	d, err := flip.Compare(ctx, before, after)
	if err != nil {
		return err
	}
	return o.Answer(diffs.NewDiff(d, from, to), console.InLines(func(opts text.Options) []styled.Line {
		return diffs.DiffLines(d, from, to, opts)
	}), console.ExitAnswered)
}

// side reads a file, a directory, a snapshot or a moment of a log.
func (o *diffOptions) side(ctx context.Context, name string) (*inspect.Snapshot, diffs.Moment, error) {
	snapshot, err := o.Reader.ReadOther(ctx, name)
	if err != nil {
		return nil, diffs.Moment{}, err
	}
	if h := snapshot.Health(inspect.Pods); h.State == inspect.NotRead && snapshot.Health(inspect.Claims).State == inspect.NotRead {
		return nil, diffs.Moment{}, fmt.Errorf("no pods and no resourceclaims were read from %s: whether a verdict flipped is not known", inspect.Sanitize(name))
	}
	return snapshot, diffs.Moment{Source: name, Time: snapshot.Time()}, nil
}

// now reads what the flags say: the cluster, unless they say otherwise.
func (o *diffOptions) now(ctx context.Context) (*inspect.Snapshot, diffs.Moment, error) {
	namespace, err := o.Reader.Namespace() // where the user may at least look, when not everywhere
	if err != nil {
		return nil, diffs.Moment{}, err
	}
	snapshot, err := o.Reader.Read(ctx, namespace, inspect.Resources())
	if err != nil {
		return nil, diffs.Moment{}, err
	}
	o.NoteHealth(snapshot, inspect.Resources())
	source := "the cluster"
	switch {
	case o.Reader.Demo:
		source = "the demo cluster"
	case len(o.Reader.From) > 0:
		source = console.CommaList(o.Reader.From)
	}
	return snapshot, diffs.Moment{Source: source, Time: snapshot.Time()}, nil
}
