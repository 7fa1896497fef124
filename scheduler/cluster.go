package scheduler

import (
	"sync"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Options change how a Cluster decides. The zero value is what kube-scheduler does.
type Options struct {
	// StepLimit bounds the search for devices on one node; 0 means [allocator.DefaultStepLimit].
	StepLimit int64
	// Like, if not nil, is a cluster from which the new one takes over what is still true of it; see
	// [allocator.Options].
	Like *Cluster
	// Library, if not nil, holds compiled expressions that clusters share. Like comes with its own.
	Library *selector.Library
	// Ignore leaves the allocations of these claims out of account, as if they had been released.
	Ignore map[inspect.ClaimRef]bool
}

// Cluster answers questions about one snapshot: those about devices by the allocator's Cluster that is part
// of it, and what the other filters know of nodes by their index. It may be used by several goroutines at
// once.
type Cluster struct {
	*allocator.Cluster

	filters *filterIndex
}

// NewCluster makes the cluster of a snapshot. The index of the filters is built when it is first asked for.
func NewCluster(s *inspect.Snapshot, opts Options) *Cluster {
	devices := allocator.Options{StepLimit: opts.StepLimit, Library: opts.Library, Ignore: opts.Ignore}
	index := &filterIndex{}
	if opts.Like != nil {
		devices.Like, index = opts.Like.Cluster, opts.Like.filters.next()
	}
	return &Cluster{Cluster: allocator.NewCluster(s, devices), filters: index}
}

// WithStepLimit returns a cluster that shares everything with this one but gives up a search for devices
// earlier or later.
func (c *Cluster) WithStepLimit(limit int64) *Cluster {
	return &Cluster{Cluster: c.Cluster.WithStepLimit(limit), filters: c.filters}
}

// Filters returns what the scheduler's filters know of the snapshot of the cluster.
func (c *Cluster) Filters() *filters.Index { return c.filters.of(c.Snapshot()) }

// filterIndex is the index of the filters, built when it is first asked for.
type filterIndex struct {
	once  sync.Once
	index *filters.Index
	// before is the last index that was built for a cluster like this one, or nil.
	before *filters.Index
	mu     sync.Mutex
}

func (f *filterIndex) of(s *inspect.Snapshot) *filters.Index {
	f.once.Do(func() {
		index := filters.NewIndex(s, f.before)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.index, f.before = index, nil
	})
	return f.index
}

// next is an index that will be built like this one. It does not keep this one, only what was built already.
func (f *filterIndex) next() *filterIndex {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index != nil {
		return &filterIndex{before: f.index}
	}
	return &filterIndex{before: f.before}
}
