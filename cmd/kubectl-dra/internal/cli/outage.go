package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// outageWatch tells, for a command that follows a cluster, when it cannot, and when it can again.
type outageWatch struct {
	streams   *streams
	resources []inspect.Resource // that are followed
	onlyAgain bool               // what cannot be read is told by others
	begun     bool
	since     time.Time // when the first of the lost could not be read any more
	// lost are the resources that could be read once and now cannot, and readable those that can be.
	lost, readable []inspect.Resource
}

// look takes in the next snapshot. Until then is what cannot be read once it could be; from the beginning on it is for others to tell.
func (w *outageWatch) look(s *inspect.Snapshot) {
	var lost, readable []inspect.Resource
	for _, r := range w.resources {
		h := s.Health(r)
		switch unread := h.State == inspect.Broken || h.State == inspect.Forbidden; {
		case !unread && h.State != inspect.NotServed:
			readable = append(readable, r)
		case unread && w.begun && (slices.Contains(w.readable, r) || slices.Contains(w.lost, r)):
			lost = append(lost, r)
		}
	}
	switch {
	case len(lost) > 0 && len(w.lost) == 0:
		if w.since = s.Time(); w.onlyAgain {
			break
		}
		w.streams.note("warning: %s; what changes there meanwhile is not seen", healthText(lost[0], s.Health(lost[0])))
	case len(lost) == 0 && len(w.lost) > 0:
		w.streams.note("all is read again, after %s", words.Age(w.since, s.Time()))
	}
	w.begun, w.lost, w.readable = true, lost, readable
}

// total reports whether nothing can be read, as when the server is gone or refuses the credentials.
func (w *outageWatch) total() bool { return len(w.lost) > 0 && len(w.readable) == 0 }

// follow looks at the snapshots of a cluster, or of the life of the demo cluster, until ctx is done. again has the newest snapshot
// looked at once more.
func (r *reader) follow(ctx context.Context, namespace string, w *outageWatch, again <-chan time.Time, look func(context.Context, *inspect.Snapshot) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, err := r.updates(ctx, namespace, w.resources)
	if err != nil {
		return err
	}
	stopWaiting := tellWaiting(ctx, r.streams, source)
	defer stopWaiting()
	err = w.follow(ctx, source.Updates(), again, func(ctx context.Context, s *inspect.Snapshot) error {
		stopWaiting()
		return look(ctx, s)
	})
	return cmp.Or(err, failureOf(source))
}

// failureOf is why a source has ended, if it has failed.
func failureOf(source tui.Source) error {
	if s, ok := source.(interface{ Err() error }); ok {
		return s.Err()
	}
	return nil
}

// updates has the snapshots of a cluster, or of the life of the demo cluster, until ctx is done.
func (r *reader) updates(ctx context.Context, namespace string, resources []inspect.Resource) (tui.Source, error) {
	if r.demo {
		snapshot, err := r.readDemo()
		if err != nil {
			return nil, err
		}
		return demo.Live(ctx, demoSeed, snapshot.Features(), demo.Pace)
	}
	config, err := r.connection.restConfig()
	if err != nil {
		return nil, err
	}
	return live.Watch(ctx, config, live.Options{Namespace: namespace, Resources: resources, Override: r.applyFeatureFlag})
}

// follow looks at snapshots until there are no more of them. Those that come while one is being looked at are passed over, and so
// are those of which not all has been read yet: they would tell of free devices that are not.
func (w *outageWatch) follow(ctx context.Context, updates <-chan *inspect.Snapshot, again <-chan time.Time, look func(context.Context, *inspect.Snapshot) error) error {
	var last *inspect.Snapshot
	for {
		select {
		case s, open := <-updates:
			if !open {
				return context.Cause(ctx)
			}
			if slices.ContainsFunc(w.resources, func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing }) {
				continue
			}
			last = s
			w.look(s)
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

// demoSeed makes the demo cluster live the same life for everybody.
const demoSeed = 1
