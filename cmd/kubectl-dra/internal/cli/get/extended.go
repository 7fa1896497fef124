package get

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/scheduler/extended"
)

// extendedResources lists the extended resources of the nodes. What is known of the snapshot before is used
// again.
func (o *getOptions) extendedResources(ctx context.Context, s *inspect.Snapshot, _ string) (*output.List, error) {
	o.cluster = scheduler.NewCluster(s, scheduler.Options{Like: o.cluster})
	survey, err := extended.All(ctx, o.cluster, s.Inventory())
	if err != nil {
		return nil, err
	}
	return output.ExtendedResources(s, survey), nil
}

// addTotals adds up the items that are shown.
func addTotals(_ context.Context, _ *inspect.Snapshot, list *output.List) error {
	list.AddTotals()
	return nil
}

// noteTotals says how much there is of each resource in all.
func (o *getOptions) noteTotals(list *output.List) {
	if !o.forPeople() {
		return
	}
	if list.Usage != nil && len(list.Items) > 0 {
		o.Note("%s", list.Usage.Message)
	}
	totals := words.Each(list.Totals, func(t output.ResourceTotal) string { return t.Name + ": " + t.Message })
	o.NoteSome(totals, sources.MaxWarnings, "%d more totals; -o json has them all")
}
