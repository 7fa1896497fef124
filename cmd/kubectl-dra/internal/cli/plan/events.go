package plan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/text/plans"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// eventExit tells the exit codes of all questions about events.
const eventExit = `

Exit codes: 0 all recreated pods find a node, 3 some are left waiting or are not
evicted, 1 that is not known (or the question could not be answered).`

// newPlanEvent makes a command about what becomes of pods by an event.
func newPlanEvent(streams *console.Streams, reader *sources.Reader, cmd *cobra.Command, run func(context.Context, *eventOptions, []string) error) *cobra.Command {
	o := &eventOptions{sources.Options{Streams: streams, Reader: reader}}
	cmd.Long += eventExit
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return run(cmd.Context(), o, args) }
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	return streams.OnlyReading(cmd)
}

// eventOptions are a question about an event.
type eventOptions struct{ sources.Options }

func newPlanDrain(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	selector := ""
	cmd := newPlanEvent(streams, reader, &cobra.Command{
		Use:   "drain (NODE... | -l SELECTOR)",
		Short: "Say which pods are evicted when nodes are drained, and where each fits again",
		Long: `Say which pods kubectl drain evicts from nodes, which claims release their
devices, and where kube-scheduler places the pods that are recreated, together
with all pods that wait already. PodDisruptionBudgets are respected: it is said
which evictions wait for which pods, and which are never granted. Several nodes
are drained together. A name may have * and ?, as in 'gpu-a-*'.`,
		Example: `  # What breaks when this node is drained?
  kubectl dra plan drain gpu-a-01

  # And when a whole zone is?
  kubectl dra plan drain -l topology.kubernetes.io/zone=eu-1a`,
	}, func(ctx context.Context, o *eventOptions, args []string) error {
		labelled, err := labels.Parse(selector)
		switch {
		case err != nil:
			return console.Usagef("--selector: %w", err)
		case len(args) > 0 && selector != "":
			return console.Usagef("--selector and names exclude each other")
		case len(args) == 0 && selector == "":
			return console.Usagef("name the nodes to drain, for example: kubectl dra plan drain gpu-a-01")
		}
		s, err := o.read(ctx)
		if err != nil {
			return err
		}
		nodes, err := nodesNamed(s, args)
		if selector != "" {
			nodes, err = nodesLabelled(s, labelled)
		}
		if err != nil {
			return err
		}
		return o.play(ctx, s, disruption.Drain(s, nodes...))
	})
	cmd.Flags().StringVarP(&selector, "selector", "l", "", "drain the nodes that have these labels, as key=value,…")
	console.CompleteArguments(cmd, "nodes", completer.Nodes)
	return cmd
}

func newPlanDelete(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	cmd := newPlanEvent(streams, reader, &cobra.Command{
		Use:   "delete NAMESPACE",
		Short: "Say what is deleted with a namespace, and which pods fit then",
		Long: `Say which pods and claims are deleted with a namespace, which devices become free,
and which waiting pods of other namespaces kube-scheduler then places.`,
		Example: `  # What would be free without this team?
  kubectl dra plan delete dev`,
	}, func(ctx context.Context, o *eventOptions, args []string) error {
		if len(args) != 1 {
			return console.Usagef("name the namespace, for example: kubectl dra plan delete dev")
		}
		s, err := o.read(ctx)
		if err != nil {
			return err
		}
		if known := namespacesIn(s); !slices.Contains(known, args[0]) {
			return fmt.Errorf("nothing was found in namespace %q%s", args[0], console.WhatExists(args[0], "", known, nil))
		}
		return o.play(ctx, s, disruption.DeleteNamespace(s, args[0]))
	})
	console.CompleteArguments(cmd, "namespaces", console.CompleteFirst(completer.Namespaces))
	return cmd
}

// namespacesIn are the namespaces in which there are pods, claims or templates, sorted.
func namespacesIn(s *inspect.Snapshot) []string {
	out := inquiry.NamespacesOf(s)
	for _, k := range []inquiry.Kind{inquiry.Claim, inquiry.Template} {
		for _, o := range inquiry.ObjectNames(s, k) {
			out = append(out, o.Namespace)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func newPlanTaint(streams *console.Streams, reader *sources.Reader) *cobra.Command {
	var files []string
	cmd := newPlanEvent(streams, reader, &cobra.Command{
		Use:   "taint -f FILE",
		Short: "Say which pods a DeviceTaintRule evicts and when, and where each fits again",
		Long: `Say which pods are evicted by DeviceTaintRules that do not exist yet, when, and
where kube-scheduler places those that are recreated, without the tainted devices.`,
		Example: `  # Before the maintenance
  kubectl dra plan taint -f maintenance.yaml`,
	}, func(ctx context.Context, o *eventOptions, args []string) error {
		if len(args) > 0 || len(files) == 0 {
			return console.Usagef("give the rules with -f")
		}
		given, err := reader.ReadManifests(ctx, files, "default", false)
		if err != nil {
			return err
		}
		if len(given.Objects.TaintRules) == 0 {
			return fmt.Errorf("there is no DeviceTaintRule in %s", console.CommaList(files))
		}
		s, err := o.read(ctx)
		if err != nil {
			return err
		}
		working, done := o.Thinking(ctx)
		a, err := disruption.PlayOut(working, scheduler.NewCluster(s, scheduler.Options{}), checkup.RulesEvent(s, given.Objects.TaintRules))
		done()
		if err != nil {
			return err
		}
		a.Remarks = append(a.Remarks, checkup.AgainEvicted(a, given.Objects.TaintRules)...)
		return o.print(a.Disruption)
	})
	cmd.Flags().StringArrayVarP(&files, "filename", "f", nil, "the DeviceTaintRules of this file, directory or - (stdin)")
	console.CompleteArguments(cmd, "nothing: it takes none", console.CompleteNothing)
	console.CompleteFiles(cmd, "filename")
	return cmd
}

// unreadChoice says what events choose nodes without.
const unreadChoice = "images and services are not read here, by which kube-scheduler may prefer some of the nodes that are counted"

// read reads the cluster.
func (o *eventOptions) read(ctx context.Context) (*inspect.Snapshot, error) {
	s, err := o.Reader.Read(ctx, "", live.PodResources())
	if err == nil && len(s.Nodes()) == 0 {
		err = errors.New("there are no nodes to ask about")
	}
	return s, err
}

// play says what becomes of the pods.
func (o *eventOptions) play(ctx context.Context, s *inspect.Snapshot, e *disruption.Event) error {
	working, done := o.Thinking(ctx)
	d, err := disruption.Play(working, scheduler.NewCluster(s, scheduler.Options{}), e)
	done()
	if err != nil {
		return err
	}
	return o.print(d)
}

// print prints what becomes of the pods.
func (o *eventOptions) print(d *explain.Disruption) error {
	code := disruptionCode(d)
	if !o.Reader.Offline() && slices.ContainsFunc(d.Replay.Placed, func(p explain.PlacedPod) bool { return p.AnyOf > 1 }) {
		d.Basis.Remarks = append(d.Basis.Remarks, unreadChoice)
	}
	render := console.InLines(func(opts text.Options) []styled.Line { return plans.DisruptionLines(d, opts) })
	return o.Answer(explanations.NewDisruption(d), render, code)
}

// disruptionCode is the exit code of what becomes of the pods.
func disruptionCode(d *explain.Disruption) int {
	code, back := console.ExitAnswered, false
	for i := range d.Losses {
		code = console.WorstExitCode(code, console.VerdictCode(d.Losses[i].Verdict))
	}
	for i := range d.Held {
		if d.Held[i].Open {
			code = console.ExitFailed
		}
		code = console.WorstExitCode(code, console.ExitNo)
	}
	for _, g := range slices.Concat(d.Gone, d.Replay.Preempted) {
		switch {
		case g.Then == explain.LeftWaiting && g.Pending != nil:
			code = console.WorstExitCode(code, console.VerdictCode(g.Pending.Verdict))
		case g.Then == explain.LeftWaiting:
			code = console.WorstExitCode(code, console.ExitFailed)
		case g.Then == explain.ComesBack:
			back = true
		}
	}
	if code == console.ExitFailed && d.LeavesSome && openAlone(&d.Replay) {
		return console.ExitNo
	}
	if code == console.ExitAnswered && (d.Unseen || d.Open || back && !d.Replay.Certain) {
		return console.ExitFailed // that some are left waiting for certain is a no, whatever else is not known
	}
	return code
}

// nodesLabelled are the nodes of a snapshot that have some labels.
func nodesLabelled(s *inspect.Snapshot, selector labels.Selector) ([]inspect.NodeName, error) {
	if s.NodesAssumed() {
		return nil, errors.New("no nodes were read, so their labels are not known: name the nodes instead")
	}
	nodes := words.Keep(s.Nodes(), func(node *corev1.Node) bool { return selector.Matches(labels.Set(node.Labels)) })
	if len(nodes) == 0 {
		return nil, fmt.Errorf("no node has the labels %s", selector)
	}
	return words.Each(nodes, func(node *corev1.Node) inspect.NodeName { return inspect.NodeName(node.Name) }), nil
}

// nodesNamed are the nodes of a snapshot that have some names, which may be patterns with * and ?, or several
// with commas between them. Names of nodes have none of these.
func nodesNamed(s *inspect.Snapshot, names []string) ([]inspect.NodeName, error) {
	all := words.Each(s.Nodes(), func(node *corev1.Node) string { return node.Name })
	var out []string
	for _, name := range strings.Split(strings.Join(names, ","), ",") {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "nodes/"), "node/")
		matching := inquiry.Matching(name, all)
		switch {
		case len(matching) > 0:
		case strings.ContainsAny(name, "*?"):
			return nil, fmt.Errorf("no node is called like %q", name)
		case slices.Contains(all, name):
			matching = []string{name}
		default:
			return nil, inquiry.NotFound(s, inquiry.Node, "", name)
		}
		out = words.AppendNew(out, matching...)
	}
	return words.Each(out, func(name string) inspect.NodeName { return inspect.NodeName(name) }), nil
}
