package cli

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// levelsPause is the time between two looks at what priority levels are doing, which no watch tells.
const levelsPause = 5 * time.Second

// watchCluster prints the view and then what changes in it, until ctx is done.
func (o *getOptions) watchCluster(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := o.updates(ctx)
	if err != nil {
		return err
	}
	o.stopWaiting = tellWaiting(ctx, o.streams, source)
	defer o.stopWaiting()
	var again <-chan time.Time
	if o.view.names[0] == priorityLevelsView {
		ticker := time.NewTicker(levelsPause)
		defer ticker.Stop()
		again = ticker.C
	}
	err = o.follow(ctx, source.Updates(), again)
	if failed, ok := source.(interface{ Err() error }); ok && err == nil {
		return failed.Err()
	}
	return err
}

// updates has the snapshots of the cluster, or of the life of the demo cluster, until ctx is done.
func (o *getOptions) updates(ctx context.Context) (tui.Source, error) {
	if o.reader.demo {
		snapshot, err := o.reader.read(ctx, o.namespace, o.resources())
		if err != nil {
			return nil, err
		}
		return demo.Live(ctx, demoSeed, snapshot.Features(), demo.Pace)
	}
	config, err := o.connection.restConfig()
	if err != nil {
		return nil, err
	}
	return live.Watch(ctx, config, live.Options{Namespace: o.namespace, Resources: o.resources(), Override: o.reader.applyFeatureFlag})
}

// follow prints the rows of the first snapshot, and of later ones those that changed; again has the newest
// snapshot looked at once more. Snapshots that come while one is being printed are passed over.
func (o *getOptions) follow(ctx context.Context, updates <-chan *inspect.Snapshot, again <-chan time.Time) error {
	o.streams.remarks = &remarks{}
	shown := &changes{getOptions: o}
	outage := outageWatch{streams: o.streams, resources: o.resources(), onlyAgain: true}
	var last *inspect.Snapshot
	for {
		select {
		case s, open := <-updates:
			if !open {
				return context.Cause(ctx)
			}
			if o.syncing(s) {
				continue // a list that is not whole yet would tell of free devices that are not
			}
			last = s
			outage.look(s)
			if o.stopWaiting != nil {
				o.stopWaiting()
			}
		case <-again:
			if last == nil {
				continue
			}
		}
		began := time.Now()
		if err := shown.print(ctx, last); err != nil {
			return err
		}
		// In a large cluster where something always changes, half of the time is for others.
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Since(began)):
		}
	}
}

// syncing reports whether something that the view is made of is still being read for the first time.
func (o *getOptions) syncing(s *inspect.Snapshot) bool {
	return slices.ContainsFunc(o.resources(), func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing })
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
	c.streams.remarks.nextRound()
	first := c.items == nil
	if err := c.checkRequired(s); err != nil {
		if first {
			return err
		}
		c.streams.note("warning: %v; what is shown may be old", err)
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
			c.sayEmpty(s)
		}
		return nil
	}
	return c.format.PrintStream(c.streams.Out, list, output.TableOptions{
		NoHeaders: c.noHeaders, Namespace: c.namespace == "", Width: c.streams.tableWidth(), Layout: &c.layout,
	})
}

// noteGone says which items are gone. When resources can be read further or less far than the last time,
// that need not be true of those that are missing; a remark on their health tells that.
func (c *changes) noteGone(s *inspect.Snapshot, list *output.List) {
	var states []inspect.HealthState
	for _, r := range c.resources() {
		states = append(states, s.Health(r).State)
	}
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
			c.streams.note("%s %s is gone", c.view.singular, key)
		} else {
			c.streams.note("%s %s is gone, or has other labels", c.view.singular, key)
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
