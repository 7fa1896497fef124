package allocator

import (
	"sync"

	"github.com/kubectl-dra/kubectl-dra/allocator/filters"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// filterIndex is what the scheduler's other filters know of a snapshot, built when it is first asked for.
type filterIndex struct {
	once  sync.Once
	index *filters.Index
	// before is the last index that was built for a cluster like this one, or nil.
	before *filters.Index
	mu     sync.Mutex
}

// Filters returns what the scheduler's other filters know of the snapshot of the cluster.
func (c *Cluster) Filters() *filters.Index { return c.filters.of(c.snapshot) }

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
