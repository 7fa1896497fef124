package live

import (
	"context"
	"sync"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// longestLead is how long the other resources wait at most after the last page of those that are first.
const longestLead = 5 * time.Second

// headStart lets some resources be read before the others: in a large cluster, what somebody wants to see
// first would otherwise be there with the last of all. Others that fit into a page, as in most clusters, do
// not notice. A nil one gives none.
type headStart struct {
	over chan struct{}

	mu    sync.Mutex
	first map[inspect.Resource]bool // that have not arrived
	end   time.Time
}

func newHeadStart(first []inspect.Resource) *headStart {
	if len(first) == 0 {
		return nil
	}
	h := &headStart{end: time.Now().Add(longestLead), over: make(chan struct{}), first: map[inspect.Resource]bool{}}
	for _, r := range first {
		h.first[r] = true
	}
	return h
}

// arrived notes that a resource has been read, or that it cannot be.
func (h *headStart) arrived(r inspect.Resource) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first[r] {
		if delete(h.first, r); len(h.first) == 0 {
			close(h.over)
		}
	}
}

// wait comes between two pages of a resource: it waits until the next one may be read.
func (h *headStart) wait(ctx context.Context, r inspect.Resource) error {
	if h == nil {
		return nil
	}
	for {
		h.mu.Lock()
		if h.first[r] {
			h.end = time.Now().Add(longestLead)
		}
		rest := time.Until(h.end)
		free := h.first[r] || len(h.first) == 0 || rest <= 0
		h.mu.Unlock()
		if free {
			return nil
		}
		if err := pause(ctx, rest, h.over); err != nil {
			return err
		}
	}
}
