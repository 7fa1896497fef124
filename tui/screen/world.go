package screen

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// World is all that screens share: the newest snapshot, what follows from it, and how to show it. The root
// makes a new one for every change and never writes to one that it has handed out.
type World struct {
	// Version grows with every World whose objects differ from the one before: a newer snapshot, or
	// another supposition.
	Version int
	// Snapshot is what screens show, with everything that is supposed. It is nil until the first one arrives.
	Snapshot *inspect.Snapshot
	// Supposed are the changes under which Snapshot differs from the cluster. When there are any, answers
	// are hypothetical and must be marked so.
	Supposed []Change
	// Actual is the world without suppositions, to compare with. It is nil while nothing is supposed.
	Actual *World
	// Namespace is the only namespace whose objects are shown. If it is empty, all are.
	Namespace string
	Theme     *theme.Theme
	// Owners are the colours that the user wants owners of devices, and namespaces, to have, by their names.
	Owners map[string]styled.Role
	// Now is the time that ages are measured by: for files that of the snapshot, otherwise that of the clock.
	Now time.Time
	// Idle says that nobody has pressed a key for a while. Whoever does so is sent a Changed.
	Idle bool
	// Asked is how the cluster was asked about, for commands that are shown. Its Args are flags only.
	Asked remedy.Asked
	// History is what was seen to happen; it may be nil.
	History *History
	// Events reads the Events of some objects. It waits for a server, so only Jobs that Await may call it. It
	// is nil if there is nothing to ask.
	Events func(ctx context.Context, objects []inspect.ObjectRef) (inspect.Events, error)
	// Logs reads the last lines that a container of a pod has written. They are not safe to show. It waits
	// for a server as Events does, and may be nil as well.
	Logs func(ctx context.Context, namespace, pod, container string, lines int) (string, error)

	ctx     context.Context //nolint:containedctx // screens start work that ends with the program, and have no other way to know
	derived *derived
	// clock is Now, in nanoseconds, of all worlds that follow from the same one.
	clock *atomic.Int64
}

// derived is what many screens need of a snapshot and what costs time, computed once, when first asked for.
type derived struct {
	cluster func() *scheduler.Cluster
	built   atomic.Pointer[generation]
	// like is the newest cluster that was built before this one. It is nil at the beginning.
	like      *generation
	inventory func() *inspect.Inventory
}

// generation is a cluster that has what it knows of expressions and devices from others before it. With that
// it keeps slices in memory which are gone: so many, among all those before it.
type generation struct {
	cluster *scheduler.Cluster
	retired int
}

// after returns the generation of the next snapshot. One that would keep a quarter as many slices that are
// gone as there are begins without knowledge.
func (g *generation) after(s *inspect.Snapshot) *generation {
	next := &generation{}
	options := scheduler.Options{}
	if g != nil {
		now := s.Objects().Slices
		next.retired = g.retired + replaced(g.cluster.Snapshot().Objects().Slices, now)
		if next.retired <= max(len(now)/4, fewSlices) {
			options.Like = g.cluster
		} else {
			next.retired = 0
		}
	}
	next.cluster = scheduler.NewCluster(s, options)
	return next
}

// fewSlices are no burden, however many of them are gone.
const fewSlices = 100

// replaced counts the slices that are not among those after them; both are sorted by name.
func replaced(before, after []*resourcev1.ResourceSlice) int {
	n := 0
	for _, slice := range before {
		for len(after) > 0 && after[0].Name < slice.Name {
			after = after[1:]
		}
		if len(after) == 0 || after[0] != slice {
			n++
		}
	}
	return n
}

// NewWorld makes a World of a snapshot, which may be nil. Work that screens start ends with ctx.
func NewWorld(ctx context.Context, version int, s *inspect.Snapshot) *World {
	w := newWorld(ctx, version, s, nil)
	w.clock = &atomic.Int64{}
	if s != nil && !s.Time().IsZero() {
		w.clock.Store(s.Time().UnixNano())
	}
	return w
}

// Next makes the World that follows this one, with another snapshot. It looks as this one does.
func (w *World) Next(version int, s *inspect.Snapshot) *World {
	like := w.derived.built.Load()
	if like == nil {
		like = w.derived.like
	}
	next := newWorld(w.ctx, version, s, like)
	next.Owners = w.Owners
	next.Namespace, next.Theme, next.Now, next.Asked, next.History, next.Events, next.Logs, next.clock = w.Namespace, w.Theme, w.Now, w.Asked, w.History, w.Events, w.Logs, w.clock
	return next
}

func newWorld(ctx context.Context, version int, s *inspect.Snapshot, like *generation) *World {
	d := &derived{like: like}
	d.inventory = sync.OnceValue(func() *inspect.Inventory { return s.Inventory() })
	d.cluster = sync.OnceValue(func() *scheduler.Cluster {
		g := like.after(s)
		d.built.Store(g)
		return g.cluster
	})
	return &World{Version: version, Snapshot: s, ctx: ctx, derived: d}
}

// Context ends with the program.
func (w *World) Context() context.Context { return w.ctx }

// Cluster is the index of the snapshot that answers questions. It takes time when it is first asked for:
// only Jobs may call it, and only when there is a Snapshot. Like the methods below it may be called by
// several goroutines at once.
func (w *World) Cluster() *scheduler.Cluster { return w.derived.cluster() }

// Question are the options of questions about the snapshot.
func (w *World) Question() question.Options {
	return question.Options{Hypothetical: len(w.Supposed) > 0, Released: w.Released}
}

// AskedAbout is how an object would be asked about by a command.
func (w *World) AskedAbout(ref Ref) remedy.Asked {
	out := w.Asked
	out.Args = slices.Concat([]string{ref.Kind.Word(), ref.Name, "-n", ref.Namespace}, w.Asked.Args)
	return out
}

// Released reports whether a claim holds devices, and as is supposed would not, nor would a pod wait for it.
func (w *World) Released(ref inspect.ClaimRef) bool {
	if len(w.Supposed) == 0 || w.Actual == nil {
		return false
	}
	now, ok := w.Snapshot.Claim(ref)
	was, there := w.Actual.Snapshot.Claim(ref)
	return ok && there && now.Status.Allocation == nil && was.Status.Allocation != nil && len(w.Snapshot.PodsOf(ref)) == 0
}

// AsItIs is the snapshot of the cluster with nothing supposed.
func (w *World) AsItIs() *inspect.Snapshot {
	if w.Actual != nil {
		return w.Actual.Snapshot
	}
	return w.Snapshot
}

// Inventory is what there is in the snapshot and what can be had of it. Only Jobs may call it; it is shared.
func (w *World) Inventory() *inspect.Inventory { return w.derived.inventory() }

// Devices are those of the snapshot. Only Jobs may call it; the slice is shared.
func (w *World) Devices() []inspect.DeviceStatus { return w.Inventory().Devices() }

// Nodes are the states of the nodes of the snapshot. Only Jobs may call it; the slice is shared.
func (w *World) Nodes() []inspect.NodeStatus { return w.Inventory().Nodes }

// InNamespace reports whether an object of the namespace is to be shown.
func (w *World) InNamespace(namespace string) bool {
	return w.Namespace == "" || w.Namespace == namespace
}
