package plan

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var shapeKinds = []inquiry.Kind{inquiry.Claim, inquiry.Template}

const defragmentLong = `Say how many more claims of one shape fit once a few pods have moved.

CLASS is a device class. The claims are like the largest one that waits for devices
of the class, or else for as many as the largest node has. --shape names a claim or
a template instead. Pods are moved as by make-room: room is made for one claim
after the other, each time with the fewest pods. The claims that are counted
certainly fit; with other moves there may be room for more.

Exit codes: 0 moves make room for more, 3 it is proved that no move does, 1 none
were found, but not all were tried (or the question could not be
answered).`

const defragmentExample = `  # How many more claims for a whole node would fit?
  kubectl dra plan defragment gpu.example.com

  # The same for a template, with at most 8 moves
  kubectl dra plan defragment gpu.example.com --shape template/eval-gpu -n ml --moves 8`

// maxMoves is the number of moves up to which a defragmentation takes seconds.
const maxMoves = 50

func newPlanDefragment(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o, shape, moves := inquiry.New(streams, reader, shapeKinds), "", 0
	cmd := &cobra.Command{
		Use:     "defragment CLASS",
		Short:   "Say how many more claims fit once a few pods have moved",
		Long:    defragmentLong,
		Example: defragmentExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return console.Usagef("give one device class")
			case moves < 0 || moves > maxMoves:
				return console.Usagef("--moves %d: it can be 0 to %d", moves, maxMoves)
			}
			var err error
			if o.Namespace, err = reader.Namespace(); err == nil && shape != "" {
				err = o.Complete([]string{shape})
			}
			if err != nil {
				return err
			}
			return defragment(cmd.Context(), o, args[0], moves)
		},
	}
	cmd.Flags().StringVar(&shape, "shape", "", "count claims like this one: claim/NAME or template/NAME")
	cmd.Flags().IntVar(&moves, "moves", 3, "the number of pods that may be moved")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	console.CompleteArguments(cmd, "device classes", console.CompleteFirst(completer.Each(inspect.Classes)))
	console.CompleteFlag(cmd, "moves", "`0` to `4`", console.CompleteWords("0", "1", "2", "3", "4"))
	return cmd
}

// defragment answers how many claims fit after a few moves.
func defragment(ctx context.Context, o *inquiry.Options, class string, most int) error {
	o.Reads = live.PodResources()
	snapshot, subjects, err := o.Read(ctx)
	if err != nil {
		return err
	}
	if _, ok := snapshot.Class(class); !ok {
		return inquiry.NotFound(snapshot, inquiry.Class, "", class)
	}
	c := scheduler.NewCluster(snapshot, scheduler.Options{})
	like, err := shapeOf(ctx, c, subjects, class)
	if err != nil {
		return err
	}
	d, err := moves.Defragment(ctx, c, like, most)
	if err != nil {
		return err
	}
	render := console.InLines(func(opts text.Options) []styled.Line { return text.DefragmentationLines(d, most, opts) })
	return o.Answer(explanations.NewDefragmentPlan(d), render, console.WorstExitCode(o.LeastCode(), defragmentCode(d)))
}

func defragmentCode(d *explain.Defragmentation) int {
	switch {
	case len(d.Rows) > 1 && len(d.Doubts) == 0:
		return console.ExitAnswered
	case len(d.Rows) == 1 && d.Complete:
		return console.ExitNo
	}
	return console.ExitFailed
}

// shapeOf is the claim of which copies are counted.
func shapeOf(ctx context.Context, c *scheduler.Cluster, subjects []metav1.Object, class string) (*resourcev1.ResourceClaim, error) {
	if len(subjects) == 0 {
		like, err := moves.Wanted(ctx, c, class)
		if err == nil && like == nil {
			err = fmt.Errorf("no node has devices of class %q that a claim could get; give --shape", inspect.Sanitize(class))
		}
		return like, err
	}
	switch subject := subjects[0].(type) {
	case *resourcev1.ResourceClaim:
		return subject, nil
	case *resourcev1.ResourceClaimTemplate:
		like := &resourcev1.ResourceClaim{Spec: subject.Spec.Spec}
		like.Namespace, like.Name = subject.Namespace, subject.Name
		return like, nil
	}
	return nil, console.Usagef("--shape is claim/NAME or template/NAME")
}
