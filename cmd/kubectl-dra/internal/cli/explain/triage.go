package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/timebudget"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// explainTriage answers what is stuck in the cluster, of all kinds or of one, and what frees most of it.
func explainTriage(ctx context.Context, o *explainOptions, kind string, flags *pflag.FlagSet) error {
	about := triage.Options{Namespace: o.Reader.Connection.NamespaceFlag(), Kind: kind}
	if o.fix != "" || o.Node != "" && kind != inquiry.Pod.Kind {
		return console.Usagef("say what to explain: --fix and --node are about a claim, pod or template, as in explain claim NAME")
	}
	about.Question.Node, about.Untried = o.NodeName(), o.Node != ""
	if err := o.narrow.Complete(about.Namespace); err != nil {
		return err
	}
	about.Selector = o.narrow.Labels
	snapshot, err := o.Reader.Read(ctx, about.Namespace, append(live.PodResources(), live.KueueResources()...))
	if err != nil {
		return err
	}
	if err := o.Reader.CheckNamespace(ctx, snapshot); err != nil {
		return err
	}
	if err := o.checkAnybody(snapshot, about); err != nil {
		return err
	}
	if _, ok := snapshot.Node(o.NodeName()); o.Node != "" && !ok {
		return inquiry.NotFound(snapshot, inquiry.Node, "", o.Node)
	}
	starting, left := inquiry.StartingPods(snapshot)
	if about.Question.Events, err = inquiry.EventsOf(ctx, o.Reader, snapshot, starting); err != nil {
		return err
	}
	var budget timebudget.Budget
	about.Bound = func(ctx context.Context, ask func(context.Context) error) error {
		err := budget.Ask(ctx, ask)
		if errors.Is(err, timebudget.ErrTooLong) {
			return triage.ErrTooLong
		}
		return err
	}
	about.Explained = func(e *explain.Explanation) { remedy.Add(snapshot, e, o.askedAlone(e.Subject, flags)) }
	working, done := o.Thinking(ctx)
	t, err := triage.Of(working, scheduler.NewCluster(snapshot, scheduler.Options{}), about)
	done()
	if err != nil && t == nil {
		return err
	}
	for i := range t.Causes {
		for j := range t.Causes[i].Fixes {
			f := &t.Causes[i].Fixes[j]
			remedy.AddToAll(snapshot, f, o.askedAlone(f.Of, flags))
		}
	}
	if left > 0 && !o.Reader.Offline() {
		t.Partial = append(t.Partial, fmt.Sprintf("of %d more pods that are starting no Events were read", left))
	}
	answer := func() error {
		return o.Answer(explanations.NewTriage(t), console.InLines(func(opts text.Options) []styled.Line { return text.TriageLines(t, opts) }), triageCode(t))
	}
	if err != nil {
		return o.SoFar(answer)
	}
	return answer()
}

// checkAnybody says that nobody was asked about. Of labels, which may be mistyped, that is an error.
func (o *explainOptions) checkAnybody(s *inspect.Snapshot, about triage.Options) error {
	asked := func(object metav1.Object) bool {
		return (about.Namespace == "" || object.GetNamespace() == about.Namespace) &&
			(about.Selector == nil || about.Selector.Matches(labels.Set(object.GetLabels())))
	}
	for _, kind := range []inspect.Resource{inspect.Pods, inspect.Claims} {
		if slices.ContainsFunc(inspect.KindOf(kind).Objects(s.Objects()), asked) {
			return nil
		}
	}
	where := ""
	if about.Namespace != "" {
		where = fmt.Sprintf(" in namespace %q", about.Namespace)
	}
	if about.Selector != nil {
		return fmt.Errorf("no pod and no claim was found%s with the labels %s", where, about.Selector)
	}
	if where != "" {
		o.Note("no pod and no claim was found%s", where)
	}
	return nil
}

// triageCode is the exit code of a triage: no if something is known to be stuck, and otherwise a failure if
// that is not known of something.
func triageCode(t *explain.Triage) int {
	switch {
	case t.Stuck() > 0:
		return console.ExitNo
	case t.Undecided() > 0 || t.Unseen || t.Unsure || len(t.Binding) > 0:
		return console.ExitFailed
	}
	return console.ExitAnswered
}

// askedAlone is how a subject would be asked about by itself.
func (o *explainOptions) askedAlone(subject explain.Subject, flags *pflag.FlagSet) remedy.Asked {
	k := inquiry.Pod
	if subject.Kind != "Pod" {
		k = inquiry.Claim
	}
	asked := o.Reader.Asked(flags)
	asked.Args = append([]string{k.Names[0], subject.Name, "-n", subject.Namespace}, asked.Args...)
	return asked
}
