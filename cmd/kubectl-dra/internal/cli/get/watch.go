package get

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// levelsPause is the time between two looks at what priority levels are doing, which no watch tells.
const levelsPause = 5 * time.Second

// watchCluster prints the view and then what changes in it, until ctx is done.
func (o *getOptions) watchCluster(ctx context.Context) error {
	var again <-chan time.Time
	if o.view.names[0] == priorityLevelsView {
		ticker := time.NewTicker(levelsPause)
		defer ticker.Stop()
		again = ticker.C
	}
	o.Remarks = &console.Remarks{}
	shown := &changes{getOptions: o}
	return o.Reader.Follow(ctx, o.namespace, &sources.OutageWatch{Streams: o.Streams, Resources: o.resources(), OnlyAgain: true}, again, shown.print)
}

// changes prints items as they change.
type changes struct {
	*getOptions
	items  map[string]output.Item // as they were printed; nil before the first time
	states []inspect.HealthState  // of the resources, at that time
	layout output.Layout
}

// print prints what differs from the last time. The error of the first time says that there is nothing to
// watch; later, what cannot be read stays as it was and a remark tells.
func (c *changes) print(ctx context.Context, s *inspect.Snapshot) error {
	c.Remarks.NextRound()
	first := c.items == nil
	if err := c.checkRequired(s); err != nil {
		if first {
			return err
		}
		c.Note("warning: %v; what is shown may be old", err)
		return nil
	}
	list, missing, err := c.rows(ctx, s)
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	if first && len(missing) > 0 {
		return errors.Join(missing...)
	}
	c.noteGone(s, list)
	c.keepChanged(list)
	if len(list.Items) == 0 {
		if first && c.forPeople() {
			return c.sayEmpty(ctx, s)
		}
		return nil
	}
	return c.Format.PrintStream(c.Out, list, output.TableOptions{
		NoHeaders: c.noHeaders, Namespace: c.namespace == "", Width: c.TableWidth(), Layout: &c.layout,
	})
}

// noteGone says which items are gone. When resources can be read further or less far than the last time,
// that need not be true of those that are missing; a remark on their health tells that.
func (c *changes) noteGone(s *inspect.Snapshot, list *output.List) {
	states := words.Each(c.resources(), func(r inspect.Resource) inspect.HealthState { return s.Health(r).State })
	same := slices.Equal(states, c.states)
	c.states = states
	if !same {
		return
	}
	left := maps.Clone(c.items)
	for _, item := range list.Items {
		delete(left, itemKey(item))
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if c.selector.Empty() {
			c.Note("%s %s is gone", c.view.singular, key)
		} else {
			c.Note("%s %s is gone, or has other labels", c.view.singular, key)
		}
	}
}

// keepChanged leaves the items in the list that are new or have changed, and remembers all.
func (c *changes) keepChanged(list *output.List) {
	before := c.items
	c.items = make(map[string]output.Item, len(list.Items))
	list.Keep(func(item output.Item) bool {
		key := itemKey(item)
		c.items[key] = item
		return before[key] == nil || output.Changed(before[key], item)
	})
}

func itemKey(item output.Item) string {
	m := item.Meta()
	if m.Namespace == "" {
		return m.Name
	}
	return m.Namespace + "/" + m.Name
}
