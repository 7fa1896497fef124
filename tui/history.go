package tui

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/tui/record"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

const (
	// eventsKept is how many events of an object are remembered, objectsKept of how many objects, and kindKept how many of
	// each kind: what happens seldom is not pushed out by what happens often.
	eventsKept  = 20
	objectsKept = 5000
	kindKept    = 500
)

// recorder notes what happens from one snapshot to the next, in the background.
type recorder struct {
	job    screen.Job[*screen.History]
	before *screen.World // what the newest snapshot is compared with, or nil before the first
	missed *screen.World
	now    *screen.History
	took   *atomic.Int64 // see tallying
	// noted is what was told while the job was running.
	noted []screen.Event
}

// note adds what a screen tells. The next world has it.
func (r *recorder) note(events []screen.Event) {
	if r.job.Running() {
		r.noted = append(r.noted, events...)
		return
	}
	r.now = added(r.now, events)
}

// begin returns what is known when a world comes. With the first one it begins.
func (r *recorder) begin(w *screen.World) *screen.History {
	if r.now == nil && w.Snapshot != nil {
		r.now = &screen.History{Began: w.Now}
	}
	return r.now
}

// record compares a world with the one before. Worlds that come while that is going on are taken together.
func (r *recorder) record(w *screen.World, took *atomic.Int64) tea.Cmd {
	if w.Snapshot == nil || len(w.Supposed) > 0 {
		return nil
	}
	if r.before == nil {
		r.before = w
		return nil
	}
	if r.job.Running() {
		r.missed = w
		return nil
	}
	before, known := r.before, r.now
	r.before, r.took = w, took
	return r.job.StartLater(w, func(context.Context) (*screen.History, error) {
		return timed(took, func() *screen.History { return added(known, record.Compare(before, w)) }), nil
	})
}

// take takes what was noted.
func (r *recorder) take(msg tea.Msg) (tea.Cmd, bool) {
	result, ok := r.job.Take(msg)
	if !ok {
		return nil, false
	}
	r.now = added(result.Value, r.noted)
	r.noted = nil
	missed := r.missed
	if r.missed = nil; missed == nil {
		return nil, true
	}
	return r.record(missed, r.took), true
}

// added returns the history with more events; the one that it is given is not written.
func added(h *screen.History, news []screen.Event) *screen.History {
	if len(news) == 0 {
		return h
	}
	byTime := func(a, b screen.Event) int { return a.Time.Compare(b.Time) }
	if !slices.IsSortedFunc(news, byTime) { // most are of one moment
		slices.SortStableFunc(news, byTime)
	}
	next := &screen.History{Events: map[screen.Ref][]screen.Event{}, Recent: map[screen.EventKind][]screen.Event{}}
	if h != nil {
		next.Began, next.Events, next.Recent = h.Began, maps.Clone(h.Events), maps.Clone(h.Recent)
	}
	if next.Events == nil {
		next.Events, next.Recent = map[screen.Ref][]screen.Event{}, map[screen.EventKind][]screen.Event{}
	}
	fresh := map[screen.EventKind][]screen.Event{}
	for _, n := range news {
		if !n.Minor {
			fresh[n.Kind] = append(fresh[n.Kind], n)
		}
		past := next.Events[n.Ref]
		if past == nil && len(next.Events) >= objectsKept {
			continue
		}
		next.Events[n.Ref] = appended(past, eventsKept, n)
	}
	for kind, events := range fresh {
		next.Recent[kind] = appended(next.Recent[kind], kindKept, events...)
	}
	return next
}

// appended is a list with more events, of which the last ones are kept. What there is of the list that it is given is not
// written, but the room behind that is: only the newest list may be continued. To copy all of it for each event would make the
// history of a busy cluster a tenth of all that the program allocates.
func appended(past []screen.Event, kept int, more ...screen.Event) []screen.Event {
	more = more[max(0, len(more)-kept):]
	past = past[max(0, len(past)+len(more)-kept):]
	if n := len(past) + len(more); n > cap(past) {
		room := n
		if len(past) > 0 { // of most objects there is one event
			room += kept / 4
		}
		past = append(make([]screen.Event, 0, room), past...)
	}
	return append(past, more...)
}
