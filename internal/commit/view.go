package commit

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// decisive are the resources without which a decision could be wrong.
var decisive = []inspect.Resource{inspect.Claims, inspect.Classes, inspect.Slices, inspect.TaintRules, inspect.Nodes}

// A PartialError says that a decision would have rested on a partial view. It was not made.
type PartialError struct {
	Resource inspect.Resource // of which something is missing
	Health   inspect.Health
}

// Error says what could not be read, and why.
func (e *PartialError) Error() string {
	why := e.Health.Message
	if why == "" {
		why = fmt.Sprintf("%s could not be read: %s", e.Resource, e.Health.State)
	}
	if e.Health.State == inspect.NotRead {
		why = fmt.Sprintf("%s were not read", e.Resource)
	}
	return fmt.Sprintf("nothing is written, because without all %s the decision could be wrong: %s", e.Resource, why)
}

// Complete returns a *PartialError when a decision on the snapshot could be wrong, because something of what
// it rests on is missing; that something was not read at all only if nothing else is missing. also are
// resources that matter to the question beside those that always do.
func Complete(s *inspect.Snapshot, also ...inspect.Resource) error {
	var unread error
	for _, resource := range slices.Concat(decisive, also) {
		h := s.Health(resource)
		switch {
		case h.State == inspect.NotRead && unread == nil:
			unread = &PartialError{resource, h}
		case h.State != inspect.NotRead && !h.Complete():
			return &PartialError{resource, h}
		}
	}
	return unread
}

// read reads the cluster to decide on. Every decision of a run goes through it, the first one and those after
// a conflict alike, so none rests on a partial view.
func (r *run) read(ctx context.Context) (*inspect.Snapshot, error) {
	s, err := r.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := Complete(s, r.Needs...); err != nil {
		return nil, err
	}
	return s, nil
}

// readSlices reads what books of devices need besides claims.
func (r *run) readSlices(ctx context.Context) (*inspect.Snapshot, error) {
	s, err := r.Read(ctx)
	if err != nil {
		return nil, err
	}
	if h := s.Health(inspect.Slices); !h.Complete() {
		return nil, &PartialError{inspect.Slices, h}
	}
	return s, nil
}
