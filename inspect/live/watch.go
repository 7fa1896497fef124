package live

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/programs"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/store"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/internal/turns"
)

const (
	// shortestPause is the time between two snapshots: there are at most ten a second.
	shortestPause = 100 * time.Millisecond
	// longestPause is how long a change waits at most to be seen.
	longestPause = time.Second
	// breath is the time between two snapshots as a multiple of what it takes to make one: following a large
	// cluster that never comes to rest takes this part of a core at most.
	breath = 8
	// remembered is how many of the last snapshots tell what it takes: the one that was made quickest. The
	// others had to wait for a processor.
	remembered = 4
	// patience is how long the first snapshot waits for all resources to be read.
	patience = time.Second
	// gatesPause is the time between two looks at the server's version and feature gates.
	gatesPause = 5 * time.Minute
)

// rhythm is how reading is repeated after it failed.
var rhythm = connection.Default

// breather is the pause of a reflector between attempts; how often the server is asked is the matter of the
// feed.
var breather = wait.Backoff{Duration: 10 * time.Millisecond}

// Watcher follows a cluster.
type Watcher struct {
	reader  *reader
	kinds   []wire.Kind
	began   time.Time
	updates chan *inspect.Snapshot
	dirty   chan struct{}
	asked   chan struct{} // closed when it is known what the server is
	stores  []*store.Store

	mu     sync.Mutex
	health map[inspect.Resource]inspect.Health
	about  serverVersion
	gates  metricGates
	// serverGates are the gates of the last snapshot, before those of the scheduler.
	serverGates inspect.Features
	found       programs.Found // of the scheduler
	failed      error
}

// Watch begins to follow the cluster that config points to, until ctx is done, or until the server turns out
// not to answer at all at the beginning; see Err. It does not wait for the server. Later on, whatever fails
// is tried again, less and less often, and is to be seen in the health of the snapshots. The error is that of
// wrong options. The Timeout of config bounds every request but watches. Options.Progress does not matter.
func Watch(ctx context.Context, config *rest.Config, opts Options) (*Watcher, error) {
	timeout := config.Timeout
	config = rest.CopyConfig(config)
	config.Timeout = 0 // it would end every watch
	r, kinds, err := newReader(config, opts)
	if err != nil {
		return nil, err
	}
	r.timeout, r.patience, r.retries = timeout, listTimeouts*timeout, 0 // a feed has a pace of its own
	// client-go reports to its log what is in the health as well; a log would spoil the screen.
	ctx, cancel := context.WithCancel(klog.NewContext(ctx, logr.Discard()))
	w := &Watcher{
		reader: r, kinds: kinds, began: time.Now(), updates: make(chan *inspect.Snapshot, 1), dirty: make(chan struct{}, 1),
		asked: make(chan struct{}), health: map[inspect.Resource]inspect.Health{},
	}
	r.lead = newHeadStart(opts.First)
	for _, k := range kinds {
		w.report(k.Resource, inspect.Health{State: inspect.Syncing, Message: fmt.Sprintf("%s are being read", k.Resource)})
	}
	var group sync.WaitGroup
	for _, k := range kinds {
		w.follow(ctx, k, &group)
	}
	group.Go(func() {
		if err := w.ask(ctx); err != nil {
			if ctx.Err() == nil {
				w.fail(err)
			}
			cancel()
			return
		}
		close(w.asked)
		w.mark()
		w.askAgain(ctx)
	})
	group.Go(func() { w.followScheduler(ctx) })
	go func() {
		defer cancel()
		w.publish(ctx)
		group.Wait()
		close(w.updates)
	}()
	return w, nil
}

func (w *Watcher) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = err
}

// Err returns a *ServerError when Updates was closed because the server could not be asked at the beginning,
// and nil when the context of Watch is done.
func (w *Watcher) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// Waiting tells what the first snapshot waits for: the server, since when, and what it was asked for and has
// not answered yet, or how that failed, in the order of the options.
func (w *Watcher) Waiting() (server string, since time.Time, what []string) {
	select {
	case <-w.asked:
	default:
		what = append(what, "the version of the server")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, k := range w.kinds {
		switch h := w.health[k.Resource]; h.State {
		case inspect.Syncing:
			what = append(what, k.Qualified())
		case inspect.Broken, inspect.Forbidden:
			what = append(what, h.Message)
		}
	}
	return w.reader.server, w.began, what
}

// Updates delivers the newest snapshot; one that nobody took is replaced by the next. The channel is closed
// when everything has ended after the context of Watch is done.
func (w *Watcher) Updates() <-chan *inspect.Snapshot { return w.updates }

// follow starts to fill a store.
func (w *Watcher) follow(ctx context.Context, k wire.Kind, group *sync.WaitGroup) {
	f := &feed{reader: w.reader, kind: k, report: func(h inspect.Health) { w.report(k.Resource, h) }, pace: connection.NewPace(rhythm)}
	s := store.New(k, f.filled, w.mark)
	f.size = s.Size
	w.stores = append(w.stores, s)
	source := inPages{&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, _ metav1.ListOptions) (runtime.Object, error) { return f.list(ctx) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return f.watch(ctx, o)
		},
	}}
	reflector := cache.NewReflectorWithOptions(source, nil, s, cache.ReflectorOptions{Name: string(k.Resource), TypeDescription: k.Qualified(), Backoff: &breather})
	group.Go(func() {
		// Not RunWithContext: it reports errors, which are in the health, to a handler that all clients
		// share.
		for {
			_ = reflector.ListAndWatchWithContext(ctx)
			if pause(ctx, breather.Duration, nil) != nil {
				return
			}
		}
	})
}

// inPages is a source of which a reflector first reads pages, and not one event after the other: that takes
// half of the processor time, and every server that has the resources at v1 answers pages from memory.
type inPages struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported keeps a reflector from asking for events.
func (inPages) IsWatchListSemanticsUnSupported() bool { return true }

// mark says that there is something new.
func (w *Watcher) mark() {
	select {
	case w.dirty <- struct{}{}:
	default:
	}
}

// report writes down the health of a resource.
func (w *Watcher) report(r inspect.Resource, h inspect.Health) {
	w.mu.Lock()
	old := w.health[r]
	h.Since = old.Since
	if old.State != h.State || h.Since.IsZero() {
		h.Since = time.Now()
	}
	changed := old.State != h.State || old.Message != h.Message || old.Version != h.Version
	w.health[r] = h
	w.mu.Unlock()
	if h.State != inspect.Syncing {
		w.reader.lead.arrived(r)
	}
	if changed {
		w.mark()
	}
}

// ask asks for the version of the server and its gates. The error is that of a server that does not answer.
func (w *Watcher) ask(ctx context.Context) error {
	var gates metricGates
	var both sync.WaitGroup
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	both.Go(func() { gates = w.reader.gates(asking) })
	about, err := w.reader.version(ctx)
	if err != nil {
		cancel()
	}
	both.Wait()
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("reading %s: %w", w.reader.server, context.Cause(ctx))
		}
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.about, w.gates = about, gates
	if w.serverGates.Minor == 0 {
		w.serverGates = features(about, gates, &inspect.Objects{})
	}
	return nil
}

// askAgain notices when a server comes back as another version, or with other gates. Without a version it
// asks sooner.
func (w *Watcher) askAgain(ctx context.Context) {
	for pace := connection.NewPace(rhythm); ; {
		length := gatesPause
		if w.knowsVersion() {
			pace.Succeeded()
		} else {
			pace.Failed(time.Now(), 0)
			length = pace.Wait(time.Now())
		}
		if pause(ctx, length, nil) != nil {
			return
		}
		if w.ask(ctx) == nil {
			w.mark()
		}
	}
}

func (w *Watcher) knowsVersion() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.about.git != ""
}

// publish makes snapshots of what is new, not more often than shortestPause.
func (w *Watcher) publish(ctx context.Context) {
	var objects inspect.Objects
	var last *inspect.Snapshot
	var took []time.Duration
	select {
	case <-ctx.Done():
		return
	case <-w.asked: // answers depend on the version
	}
	for revision := int64(1); ; {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
		}
		pause := shortestPause
		if revision > 1 || !w.syncing() || time.Since(w.began) >= patience {
			var start time.Time
			if turns.Do(ctx, func() { start, last = time.Now(), w.next(last, &objects, revision) }) != nil {
				return
			}
			w.put(last)
			revision++
			took = append(took[max(0, len(took)+1-remembered):], time.Since(start))
			pause = min(max(pause, breath*slices.Min(took)), longestPause)
		} else {
			time.AfterFunc(patience-time.Since(w.began), w.mark)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// next makes the snapshot after another one, which is nil before the first. objects are those of that one,
// and are brought up to date.
func (w *Watcher) next(last *inspect.Snapshot, objects *inspect.Objects, revision int64) *inspect.Snapshot {
	config := w.config(revision) // before the objects: what it calls read has to be there
	for _, s := range w.stores {
		s.Fill(objects)
	}
	config.Features = w.features(objects)
	if last == nil {
		return inspect.New(*objects, config)
	}
	return last.Next(*objects, config)
}

// put replaces the snapshot that waits to be taken. Nobody else writes to the channel.
func (w *Watcher) put(s *inspect.Snapshot) {
	select {
	case <-w.updates:
	default:
	}
	w.updates <- s
}

// followScheduler keeps what is known of how the scheduler of the cluster and Kueue run up to date.
func (w *Watcher) followScheduler(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-w.asked:
	}
	for asked := false; ; asked = true {
		again := time.After(gatesPause)
		if !asked {
			again = nil // until there is a scheduler
		}
		select {
		case <-ctx.Done():
			return
		case <-w.reader.programs.News():
		case <-again:
		}
		changes := w.reader.programs.Count()
		w.mu.Lock()
		f := w.serverGates
		w.mu.Unlock()
		found := w.reader.running(ctx, f)
		found.Changes = changes
		w.mu.Lock()
		if found.Config.Same(w.found.Config) {
			found.Config = w.found.Config // what follows from it stays true
		}
		if found.Kueue.Same(w.found.Kueue) {
			found.Kueue = w.found.Kueue
		}
		w.found = found
		w.mu.Unlock()
		w.mark()
	}
}

// syncing reports whether a resource, or the scheduler, has not been read for the first time.
func (w *Watcher) syncing() bool {
	changes := w.reader.programs.Count()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.found.Changes < changes {
		return true
	}
	for _, h := range w.health {
		if h.State == inspect.Syncing {
			return true
		}
	}
	return false
}

func (w *Watcher) config(revision int64) inspect.Config {
	w.mu.Lock()
	defer w.mu.Unlock()
	return inspect.Config{
		Revision: revision, Time: time.Now(),
		Health: maps.Clone(w.health), ServerVersion: w.about.release(), Scheduler: cmp.Or(w.reader.opts.Scheduler, w.found.Config),
		Kueue: cmp.Or(w.reader.opts.Kueue, w.found.Kueue),
	}
}

// features are those with which the objects are decided. The configuration of the scheduler, which depends on
// them, is read again when objects show others than before.
func (w *Watcher) features(objects *inspect.Objects) inspect.Features {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := features(w.about, w.gates, objects)
	if !slices.Equal(f.List(), w.serverGates.List()) {
		w.serverGates = f
		w.reader.programs.ReadAgain()
	}
	f = w.found.Features(f)
	if override := w.reader.opts.Override; override != nil {
		f = override(f)
	}
	return f
}
