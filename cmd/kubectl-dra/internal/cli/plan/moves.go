package plan

import (
	"context"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan/moves"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var roomKinds = []inquiry.Kind{inquiry.Claim, inquiry.Pod}

const makeRoomLong = `Find the fewest pods that have to move so that a claim or a pod fits.

A pod is moved by deleting it: its controller creates another one, which
kube-scheduler puts on another node. Only pods that a controller recreates are
moved, and none of daemon sets, of pod groups, of Kubernetes itself, with
ephemeral volumes, or that share a claim. Of several ways with equally few pods,
it shows the one that moves the pods of lowest priority, then the youngest, then
those with the fewest devices.

Each plan was simulated move by move in the whole cluster, for all nodes that
kube-scheduler may choose. The answer has the commands that carry it out. They
keep the node free for the claim or the pod with a taint, so that no moved pod
comes back to it, and cordon nodes that a later move needs. With -f the claim or
the pod is one of a file, and need not exist.

Exit codes: 0 room can be made, or is there already, 3 it is proved that no moves
help, 1 that is not known (or the question could not be answered).`

const makeRoomExample = `  # Which pods are in the way of this one?
  kubectl dra plan make-room pod/pretrain-2 -n ml

  # Only the commands that make room, one on each line
  kubectl dra plan make-room claim/train-0 -n ml -o jsonpath='{range .commands[*]}{@}{"\n"}{end}'`

func newPlanMakeRoom(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := inquiry.New(streams, reader, roomKinds)
	cmd := &cobra.Command{
		Use:     "make-room (claim/NAME | pod/NAME | -f FILE)",
		Short:   "Find the fewest pods to move so that a claim or a pod fits",
		Long:    makeRoomLong,
		Example: makeRoomExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(o.Files) == 0 {
				return console.Usagef("say what needs room: claim/NAME, pod/NAME or -f FILE")
			}
			err := o.Complete(args)
			if err == nil && len(o.Asked) > 1 {
				err = console.Usagef("room is made for one claim or pod at a time")
			}
			if err != nil {
				return inquiry.WhichKind(cmd.Context(), reader, roomKinds, "plan make-room", err)
			}
			return makeRoom(cmd.Context(), o, cmd.Flags())
		},
	}
	o.AddFiles(cmd, "make room for the claim or the pod in this file, directory or - (stdin)")
	console.CompleteArguments(cmd, "`claim`, `pod`, then names; `TYPE/NAME`", completer.Typed(roomKinds))
	return cmd
}

// makeRoom answers what has to move.
func makeRoom(ctx context.Context, o *inquiry.Options, flags *pflag.FlagSet) error {
	o.Reads = live.PodResources() // those that are moved are some of them
	snapshot, subjects, err := o.Read(ctx)
	if err != nil {
		return err
	}
	subject, err := roomFor(subjects)
	if err != nil {
		return err
	}
	working, done := o.Thinking(ctx)
	m, err := moves.MakeRoom(working, scheduler.NewCluster(snapshot, scheduler.Options{}), subject)
	done()
	if err != nil {
		return err
	}
	asked := remedy.Asked{Files: o.Files, Flags: sources.GivenFlags(flags, sources.ClusterFlags), Once: slices.Contains(o.Files, "-"), Demo: o.Reader.Demo}
	remedy.AddMoves(snapshot, m, asked)
	render := console.InLines(func(opts text.Options) []styled.Line { return plans.MovesLines(m, opts) })
	return o.Answer(explanations.NewMovesPlan(m), render, console.WorstExitCode(o.LeastCode(), movesCode(m.Verdict)))
}

// roomFor is the one thing that room is made for: of a file the pod, if there is one.
func roomFor(subjects []metav1.Object) (metav1.Object, error) {
	var pods, claims []metav1.Object
	for _, subject := range subjects {
		switch subject.(type) {
		case *corev1.Pod:
			pods = append(pods, subject)
		case *resourcev1.ResourceClaim:
			claims = append(claims, subject)
		}
	}
	if len(pods) == 0 {
		pods = claims
	}
	if len(pods) != 1 {
		return nil, console.Usagef("room is made for one claim or pod at a time")
	}
	return pods[0], nil
}

// movesCode is the exit code of a verdict.
func movesCode(v explain.JointVerdict) int {
	switch v {
	case explain.Feasible:
		return console.ExitAnswered
	case explain.Infeasible:
		return console.ExitNo
	case explain.JointUnknown:
	}
	return console.ExitFailed
}
