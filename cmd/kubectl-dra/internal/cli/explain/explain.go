package explain

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var explainKinds = append([]inquiry.Kind{inquiry.Claim, inquiry.Pod, inquiry.Template, inquiry.VolumeClaim}, inquiry.OwnerKinds()...)

// explainLong is the help of explain.
const explainLong = `Say why a claim is, can be or cannot be allocated, or why a pod is, can be or
cannot be scheduled: node by node and device by device, decided exactly as the
Kubernetes scheduler decides it. If the answer is no, it also says what to
change; every fix was tried.

TYPE is claim, pod, template or pvc; or job, deployment, statefulset, daemonset,
replicaset, cronjob, podgroup or any other type with pods. For one of the
latter the question is about its pods that wait for a node; if none waits, about
all its pods; and if it has none, about a pod that it would create.

With -f the question is about the claims, templates and pods in a file, which
need not exist in the cluster. For a Deployment, a Job or anything else with a
pod template it is about one of its pods.

Names may be patterns with * and ?, and have commas between them. With several
names, each is answered as if those before it had got their devices, so that no
device is counted twice.

Where Kueue holds back a job or a pod, both are decided: whether its queue admits
it, and whether all its pods would find devices then. It says who holds the quota,
how much more is needed and who is in front. queue NAME tells of a LocalQueue or a
ClusterQueue: what it has, lends and borrows, who holds it, and who waits.

For a volume claim (pvc) it says on which nodes its volume can be. For each node
it names the object that decides, and how much capacity is missing.

A pod that waits is also played in the scheduler's queue, with all others that
wait: the answer is yes only if it finds a node behind those before it.

Without a name it lists what is stuck in the whole cluster, or with -n in a
namespace, and with pods or claims alone only these, grouped by cause, the worst
cause first, with the changes that unblock most. Each change was tried: with it
made, everything that waits is scheduled again in the order of the scheduler's
queue.

With node and the name of a node it lists the pods that are stuck, by why that
node refuses them.

Fixes are numbered. --fix N shows the commands that carry out one of them, and
with -o yaml prints the objects that it changes, ready to be applied; with -f,
the changed file.

With --since and a log of kubectl dra record it says when a claim or pod stopped
fitting, and the smallest change that did it.

Exit codes: 0 it is or can be allocated (or nothing is stuck), 3 it cannot be, 1
the scheduler itself gives up with an error (or the question could not be
answered).`

// explainExample shows how explain is used.
const explainExample = `  # What is stuck in the cluster, and what unblocks most of it?
  kubectl dra explain

  # Why is the claim pending?
  kubectl dra explain claim train-0 -n ml

  # Why do the pods of a Deployment not start?
  kubectl dra explain deployment/chat-7b -n infer

  # Why does a queue of Kueue not admit the first job?
  kubectl dra explain queue main -n ml

  # Would a claim fit that is not created yet?
  kubectl dra explain -f claim.yaml

  # Why does a volume fit nowhere?
  kubectl dra explain pvc checkpoints -n ml

  # How is the first of the fixes carried out?
  kubectl dra explain claim train-0 -n ml --fix 1

  # Since when does it not fit, and why?
  kubectl dra explain claim train-0 -n ml --from cluster.log --since

  # On one node only, for a script
  kubectl dra explain pod train-0 -n ml --node gpu-a-01 -o jsonpath='{.verdict}'`

// explainOptions are what explain is asked.
type explainOptions struct {
	*inquiry.Options
	narrow inquiry.Narrowing
	fix    string
	since  bool
}

// New returns the command explain with its subcommands.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &explainOptions{Options: inquiry.New(streams, reader, explainKinds)}
	o.Queues = true
	cmd := &cobra.Command{
		Use:     "explain [TYPE NAME... | TYPE/NAME... | pods | claims | -f FILE]",
		Short:   "Say why a claim, pod or template is, can be or cannot be allocated, where a volume can be, or what is stuck",
		Long:    explainLong,
		Example: explainExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asksForQueues(args) {
				return explainQueues(cmd.Context(), o, args)
			}
			kind, all, err := stuckKind(args)
			if err != nil {
				return err
			}
			if all && len(o.Files) == 0 {
				args = nil
			}
			if name, is := nodeNamed(args); is && len(o.Files) == 0 {
				if name == "" {
					return console.Usagef("%s needs a name", args[0])
				}
				o.Node, args, kind = name, nil, inquiry.Pod.Kind
			}
			if err := o.check(args); err != nil {
				return err
			}
			if len(args)+len(o.Files) == 0 {
				return explainTriage(cmd.Context(), o, kind, cmd.Flags())
			}
			if err = o.Complete(args); err == nil {
				err = o.run(cmd)
			}
			return inquiry.WhichKind(cmd.Context(), reader, explainKinds, "explain", err)
		},
	}
	cmd.Flags().StringVar(&o.fix, "fix", "", "show only this fix of the answer, by its number; with -o yaml|json print the objects that it changes")
	cmd.Flags().BoolVar(&o.since, "since", false, "say when it stopped fitting, and by which change; with --from LOG")
	o.narrow.AddTo(cmd)
	o.AddTo(cmd, completer, "ask about the claims, templates and pods in this file, directory or - (stdin)")
	console.CompleteArguments(cmd, "types of objects, then names; `TYPE/NAME`", completer.Typed(explainKinds))
	cmd.AddCommand(streams.OnlyReading(newExplainRequest(streams, reader)), streams.OnlyReading(newExplainLevel(streams, reader, completer)))
	return cmd
}

// stuckKind is the kind of which arguments ask for all objects that are stuck: its plural alone. After a
// singular, a name may be missing by mistake, which is an error.
func stuckKind(args []string) (string, bool, error) {
	if len(args) != 1 || strings.Contains(args[0], "/") {
		return "", false, nil
	}
	for _, k := range []inquiry.Kind{inquiry.Pod, inquiry.Claim} {
		switch {
		case !k.HasName(args[0]):
		case strings.HasSuffix(inquiry.PlainType(args[0]), "s"):
			return k.Kind, true, nil
		default:
			return "", false, console.Usagef("%s needs a name; pods and claims alone tell of all that are stuck", args[0])
		}
	}
	return "", false, nil
}

// nodeNamed is the node that arguments name, and whether they are about one node. A node is not scheduled:
// what is asked is why it refuses what waits.
func nodeNamed(args []string) (name string, is bool) {
	if len(args) == 0 || len(args) > 2 {
		return "", false
	}
	word, name, joined := strings.Cut(args[0], "/")
	if len(args) == 2 && !joined {
		name = args[1]
	}
	return name, inquiry.Node.HasName(word) && (len(args) == 1 || !joined)
}

// check refuses flags that do not go together.
func (o *explainOptions) check(args []string) error {
	switch {
	case o.since && len(args) == 0:
		return console.Usagef("--since is about one claim or pod of a log: explain claim NAME --from LOG --since")
	case len(args)+len(o.Files) == 0: // about what is stuck
	case o.narrow.Given():
		return console.Usagef("--all-namespaces and --selector narrow what is stuck: give them without a name or -f")
	case o.since && o.fix != "":
		return console.Usagef("--fix and --since exclude each other")
	}
	return nil
}

// run answers a question about named objects, or those of files.
func (o *explainOptions) run(cmd *cobra.Command) error {
	if o.since {
		return explainSince(cmd.Context(), o)
	}
	volumes, err := o.volumeClaims()
	if err != nil {
		return err
	}
	choice, err := o.parseFix(o.fix)
	switch {
	case err != nil:
		return err
	case len(volumes) > 0:
		return explainVolumeClaims(cmd.Context(), o, volumes)
	}
	return explainAll(cmd.Context(), o, cmd.Flags(), choice)
}

func explainAll(ctx context.Context, o *explainOptions, flags *pflag.FlagSet, choice *fixChoice) error {
	if o.Format.Name != "" {
		o.keepInput()
	}
	snapshot, answers, err := o.explain(ctx, flags)
	if err != nil {
		return err
	}
	if choice != nil {
		return printFix(ctx, o, choice, snapshot, answers)
	}
	return printExplanations(o, answers)
}

// explain answers the question.
func (o *explainOptions) explain(ctx context.Context, flags *pflag.FlagSet) (*inspect.Snapshot, []*explain.Explanation, error) {
	snapshot, subjects, err := o.Read(ctx)
	if err != nil {
		return nil, nil, err
	}
	events, err := inquiry.EventsOf(ctx, o.Reader, snapshot, subjects)
	if err != nil {
		return nil, nil, err
	}
	cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
	ask := func(by replay.Choosing) ([]*explain.Explanation, error) {
		ctx, done := o.Thinking(ctx)
		defer done()
		opts := question.Options{Node: o.NodeName(), Events: events, Choosing: by}
		return admission.Objects(ctx, cluster, subjects, admission.Options{Question: opts, Given: len(o.Files) > 0})
	}
	answers, err := ask(replay.Choosing{})
	if err == nil && o.Node == "" && dependsOnChoice(answers) {
		answers, err = o.askByScores(ctx, snapshot, subjects, answers, ask)
	}
	if err != nil {
		return nil, nil, err
	}
	o.fitPatches(answers)
	asked := o.again(flags, answers)
	for _, e := range answers {
		remedy.Add(snapshot, e, asked)
	}
	return snapshot, answers, nil
}

// printExplanations prints the answers and turns the worst of them into the exit code.
func printExplanations(o *explainOptions, answers []*explain.Explanation) error {
	code := o.LeastCode()
	for _, e := range answers {
		code = console.WorstExitCode(code, answerCode(e))
	}
	value := explanations.Explanations(answers)
	if o.Quiet { // also of those that are alike
		return sources.AnswerEach(&o.Options.Options, value, answers, func(w io.Writer, opts text.Options, e *explain.Explanation) error { return text.Render(w, e, opts) }, code)
	}
	return o.Answer(value, func(w io.Writer, opts text.Options) error { return text.RenderAll(w, answers, opts) }, code)
}

// answerCode is the exit code of an answer: what has its devices and does not run is no yes.
func answerCode(e *explain.Explanation) int {
	code := console.VerdictCode(e.Verdict)
	if e.Queue != nil {
		code = console.WorstExitCode(code, console.VerdictCode(e.Queue.Verdict))
	}
	if e.Lifecycle != nil && e.Lifecycle.Outcome == explain.Failing {
		code = console.WorstExitCode(code, console.ExitNo)
	}
	return code
}

// dependsOnChoice reports whether it may be known of some pods what becomes of them once it is what nodes are
// chosen by.
func dependsOnChoice(answers []*explain.Explanation) bool {
	return slices.ContainsFunc(answers, func(e *explain.Explanation) bool {
		return e.Subject.Kind == "Pod" && (e.Verdict == explain.Unknown || e.Queue != nil && e.Queue.Verdict == explain.Unknown)
	})
}

// askByScores asks again with what kube-scheduler chooses nodes by, if that can be read.
func (o *explainOptions) askByScores(
	ctx context.Context, s *inspect.Snapshot, subjects []metav1.Object, known []*explain.Explanation,
	ask func(replay.Choosing) ([]*explain.Explanation, error),
) ([]*explain.Explanation, error) {
	pods, _ := plan.Waiting(s, func(*corev1.Pod) bool { return true }) // also those before them in the queue
	for _, subject := range subjects {
		if pod, ok := subject.(*corev1.Pod); ok {
			pods = append(pods, pod)
		}
	}
	by, _, err := o.Choosing(ctx, s, pods)
	if err != nil || by.Images == nil && by.Workloads == nil {
		return known, ctx.Err() //nolint:wrapcheck // what cannot be read leaves the answers as they are
	}
	return ask(by)
}
