package explanation

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// NewSeveral makes the page for several objects, which are asked about together: what one of them gets, no
// other has.
func NewSeveral(refs []screen.Ref) screen.Screen {
	return reading.New(reading.Config[[]*explain.Explanation]{
		More: "every node, and what becomes of the devices on it",
		Ask: func(ctx context.Context, w *screen.World) ([]*explain.Explanation, error) {
			return together(ctx, w, refs, w.Question())
		},
		Lines: func(answers []*explain.Explanation, o reading.Layout) []styled.Line {
			return lines(answers, o.Options())
		},
	})
}

func lines(answers []*explain.Explanation, o text.Options) []styled.Line {
	var lines []styled.Line
	for i, e := range answers {
		if i > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, text.Lines(e, o)...)
	}
	return lines
}

// together explains objects after each other, in the order in which the scheduler takes them. Of a workload
// of Kueue there is an answer for each set of pods.
func together(ctx context.Context, w *screen.World, refs []screen.Ref, opts question.Options) ([]*explain.Explanation, error) {
	var subjects []metav1.Object
	for _, ref := range refs {
		if ref.Kind == screen.StorageCapacity || ref.Kind == screen.ClusterQueue {
			return nil, fmt.Errorf("a %s is explained alone", ref.Kind)
		}
		object, _, ok := screen.Find(w, ref)
		if !ok {
			return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
		}
		workload, ok := object.(*kueuev1beta2.Workload)
		if !ok {
			subjects = append(subjects, object)
			continue
		}
		sets, err := manifest.Queued([]*kueuev1beta2.Workload{workload})
		if err != nil {
			return nil, err //nolint:wrapcheck // it says what it is about
		}
		for _, set := range sets {
			subjects = append(subjects, set)
		}
	}
	return admission.Objects(ctx, w.Cluster(), subjects, admission.Options{Question: opts}) //nolint:wrapcheck // it says what was asked
}
