package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var planKinds = append([]kind{kindPod, kindTemplate}, ownerKinds()...)

// pendingWord asks about everything that waits.
const pendingWord = "pending"

const planLong = `Say what would happen: which of many pods find a node, which pods are evicted when
a node is drained, what makes room.

It gives two answers about the pods to be placed. One is what kube-scheduler
does: it takes one pod after the other in the order of its queue, and never goes
back. The other is the best that could be done: an order and nodes by which all
are placed, or a proof that there are none. Where the two differ, it names the
smallest change with which kube-scheduler succeeds whatever nodes it chooses.

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

// planFlags are the flags of kubectl dra plan.
type planFlags struct {
	question questionFlags
	narrow   triageFlags
	copies   copies
}

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

// planOptions are a checked question about many pods.
type planOptions struct {
	*questionOptions
	pending  bool
	selector labels.Selector
	// only is the namespace that pods are asked about in; "" is all.
	only   string
	copies int
}

// planArguments are what is offered for the arguments of commands about pods that are to be placed.
const planArguments = "`pending`; types of objects, then names; `TYPE/NAME`"

func newPlan(streams *streams, reader *reader, completer *completer) *cobra.Command {
	flags := &planFlags{}
	cmd := &cobra.Command{
		Use:     "plan (pending | TYPE NAME... | -l SELECTOR | -f FILE)",
		Short:   "Say what would happen: where many pods go, which are evicted, what makes room",
		Long:    planLong,
		Example: planExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := flags.toOptions(streams, reader, args)
			if err != nil {
				return whichKind(cmd.Context(), reader, planKinds, "plan", err)
			}
			return planPlacement(cmd.Context(), options)
		},
	}
	flags.addTo(cmd)
	completeArguments(cmd, planArguments, completer.typed(planKinds, pendingWord))
	cmd.AddCommand(
		newPlanDrain(streams, reader, completer), newPlanTaint(streams, reader),
		newPlanLose(streams, reader, completer), newPlanDelete(streams, reader, completer),
		streams.onlyReading(newPlanMakeRoom(streams, reader, completer)), streams.onlyReading(newPlanDefragment(streams, reader, completer)),
		streams.onlyReading(newPlanNodes(streams, reader, completer)),
	)
	return cmd
}

func (f *planFlags) addTo(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringArrayVarP(&f.question.files, "filename", "f", nil, "place the pods of this file, directory or - (stdin)")
	set.Var(&f.copies, "copies", "place this many pods of each template or pod; by default as many as a workload asks for")
	f.narrow.addTo(cmd)
	set.Lookup("all-namespaces").Usage = "with pending or -l: the pods of all namespaces, as without -n"
	set.Lookup("selector").Usage = "place the waiting pods that have these labels, as key=value,…"
	addOutputFlags(cmd, &f.question.output, &f.question.template, output.AnswerFormats)
	completeFiles(cmd, "filename")
}

func (f *planFlags) toOptions(streams *streams, reader *reader, args []string) (*planOptions, error) {
	o := &planOptions{copies: int(f.copies)}
	switch {
	case f.narrow.allNamespaces && reader.connection.namespaceFlag() != "":
		return nil, usagef("--namespace and --all-namespaces exclude each other")
	}
	if f.narrow.selector != "" {
		selector, err := labels.Parse(f.narrow.selector)
		if err != nil {
			return nil, usagef("--selector: %w", err)
		}
		o.selector = selector
	}
	o.pending = len(args) == 1 && args[0] == pendingWord || o.selector != nil && (len(args) == 0 || len(args) == 1 && slices.Contains(kindPod.names, args[0]))
	if o.pending {
		switch {
		case len(f.question.files) > 0:
			return nil, usagef("-f and names exclude each other")
		case f.copies > 0:
			return nil, usagef("--copies is of what is named or in a file; pods that wait are as many as they are")
		}
		args = nil
		o.only = reader.connection.namespaceFlag()
	} else if f.narrow.given() {
		return nil, usagef("--all-namespaces and --selector are about pods that wait: give them with pending, or without names")
	}
	if !o.pending && len(args)+len(f.question.files) == 0 {
		return nil, usagef("say what to place: pending, TYPE NAME, -l SELECTOR or -f FILE")
	}
	var err error
	if o.pending {
		o.questionOptions = &questionOptions{streams: streams, reader: reader, kinds: planKinds}
		if o.format, err = parseOutput(f.question.output, f.question.template, output.AnswerFormats); err != nil {
			return nil, err
		}
		o.namespace, err = reader.namespace()
		return o, err
	}
	o.questionOptions, err = f.question.toOptions(streams, reader, args, planKinds)
	return o, err
}

// planPlacement answers where many pods go.
func planPlacement(ctx context.Context, o *planOptions) error {
	a, err := o.pods(ctx)
	if err != nil {
		return err
	}
	choosing, err := o.choosing(ctx, a.snapshot, a.pods)
	if err != nil {
		return err
	}
	p, err := plan.Place(ctx, scheduler.NewCluster(a.snapshot, scheduler.Options{}), a.pods, plan.Options{
		Choosing: choosing, Others: a.others(), Within: o.only, Unseen: a.unseen,
	})
	if err != nil {
		return err
	}
	p.Basis.Remarks = append(p.Basis.Remarks, a.remarks...)
	if len(a.snapshot.Nodes()) > maxChosen && !o.reader.offline() && hasChoice(p) {
		p.Basis.Remarks = append(p.Basis.Remarks, fmt.Sprintf(
			"of more than %d nodes images and services are not read, by which kube-scheduler may prefer some of the nodes that are counted here", maxChosen))
	}
	return o.print(p)
}

func (o *planOptions) print(p *explain.Plan) error {
	render := func(w io.Writer, opts text.Options) error { return text.RenderPlan(w, p, opts) }
	return o.streams.answer(o.format, explanations.NewPlan(p), render, worstExitCode(o.leastCode(), planCode(p)))
}

// planCode is the exit code of a plan. Where it is proved that not all can be placed, some are left waiting, whichever these are.
func planCode(p *explain.Plan) int {
	code := replayCode(&p.Replay)
	if code == exitFailed && p.LeavesSome() && openAlone(&p.Replay) {
		return exitNo
	}
	return code
}

// openAlone reports whether all pods that are left waiting are so of which it is not known.
func openAlone(r *explain.Replay) bool {
	return !slices.ContainsFunc(r.Pending, func(p explain.PendingPod) bool { return p.Verdict != explain.Unknown })
}

// replayCode is the exit code of what kube-scheduler does.
func replayCode(r *explain.Replay) int {
	code := exitAnswered
	for i := range r.Pending {
		code = worstExitCode(code, verdictCode(r.Pending[i].Verdict))
	}
	if code == exitAnswered && !r.Certain {
		return exitFailed
	}
	return code
}

// pods are those that are to be placed.
func (o *planOptions) pods(ctx context.Context) (*askedPods, error) {
	if o.pending {
		return o.waiting(ctx)
	}
	snapshot, subjects, err := o.read(ctx)
	if err != nil {
		return nil, err
	}
	a := &askedPods{snapshot: snapshot}
	for _, subject := range subjects {
		if !o.usedBy(subjects, subject) {
			a.add(subject, o.copies)
		}
	}
	if len(a.pods) > maxPlanned {
		return nil, usagef("%d pods are more than can be placed at once: the limit is %d", len(a.pods), maxPlanned)
	}
	return a, nil
}

// maxPlanned is the number of pods up to which a plan takes seconds.
const maxPlanned = 20_000
