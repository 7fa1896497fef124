package priority

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// kept is how many samples are remembered.
const kept = 120

// sample is what a server said at one moment.
type sample struct {
	at      time.Time
	reading flowcontrol.Reading
}

// history are the newest samples, the oldest first. It is not written once it is made.
type history []sample

// add returns the history with one more sample.
func (h history) add(s sample) history {
	next := make(history, 0, min(len(h)+1, kept))
	next = append(next, h[max(0, len(h)+1-kept):]...)
	return append(next, s)
}

// last returns the newest sample.
func (h history) last() (sample, bool) {
	if len(h) == 0 {
		return sample{}, false
	}
	return h[len(h)-1], true
}

// rejecting tells of the levels that have rejected requests since the sample before, and had not before that.
func (h history) rejecting() []screen.Event {
	if len(h) < 3 {
		return nil
	}
	last, before := h[len(h)-1], h[len(h)-2]
	now, earlier := h.rejected(len(h)-1), h.rejected(len(h)-2)
	var events []screen.Event
	for _, level := range slices.Sorted(maps.Keys(now)) {
		if earlier[level] > 0 {
			continue
		}
		events = append(events, screen.Event{
			Time: last.at, Kind: screen.LevelRejecting, Seen: true, Ref: screen.Ref{Kind: screen.PriorityLevel, Name: level}, By: "API server",
			Text: fmt.Sprintf("rejected %s in %s", words.Count(now[level], "request"), last.at.Sub(before.at).Round(time.Second)),
		})
	}
	return events
}

// rejected counts the requests that levels have rejected between a sample and the one before, for those that
// have.
func (h history) rejected(at int) map[string]int {
	before, now := h[at-1].reading.Metrics, h[at].reading.Metrics
	if before == nil || now == nil {
		return nil
	}
	out := map[string]int{}
	for name, level := range now.Levels {
		if old := before.Levels[name]; old != nil && level.Total.RejectedRequests() > old.Total.RejectedRequests() {
			out[name] = level.Total.RejectedRequests() - old.Total.RejectedRequests()
		}
	}
	return out
}

// use returns the share of its seats that a level used at each sample; samples without figures are left out.
func (h history) use(level string) []float64 {
	var shares []float64
	for _, s := range h {
		if used := share(s.reading.Level(level)); used >= 0 {
			shares = append(shares, used)
		}
	}
	return shares
}

// share is the part of its seats that a level uses, or -1 where that is not known. A level without seats of
// its own that executes something is full.
func share(load *flowcontrol.Load) float64 {
	switch {
	case load == nil || load.Current == nil:
		return -1
	case load.Total.ExecutingSeats <= 0:
		return 0
	case *load.Current <= 0:
		return 1
	}
	return min(1, float64(load.Total.ExecutingSeats)/float64(*load.Current))
}

// rates are what a level did between two samples, in requests a second.
type rates struct {
	dispatched, rejected float64
	// waits are those that ended in between.
	waits flowcontrol.Waits
	over  time.Duration
	known bool
}

// window is how far back rates look.
const window = time.Minute

// rates compares the newest sample with the oldest of the last minute. They are not known before there are
// two of the same server; a server that has started anew counts from nothing.
func (h history) rates(level string) rates {
	last, _ := h.last()
	now := last.reading.Level(level)
	if now == nil {
		return rates{}
	}
	for _, s := range h[:len(h)-1] {
		over, before := last.at.Sub(s.at), s.reading.Level(level)
		if over > window || over <= 0 || before == nil || now.Total.Dispatched < before.Total.Dispatched {
			continue
		}
		rejected := now.Total.RejectedRequests() - before.Total.RejectedRequests()
		return rates{
			dispatched: float64(now.Total.Dispatched-before.Total.Dispatched) / over.Seconds(),
			rejected:   float64(max(0, rejected)) / over.Seconds(),
			waits:      now.Total.Waits.Since(before.Total.Waits), over: over, known: true,
		}
	}
	return rates{}
}
