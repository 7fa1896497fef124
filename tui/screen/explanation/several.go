package explanation

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/plan"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/tui/reading"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// NewSeveral makes the page for several objects, which are asked about together: what one of them gets, no
// other has.
func NewSeveral(refs []screen.Ref) screen.Screen {
	return reading.New(reading.Config[[]*explain.Explanation]{
		More: "every node, and what becomes of the devices on it",
		Ask: func(ctx context.Context, w *screen.World) ([]*explain.Explanation, error) {
			return together(ctx, w, refs)
		},
		Lines: func(answers []*explain.Explanation, o reading.Layout) []styled.Line {
			var lines []styled.Line
			for i, e := range answers {
				if i > 0 {
					lines = append(lines, nil)
				}
				lines = append(lines, text.Lines(e, options(o))...)
			}
			return lines
		},
	})
}

// together explains objects after each other, in the order in which the scheduler takes them.
func together(ctx context.Context, w *screen.World, refs []screen.Ref) ([]*explain.Explanation, error) {
	subjects := make([]metav1.Object, len(refs))
	for i, ref := range refs {
		if ref.Kind == screen.StorageCapacity {
			return nil, errors.New("storage is explained one capacity at a time")
		}
		object, _, ok := screen.Find(w, ref)
		if !ok {
			return nil, fmt.Errorf("%s %s is gone", ref.Kind, ref)
		}
		subjects[i] = object
	}
	answers, err := question.Objects(ctx, w.Cluster(), subjects, w.Question())
	if err != nil {
		return nil, err
	}
	return answers, plan.Queue(ctx, w.Cluster(), answers, cycle.Choosing{})
}
