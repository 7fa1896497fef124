package cli

import (
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
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
