package sources

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// OutageWatch tells, for a command that follows a cluster, when it cannot, and when it can again.
type OutageWatch struct {
	Streams   *console.Streams
	Resources []inspect.Resource // that are followed
	OnlyAgain bool               // what cannot be read is told by others
	begun     bool
	Since     time.Time // when the first of the lost could not be read any more
	// Lost are the resources that could be read once and now cannot, and readable those that can be.
	Lost, readable []inspect.Resource
}

// Look takes in the next snapshot. Until then is what cannot be read once it could be; from the beginning on
// it is for others to tell.
func (w *OutageWatch) Look(s *inspect.Snapshot) {
	var lost, readable []inspect.Resource
	for _, r := range w.Resources {
		h := s.Health(r)
		switch unread := h.State == inspect.Broken || h.State == inspect.Forbidden; {
		case !unread && h.State != inspect.NotServed:
			readable = append(readable, r)
		case unread && w.begun && (slices.Contains(w.readable, r) || slices.Contains(w.Lost, r)):
			lost = append(lost, r)
		}
	}
	switch {
	case len(lost) > 0 && len(w.Lost) == 0:
		if w.Since = s.Time(); w.OnlyAgain {
			break
		}
		w.Streams.Note("warning: %s; what changes there meanwhile is not seen", console.HealthText(lost[0], s.Health(lost[0])))
	case len(lost) == 0 && len(w.Lost) > 0:
		w.Streams.Note("all is read again, after %s", words.Age(w.Since, s.Time()))
	}
	w.begun, w.Lost, w.readable = true, lost, readable
}

// Total reports whether nothing can be read, as when the server is gone or refuses the credentials.
func (w *OutageWatch) Total() bool { return len(w.Lost) > 0 && len(w.readable) == 0 }

// Follow looks at the snapshots of a cluster, or of the life of the demo cluster, until ctx is done. again
// has the newest snapshot looked at once more.
func (r *Reader) Follow(ctx context.Context, namespace string, w *OutageWatch, again <-chan time.Time, look func(context.Context, *inspect.Snapshot) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := r.Updates(ctx, namespace, w.Resources)
	if err != nil {
		return err
	}
	stopWaiting := TellWaiting(ctx, r.Streams, source)
	defer stopWaiting()
	err = w.Follow(ctx, source.Updates(), again, func(ctx context.Context, s *inspect.Snapshot) error {
		stopWaiting()
		return look(ctx, s)
	})
	return cmp.Or(err, FailureOf(source))
}

// FailureOf is why a source has ended, if it has failed.
func FailureOf(source tui.Source) error {
	if s, ok := source.(interface{ Err() error }); ok {
		return s.Err()
	}
	return nil
}

// Updates has the snapshots of a cluster, or of the life of the demo cluster, until ctx is done. There is
// none before those resources are read that come first.
func (r *Reader) Updates(ctx context.Context, namespace string, resources []inspect.Resource, first ...inspect.Resource) (tui.Source, error) {
	if r.Demo {
		snapshot, err := r.ReadDemo()
		if err != nil {
			return nil, err
		}
		if r.scheduler != nil || r.kueue != nil {
			return nil, console.Usagef("the demo lives by the defaults of kube-scheduler and Kueue: --scheduler-config and --kueue-config cannot be used with it")
		}
		return demo.Live(ctx, DemoSeed, snapshot.Features(), demo.Pace)
	}
	config, err := r.Connection.RESTConfig()
	if err != nil {
		return nil, err
	}
	return live.Watch(ctx, config, live.Options{Namespace: namespace, Resources: resources, First: first, Override: r.ApplyFeatureFlag, Scheduler: r.scheduler, Kueue: r.kueue})
}

// Follow looks at snapshots until there are no more of them. Those that come while one is being looked at are
// passed over, and so are those of which not all has been read yet: they would tell of free devices that are
// not.
func (w *OutageWatch) Follow(ctx context.Context, updates <-chan *inspect.Snapshot, again <-chan time.Time, look func(context.Context, *inspect.Snapshot) error) error {
	var last *inspect.Snapshot
	for {
		select {
		case s, open := <-updates:
			if !open {
				return context.Cause(ctx)
			}
			if slices.ContainsFunc(w.Resources, func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing }) {
				continue
			}
			last = s
			w.Look(s)
		case <-again:
			if last == nil {
				continue
			}
		}
		began := time.Now()
		if err := look(ctx, last); err != nil {
			return err
		}
		select { // in a large cluster where something always changes, half of the time is for others
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Since(began)):
		}
	}
}

// DemoSeed makes the demo cluster live the same life for everybody.
const DemoSeed = 1
