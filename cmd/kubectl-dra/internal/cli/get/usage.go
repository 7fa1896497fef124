package get

import (
	"context"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	use "github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

const usageView = "usage"

// usageGroupings are the values of --by.
func usageGroupings() []string {
	return words.Strings(append(slices.Clone(use.Groupings()), use.Queue, use.Cohort))
}

// groupingOf reads the value of --by.
func groupingOf(text string, v view) (use.By, error) {
	switch {
	case text == "":
		return use.Namespace, nil
	case v.names[0] != usageView:
		return "", console.Usagef("--by is for %s only", usageView)
	case !slices.Contains(usageGroupings(), text):
		return "", console.Usagef("unknown --by %q%s; there are %s", text, console.DidYouMean(text, usageGroupings()), console.CommaList(usageGroupings()))
	}
	return use.By(text), nil
}

// usage lists who uses how much, of the claims of a namespace that the selector selects.
func (o *getOptions) usage(_ context.Context, s *inspect.Snapshot, namespace string) (*output.List, error) {
	var counts func(*resourcev1.ResourceClaim) bool
	if namespace != "" || !o.selector.Empty() {
		counts = func(claim *resourcev1.ResourceClaim) bool {
			return (namespace == "" || claim.Namespace == namespace) && o.selector.Matches(labels.Set(claim.Labels))
		}
	}
	if byQueue(o.by) {
		u := admission.UsageOf(s, s.Inventory(), o.by, counts)
		for _, doubt := range u.Partial {
			o.Note("%s", doubt)
		}
		return output.QueueUsageOf(s, u), nil
	}
	return output.UsageOf(s, use.Of(s, s.Inventory(), o.by, counts)), nil
}

func byQueue(by use.By) bool { return by == use.Queue || by == use.Cohort }
