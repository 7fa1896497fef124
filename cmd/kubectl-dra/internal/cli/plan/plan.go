package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var planKinds = append([]inquiry.Kind{inquiry.Pod, inquiry.Template}, inquiry.OwnerKinds()...)

// pendingWord asks about everything that waits.
const pendingWord = "pending"

const planLong = `Say what would happen: which of many pods find a node, which pods are evicted when
a node is drained, what makes room.

It gives two answers about the pods to be placed. One is what kube-scheduler
does: it takes one pod after the other in the order of its queue, and never goes
back; where Kueue holds pods back, its quota is decided first. The other is the
best that could be done: an order and nodes by which all are placed, or a proof
that there are none. Where the two differ, it names the smallest change with
which kube-scheduler succeeds whatever nodes it chooses.

TYPE is pod, template, job, deployment, podgroup or any other type with pods.
"pending" stands for all pods that wait, -l for those with some labels. With -f
the pods are those of a file, and need not exist.

Exit codes: 0 kube-scheduler places all, whatever nodes it chooses, 3 some are
left waiting, 1 that is not known (or the question could not be answered).`

const planExample = `  # Will these 32 workers fit?
  kubectl dra plan template eval-gpu --copies 32 -n ml

  # What becomes of everything that waits?
  kubectl dra plan pending

  # Would this job start?
  kubectl dra plan -f job.yaml

  # For a queue: can all be placed at all?
  kubectl dra plan -f gang.yaml -o jsonpath='{.joint.verdict}'`

// copies is a number of pods. It is 0 if none was given.
type copies int

// Set implements pflag.Value.
func (c *copies) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return errors.New("this is no number")
	case n < 1:
		return errors.New("there cannot be less than one")
	case n > maxPlanned:
		return fmt.Errorf("no more than %d pods can be placed at once", maxPlanned)
	}
	*c = copies(n)
	return nil
}

// Type implements pflag.Value.
func (c *copies) Type() string { return "int" }

func (c *copies) String() string {
	if *c == 0 {
		return ""
	}
	return strconv.Itoa(int(*c))
}

// planOptions are a question about many pods.
type planOptions struct {
	*inquiry.Options
	narrow  inquiry.Narrowing
	pending bool
	// only is the namespace that pods are asked about in; "" is all.
	only   string
	copies copies
}

// planArguments are what is offered for the arguments of commands about pods that are to be placed.
const planArguments = "`pending`; types of objects, then names; `TYPE/NAME`"

// New returns the command plan with its subcommands.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &planOptions{Options: inquiry.New(streams, reader, planKinds)}
	cmd := &cobra.Command{
		Use:     "plan (pending | TYPE NAME... | -l SELECTOR | -f FILE)",
		Short:   "Say what would happen: where many pods go, which are evicted, what makes room",
		Long:    planLong,
		Example: planExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.Complete(args); err != nil {
				return inquiry.WhichKind(cmd.Context(), reader, planKinds, "plan", err)
			}
			return planPlacement(cmd.Context(), o)
		},
	}
	o.Queues = true
	o.addTo(cmd)
	console.CompleteArguments(cmd, planArguments, completer.Typed(planKinds, pendingWord))
	cmd.AddCommand(
		newPlanDrain(streams, reader, completer), newPlanTaint(streams, reader),
		newPlanLose(streams, reader, completer), newPlanDelete(streams, reader, completer),
		streams.OnlyReading(newPlanMakeRoom(streams, reader, completer)), streams.OnlyReading(newPlanNodes(streams, reader, completer)),
	)
	return cmd
}

func (o *planOptions) addTo(cmd *cobra.Command) {
	o.AddFiles(cmd, "place the pods of this file, directory or - (stdin)")
	set := cmd.Flags()
	set.Var(&o.copies, "copies", "place this many pods of each template or pod; by default as many as a workload asks for")
	o.narrow.AddTo(cmd)
	set.Lookup("all-namespaces").Usage = "with pending or -l: the pods of all namespaces, as without -n"
	set.Lookup("selector").Usage = "place the waiting pods that have these labels, as key=value,…"
}

// Complete finds out which pods are meant.
func (o *planOptions) Complete(args []string) (err error) {
	if err := o.narrow.Complete(o.Reader.Connection.NamespaceFlag()); err != nil {
		return err
	}
	labelled := o.narrow.Labels != nil && (len(args) == 0 || len(args) == 1 && slices.Contains(inquiry.Pod.Names, args[0]))
	o.pending = len(args) == 1 && args[0] == pendingWord || labelled
	switch {
	case o.pending && len(o.Files) > 0:
		return console.Usagef("-f and names exclude each other")
	case o.pending && o.copies > 0:
		return console.Usagef("--copies is of what is named or in a file; pods that wait are as many as they are")
	case o.pending:
		o.only = o.Reader.Connection.NamespaceFlag()
		o.Namespace, err = o.Reader.Namespace()
		return err
	case o.narrow.Given():
		return console.Usagef("--all-namespaces and --selector are about pods that wait: give them with pending, or without names")
	case len(args)+len(o.Files) == 0:
		return console.Usagef("say what to place: pending, TYPE NAME, -l SELECTOR or -f FILE")
	}
	return o.Options.Complete(args)
}

// planPlacement answers where many pods go.
func planPlacement(ctx context.Context, o *planOptions) error {
	a, err := o.pods(ctx)
	if err != nil {
		return err
	}
	choosing, unread, err := o.Choosing(ctx, a.snapshot, append(slices.Clip(a.pods), a.others()...))
	if err != nil {
		return err
	}
	for _, text := range unread {
		o.Note("warning: %s: kube-scheduler may choose among more nodes than it seems", text)
	}
	working, done := o.Thinking(ctx)
	p, err := admission.Place(working, scheduler.NewCluster(a.snapshot, scheduler.Options{}), a.asked, admission.PlaceOptions{
		Options: plan.Options{Choosing: choosing, Others: a.others(), Within: o.only, Unseen: a.unseen},
		Given:   len(o.Files) > 0, Workload: o.workload,
	})
	done()
	if p == nil {
		return err
	}
	p.Basis.Remarks = append(p.Basis.Remarks, a.remarks...)
	if len(a.snapshot.Nodes()) > inquiry.MaxChosen && !o.Reader.Offline() && hasChoice(p) {
		p.Basis.Remarks = append(p.Basis.Remarks, fmt.Sprintf(
			"of more than %d nodes images and services are not read, by which kube-scheduler may prefer some of the nodes that are counted here", inquiry.MaxChosen))
	}
	if err != nil {
		return o.SoFar(func() error { return o.print(p) })
	}
	return o.print(p)
}

func (o *planOptions) print(p *explain.Plan) error {
	render := console.InLines(func(opts text.Options) []styled.Line { return plans.Lines(p, opts) })
	return o.Answer(explanations.NewPlan(p), render, console.WorstExitCode(o.LeastCode(), planCode(p)))
}

// planCode is the exit code of a plan. Where it is proved that not all can be placed, some are left waiting,
// whichever these are.
func planCode(p *explain.Plan) int {
	code := replayCode(&p.Replay)
	if code == console.ExitFailed && p.LeavesSome() && openAlone(&p.Replay) {
		return console.ExitNo
	}
	return code
}

// openAlone reports whether all pods that are left waiting are so of which it is not known.
func openAlone(r *explain.Replay) bool {
	return !slices.ContainsFunc(r.Pending, func(p explain.PendingPod) bool { return p.Verdict != explain.Unknown })
}

// replayCode is the exit code of what kube-scheduler does.
func replayCode(r *explain.Replay) int {
	code := console.ExitAnswered
	for i := range r.Pending {
		code = console.WorstExitCode(code, console.VerdictCode(r.Pending[i].Verdict))
	}
	if code == console.ExitAnswered && !r.Certain {
		return console.ExitFailed
	}
	return code
}

// pods are those that are to be placed.
func (o *planOptions) pods(ctx context.Context) (*askedPods, error) {
	if o.pending {
		return o.waiting(ctx)
	}
	snapshot, subjects, err := o.Read(ctx)
	if err != nil {
		return nil, err
	}
	a := &askedPods{snapshot: snapshot}
	for _, subject := range subjects {
		if !o.usedBy(subjects, subject) {
			a.add(subject, int(o.copies))
		}
	}
	if len(a.pods) > maxPlanned {
		return nil, console.Usagef("%d pods are more than can be placed at once: the limit is %d", len(a.pods), maxPlanned)
	}
	return a, nil
}

// maxPlanned is the number of pods up to which a plan takes seconds.
const maxPlanned = 20_000

// hasChoice reports whether kube-scheduler may choose among several nodes for a pod.
func hasChoice(p *explain.Plan) bool {
	return slices.ContainsFunc(p.Replay.Placed, func(p explain.PlacedPod) bool { return p.AnyOf > 1 })
}
