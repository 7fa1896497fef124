package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// maxStarting is the number of pods that are starting of which Events are read.
const maxStarting = 30

// triageFlags are those of explain that only narrow what is stuck.
type triageFlags struct {
	allNamespaces bool
	selector      string
}

func (f *triageFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "without a name: what is stuck in all namespaces, as without -n")
	flags.StringVarP(&f.selector, "selector", "l", "", "without a name: only what has these labels, as key=value,…")
}

// given reports whether a flag was given that a question about names has no use for.
func (f *triageFlags) given() bool { return f.allNamespaces || f.selector != "" }

// triageOptions are a checked question about everything that is stuck.
type triageOptions struct {
	streams *streams
	reader  *reader
	triage  triage.Options
	format  output.Format
}

// toTriage checks the flags of a question without a name.
func (f *questionFlags) toTriage(streams *streams, reader *reader, narrow *triageFlags, fix string) (*triageOptions, error) {
	o := &triageOptions{streams: streams, reader: reader}
	var err error
	if o.format, err = parseOutput(f.output, f.template, output.AnswerFormats); err != nil {
		return nil, err
	}
	namespace := reader.connection.namespaceFlag()
	switch {
	case fix != "" || f.node != "":
		return nil, usagef("say what to explain: --fix and --node are about a claim, pod or template, as in explain claim NAME")
	case narrow.allNamespaces && namespace != "":
		return nil, usagef("--namespace and --all-namespaces exclude each other")
	}
	o.triage.Namespace = namespace
	if narrow.selector != "" {
		if o.triage.Selector, err = labels.Parse(narrow.selector); err != nil {
			return nil, usagef("--selector: %w", err)
		}
	}
	return o, nil
}

// explainTriage answers what is stuck in the cluster, and what frees most of it.
func explainTriage(ctx context.Context, o *triageOptions, flags *pflag.FlagSet) error {
	snapshot, err := o.reader.read(ctx, o.triage.Namespace, live.PodResources())
	if err != nil {
		return err
	}
	if err := o.reader.checkNamespace(ctx, snapshot); err != nil {
		return err
	}
	if err := o.checkAnybody(snapshot); err != nil {
		return err
	}
	starting, left := startingPods(snapshot)
	if o.triage.Question.Events, err = o.reader.eventsOf(ctx, snapshot, starting); err != nil {
		return err
	}
	var budget timebudget.Budget
	o.triage.Bound = func(ctx context.Context, ask func(context.Context) error) error {
		err := budget.Ask(ctx, ask)
		if errors.Is(err, timebudget.ErrTooLong) {
			return triage.ErrTooLong
		}
		return err
	}
	o.triage.Explained = func(e *explain.Explanation) { remedy.Add(snapshot, e, o.asked(e.Subject, flags)) }
	t, err := triage.Of(ctx, scheduler.NewCluster(snapshot, scheduler.Options{}), o.triage)
	if err != nil {
		return err
	}
	if left > 0 && !o.reader.offline() {
		t.Partial = append(t.Partial, fmt.Sprintf("of %d more pods that are starting no Events were read", left))
	}
	if o.format.Name != "" {
		err = o.format.PrintValue(o.streams.Out, explanations.NewTriage(t))
	} else {
		err = text.RenderTriage(o.streams.Out, t, text.Options{Width: o.streams.width(), Verbose: o.streams.verbosity > 0, Color: o.streams.useColor()})
	}
	if err != nil {
		return err
	}
	if code := triageCode(t); code != exitAnswered {
		return exitWith(code)
	}
	return nil
}

// checkAnybody says that nobody was asked about. Of labels, which may be mistyped, that is an error.
func (o *triageOptions) checkAnybody(s *inspect.Snapshot) error {
	asked := func(object metav1.Object) bool {
		return (o.triage.Namespace == "" || object.GetNamespace() == o.triage.Namespace) &&
			(o.triage.Selector == nil || o.triage.Selector.Matches(labels.Set(object.GetLabels())))
	}
	for _, kind := range []inspect.Resource{inspect.Pods, inspect.Claims} {
		if slices.ContainsFunc(inspect.KindOf(kind).Objects(s.Objects()), asked) {
			return nil
		}
	}
	where := ""
	if o.triage.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", o.triage.Namespace)
	}
	if o.triage.Selector != nil {
		return fmt.Errorf("no pod and no claim was found%s with the labels %s", where, o.triage.Selector)
	}
	if where != "" {
		o.streams.note("no pod and no claim was found%s", where)
	}
	return nil
}

// triageCode is the exit code of a triage: no if something is known to be stuck, and otherwise a failure if that is not known
// of something.
func triageCode(t *explain.Triage) int {
	switch {
	case t.Stuck() > 0:
		return exitNo
	case t.Undecided() > 0 || t.Unseen || t.Unsure || len(t.Binding) > 0:
		return exitFailed
	}
	return exitAnswered
}

// startingPods are pods that are on a node and have no running container yet, of which Events tell what is in the way. left is
// how many more there are.
func startingPods(s *inspect.Snapshot) (pods []metav1.Object, left int) {
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
			continue
		}
		if len(pods) == maxStarting {
			left++
			continue
		}
		pods = append(pods, pod)
	}
	return pods, left
}

// asked is how a subject would be asked about by itself.
func (o *triageOptions) asked(subject explain.Subject, flags *pflag.FlagSet) remedy.Asked {
	k := kindPod
	if subject.Kind != "Pod" {
		k = kindClaim
	}
	args := []string{k.names[0], subject.Name, "-n", subject.Namespace}
	args = append(args, givenFlags(flags, append([]string{"from", "demo", "features", "max-input"}, clusterFlags...))...)
	return remedy.Asked{Args: args, Flags: givenFlags(flags, clusterFlags), Once: slices.Contains(o.reader.from, "-"), Demo: o.reader.demo}
}
