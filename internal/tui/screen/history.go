package screen

import "time"

// Event is something that was seen to happen to an object.
type Event struct {
	Time time.Time
	// Text says what, in a few words. It is not sanitised.
	Text string
}

// History is what was seen to happen since the program began to watch. It is not written after it was
// handed out. A nil History is an empty one.
type History struct {
	Events map[Ref][]Event
}

// Of returns the events of an object, the oldest first.
func (h *History) Of(ref Ref) []Event {
	if h == nil {
		return nil
	}
	return h.Events[ref]
}
