package explain

import (
	"context"
	"fmt"
	"io"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/replay"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// watchedKinds are the kinds whose verdicts can be followed.
var watchedKinds = []string{inquiry.Claim.Kind, inquiry.Pod.Kind, inquiry.Template.Kind}

// checkWatch refuses what cannot be followed.
func (o *explainOptions) checkWatch() error {
	switch {
	case len(o.Reader.From) > 0:
		return console.Usagef("--watch follows a cluster, or the living one of --demo; --from shows one moment")
	case len(o.Files) > 0 || slices.ContainsFunc(o.Asked, func(n inquiry.Named) bool { return !slices.Contains(watchedKinds, n.Kind.Kind) || n.Kind.Owner != nil }):
		return console.Usagef("--watch follows claims, pods and templates of the cluster, by their names")
	case o.Format.Name != "" && o.Format.Name != "json":
		return console.Usagef("--watch prints text, or with -o json a line of JSON for each verdict")
	}
	return nil
}

// watchVerdicts prints the answers, and each again when its verdict is another one, until ctx is done.
func (o *explainOptions) watchVerdicts(ctx context.Context) error {
	w := &verdictWatch{explainOptions: o, shown: map[explain.Subject]string{}}
	return o.Reader.Follow(ctx, o.Namespace, &sources.OutageWatch{Streams: o.Streams, Resources: o.Resources()}, nil, w.look)
}

// verdictWatch prints verdicts as they change.
type verdictWatch struct {
	*explainOptions
	cluster *scheduler.Cluster
	// shown is what was last said of each subject, in short; "" that it is gone.
	shown map[explain.Subject]string
	// begun: a snapshot was looked at; printed: something was printed of it.
	begun, printed bool
}

// look asks about one snapshot, and prints what has another verdict. Subjects that are not there are an error
// the first time.
func (w *verdictWatch) look(ctx context.Context, s *inspect.Snapshot) error {
	w.cluster = scheduler.NewCluster(s, scheduler.Options{Like: w.cluster})
	var subjects []metav1.Object
	for _, n := range w.Asked {
		object, ok := w.Object(s, n)
		if ok {
			subjects = append(subjects, object)
			continue
		}
		if !w.begun {
			return inquiry.NotFound(s, n.Kind, w.Namespace, n.Name)
		}
		subject := explain.Subject{Kind: n.Kind.Kind, Namespace: w.Namespace, Name: n.Name}
		if w.shown[subject] != "" {
			w.Note("%s %s is gone", n.Kind.Names[0], subject.FullName())
		}
		w.shown[subject] = ""
	}
	if _, ok := s.Node(w.NodeName()); w.Node != "" && !ok && !w.begun {
		return inquiry.NotFound(s, inquiry.Node, "", w.Node)
	}
	w.begun = true
	for _, subject := range subjects { // each for itself: what another one gets is no news of this one
		answers, err := question.Objects(ctx, w.cluster, []metav1.Object{subject}, question.Options{Node: w.NodeName()})
		if err != nil {
			return err
		}
		if w.Node == "" {
			if err := plan.Queue(ctx, w.cluster, answers, replay.Choosing{}); err != nil {
				return err
			}
		}
		if err := w.print(answers[0]); err != nil {
			return err
		}
	}
	return nil
}

// print prints an answer if its verdict is another one than before, or there are other devices or another
// number of nodes in it.
func (w *verdictWatch) print(e *explain.Explanation) error {
	said := fmt.Sprint(e.Verdict, e.Nodes)
	if e.Queue != nil {
		said += fmt.Sprint(" ", e.Queue.Verdict)
	}
	if e.Allocation != nil {
		for _, d := range e.Allocation.Devices {
			said += fmt.Sprint(" ", d.Request, d.ID)
		}
	}
	if w.shown[e.Subject] == said {
		return nil
	}
	w.shown[e.Subject] = said
	if w.Format.Name != "" {
		return output.PrintJSONLine(w.Out, explanations.NewExplanation(e))
	}
	if w.printed && !w.Quiet {
		if _, err := fmt.Fprintln(w.Out); err != nil {
			return err
		}
	}
	w.printed = true
	return w.Answer(nil, func(out io.Writer, opts text.Options) error { return text.Render(out, e, opts) }, console.ExitAnswered)
}
