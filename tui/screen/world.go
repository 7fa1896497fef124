package screen

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/theme"
)

// World is all that screens share: the newest snapshot, what follows from it, and how to show it. The root
// makes a new one for every change and never writes to one that it has handed out.
type World struct {
	// Version grows with every World whose objects differ from the one before: a newer snapshot, or
	// another supposition.
	Version int
	// Snapshot is what screens show, with everything that is supposed; nil until the first one arrives.
	Snapshot *inspect.Snapshot
	// Supposed are the changes under which Snapshot differs from the cluster. When there are any, answers
	// are hypothetical and must be marked so.
	Supposed []Change
	// Namespace narrows what has a namespace; "" is all.
	Namespace string
	Theme     *theme.Theme
	// Now is the time to measure ages by: that of the snapshot for files, else the clock's.
	Now time.Time
	// History is what was seen to happen; it may be nil.
	History *History

	ctx     context.Context //nolint:containedctx // screens start work that ends with the program, and have no other way to know
	derived *derived
}

// derived is what many screens need of a snapshot and what costs time, computed once, when first asked for.
type derived struct {
	cluster func() *allocator.Cluster
	devices func() []inspect.DeviceStatus
	nodes   func() []inspect.NodeStatus
}

// NewWorld makes a World of a snapshot, which may be nil. Work that screens start ends with ctx.
func NewWorld(ctx context.Context, version int, s *inspect.Snapshot) *World {
	return &World{
		Version: version, Snapshot: s, ctx: ctx,
		derived: &derived{
			cluster: sync.OnceValue(func() *allocator.Cluster { return allocator.NewCluster(s, allocator.Options{}) }),
			devices: sync.OnceValue(func() []inspect.DeviceStatus { return s.Devices() }),
			nodes:   sync.OnceValue(func() []inspect.NodeStatus { return s.NodeStatuses() }),
		},
	}
}

// Context ends with the program.
func (w *World) Context() context.Context { return w.ctx }

// Cluster is the index of the snapshot that answers questions. It takes time when it is first asked for:
// only Jobs may call it, and only when there is a Snapshot. Like the methods below it may be called by
// several goroutines at once.
func (w *World) Cluster() *allocator.Cluster { return w.derived.cluster() }

// Devices are those of the snapshot. Only Jobs may call it; the slice is shared.
func (w *World) Devices() []inspect.DeviceStatus { return w.derived.devices() }

// Nodes are the states of the nodes of the snapshot. Only Jobs may call it; the slice is shared.
func (w *World) Nodes() []inspect.NodeStatus { return w.derived.nodes() }

// InNamespace reports whether an object of the namespace is to be shown.
func (w *World) InNamespace(namespace string) bool {
	return w.Namespace == "" || w.Namespace == namespace
}
