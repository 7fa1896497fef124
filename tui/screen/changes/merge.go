package changes

import (
	"cmp"
	"time"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// slack is how far apart the same thing may be when it is seen and told: clocks differ, and a snapshot takes
// a moment.
const slack = 5 * time.Second

// merged puts together what is the same: the same kind of thing, of the same object, at about the same time.
// The lists come in the order of how well they know what has happened; the newest is first.
func merged(lists ...[]screen.Event) []screen.Event {
	type subject struct {
		kind screen.EventKind
		ref  screen.Ref
	}
	// A claim that was seen when it had devices already was created at that moment; its own timestamp says
	// the same.
	same := map[screen.EventKind]screen.EventKind{screen.ClaimCreated: screen.ClaimAllocated}
	var out []screen.Event
	known := map[subject][]int{}
	for _, list := range lists {
		for i := range list {
			e := &list[i]
			key := subject{e.Kind, e.Ref}
			at := near(out, known[key], e)
			if other, ok := same[e.Kind]; ok && at < 0 {
				at = near(out, known[subject{other, e.Ref}], e)
			}
			if at >= 0 {
				out[at] = both(out[at], e)
				continue
			}
			known[key] = append(known[key], len(out))
			out = append(out, *e)
		}
	}
	screen.SortHistory(out)
	return out
}

// near returns which of some events is the same as another one, or -1. A pod that is refused is so until it
// has a node, however often the scheduler says it.
func near(all []screen.Event, some []int, e *screen.Event) int {
	for _, i := range some {
		d := e.Time.Sub(all[i].Time)
		if d >= -slack && (d <= slack || e.Kind == screen.PodRefused) {
			return i
		}
	}
	return -1
}

// both is what two sources say of the same.
func both(a screen.Event, b *screen.Event) screen.Event {
	a.Told, a.Seen, a.Count = a.Told || b.Told, a.Seen || b.Seen, max(a.Count, b.Count)
	if b.Time.Before(a.Time) {
		a.Time = b.Time
	}
	a.Node, a.By, a.Text = cmp.Or(a.Node, b.Node), cmp.Or(a.By, b.By), cmp.Or(a.Text, b.Text)
	return a
}
