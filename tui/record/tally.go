package record

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

const (
	// historyLength is how many values the graph of a driver remembers.
	historyLength = 60
	// eventsKept is how many events of an object are remembered, objectsKept of how many objects, and
	// kindKept how many of each kind: what happens seldom is not pushed out by what happens often.
	eventsKept  = 20
	objectsKept = 5000
	kindKept    = 500

	// tallyBreath is how long it is from one tally to the next, as a multiple of what one takes, tallyLate
	// how old the newest may become, and quickTally what one may take that needs no rest.
	tallyBreath = 8
	tallyLate   = 500 * time.Millisecond
	quickTally  = 5 * time.Millisecond
)

// Tally is what the root itself knows of the cluster beside the newest snapshot: how much of each driver's
// devices is taken, now and before, which namespaces there are, and what has happened. It is worked out in
// the background. Nobody waits for it, and in a large cluster that is busy it takes more than the rows that
// are shown, so it rests for several times as long as it took.
type Tally struct {
	job     screen.Job[Tallied]
	before  *screen.World // what the newest world is compared with, or nil before the first
	missed  *screen.World // the newest world that came in the meantime
	begun   time.Time
	resting bool

	Now     Tallied
	Graphs  map[string][]float64
	History *screen.History
	levels  levels
	noted   []screen.Event // told while the job was running
	past    past
}

// Tallied is the result of a tally.
type Tallied struct {
	Usage  []DriverUse
	AtMost bool // more may be taken: not all claims could be read
	// Namespaces are those that have something to show.
	Namespaces []string
	history    *screen.History
	waiting    int
	held       []screen.Holding
	longest    []screen.Wait
	at         time.Time
	took       time.Duration
}

// DriverUse is how much of the devices of a driver is used.
type DriverUse struct{ inspect.DriverStatus }

// share is the used part of the devices or of the counter that is scarcest, whichever is more, from 0 to 1.
// Devices that draw on counters are not counted by number: they overlap, and could never be used all at once.
func (u DriverUse) share() float64 {
	scarcest := u.Scarcest()
	if scarcest == nil {
		return float64(u.Devices.Used) / float64(max(1, u.Devices.Total))
	}
	return max(scarcest.Used(), float64(u.Whole.Used)/float64(max(1, u.Whole.Total)))
}

// rested ends the rest of a tally.
type rested struct{}

// Look tallies a world, at once or in a while: then the newest.
func (t *Tally) Look(w *screen.World) tea.Cmd {
	if w == nil || w.Snapshot == nil {
		return nil
	}
	t.missed = w
	if t.job.Running() || t.resting {
		return nil
	}
	if rest := restAfter(t.Now.took) - time.Since(t.begun); rest > 0 {
		t.resting = true
		return tea.Tick(rest, func(time.Time) tea.Msg { return rested{} })
	}
	t.missed, t.begun = nil, time.Now()
	past := t.past.begin(w)
	before, known := t.before, t.History
	if len(w.Supposed) == 0 {
		t.before = w
	} else {
		before = nil // nothing of it has happened
	}
	return tea.Batch(past, t.job.StartLater(w, func(context.Context) (Tallied, error) {
		begun := time.Now()
		out := tallied(w.Snapshot, w.Inventory)
		out.Namespaces, out.history = Namespaces(w.Snapshot.Objects()), known
		if len(w.Supposed) == 0 { // what is supposed has not been
			out.at = w.Now
		}
		if before != nil {
			out.history = added(known, Compare(before, w))
		}
		out.took = time.Since(begun)
		return out, nil
	}))
}

// tallied is how much is taken of a cluster.
func tallied(s *inspect.Snapshot, inventory func() *inspect.Inventory) Tallied {
	out := Tallied{AtMost: s.Health(inspect.Claims).Partial(), waiting: -1}
	if !beingRead(s, inspect.Claims, inspect.Slices, inspect.Nodes) { // what is free of half of the devices is of no use
		out.Usage, out.held = usageOf(inventory().Drivers), heldByClass(s, inventory().Devices())
	}
	if !s.Health(inspect.Pods).Partial() {
		out.waiting, out.longest = waitingPods(s)
	}
	return out
}

// Take takes the result of a message.
func (t *Tally) Take(msg tea.Msg) (tea.Cmd, bool) {
	if more, ok := t.past.take(msg); ok {
		if t.History != nil {
			next := *t.History
			next.Levels = t.past.levels()
			t.History = &next
		}
		return more, true
	}
	if _, ok := msg.(rested); ok {
		t.resting = false
		return t.Look(t.missed), true
	}
	result, ok := t.job.Take(msg)
	if !ok {
		return nil, false
	}
	t.Now = result.Value
	t.History, t.noted = added(t.Now.history, t.noted), nil
	if h := t.History; h != nil && !t.Now.at.IsZero() {
		next := *h
		if next.Levels, next.Longest = t.past.levels(), t.Now.longest; t.past.log == nil {
			t.levels.add(t.Now.at, &t.Now)
			next.Levels = t.levels.all
		}
		t.History = &next
	}
	if t.Graphs == nil {
		t.Graphs = map[string][]float64{}
	}
	for _, u := range t.Now.Usage {
		past := append(t.Graphs[u.Driver], u.share())
		t.Graphs[u.Driver] = past[max(0, len(past)-historyLength):]
	}
	return t.Look(t.missed), true
}

// restAfter is how long it is from the beginning of a tally that took so long to the next one.
func restAfter(took time.Duration) time.Duration {
	if took <= quickTally {
		return 0
	}
	return min(tallyBreath*took, tallyLate)
}

// Note adds what a screen tells. The next world has it.
func (t *Tally) Note(events []screen.Event) {
	if t.job.Running() {
		t.noted = append(t.noted, events...)
		return
	}
	t.History = added(t.History, events)
}

// Begin returns what is known when a world comes. With the first one it begins.
func (t *Tally) Begin(w *screen.World) *screen.History {
	if t.History == nil && w.Snapshot != nil {
		t.History = &screen.History{Began: w.Now}
	}
	return t.History
}

// Forget drops what has happened.
func (t *Tally) Forget() {
	t.job.Stop()
	t.before, t.History, t.Graphs, t.levels = nil, nil, nil, levels{}
}

// beingRead reports whether one of several resources is being read for the first time.
func beingRead(s *inspect.Snapshot, resources ...inspect.Resource) bool {
	return slices.ContainsFunc(resources, func(r inspect.Resource) bool { return s.Health(r).State == inspect.Syncing })
}

// usageOf puts the drivers with most devices first.
func usageOf(drivers []inspect.DriverStatus) []DriverUse {
	out := make([]DriverUse, len(drivers))
	for i := range drivers {
		out[i] = DriverUse{drivers[i]}
	}
	slices.SortFunc(out, func(a, b DriverUse) int {
		return cmp.Or(cmp.Compare(b.Devices.Total, a.Devices.Total), strings.Compare(a.Driver, b.Driver))
	})
	return out
}

// Namespaces returns the namespaces that have something to show, sorted.
func Namespaces(o *inspect.Objects) []string {
	seen := map[string]bool{}
	note(seen, o.Claims)
	note(seen, o.Templates)
	note(seen, o.Pods)
	note(seen, o.StorageCapacities)
	return slices.Sorted(maps.Keys(seen))
}

// note notes the namespaces of objects.
func note[T metav1.Object](seen map[string]bool, objects []T) {
	for _, o := range objects {
		seen[o.GetNamespace()] = true
	}
}

// added returns the history with more events; the one that it is given is not written.
func added(h *screen.History, news []screen.Event) *screen.History {
	if len(news) == 0 {
		return h
	}
	slices.SortStableFunc(news, func(a, b screen.Event) int { return a.Time.Compare(b.Time) })
	next := &screen.History{Events: map[screen.Ref][]screen.Event{}, Recent: map[screen.EventKind][]screen.Event{}}
	if h != nil {
		next.Began, next.Levels, next.Longest = h.Began, h.Levels, h.Longest
		maps.Copy(next.Events, h.Events)
		maps.Copy(next.Recent, h.Recent)
	}
	fresh := map[screen.EventKind][]screen.Event{}
	for _, n := range news {
		if !n.Minor {
			fresh[n.Kind] = append(fresh[n.Kind], n)
		}
		if past := next.Events[n.Ref]; past != nil || len(next.Events) < objectsKept {
			next.Events[n.Ref] = appended(past, eventsKept, n)
		}
	}
	for kind, events := range fresh {
		next.Recent[kind] = appended(next.Recent[kind], kindKept, events...)
	}
	for _, events := range next.Recent {
		next.Latest = append(next.Latest, events[max(0, len(events)-latest):]...)
	}
	screen.SortHistory(next.Latest)
	next.Latest = next.Latest[:min(len(next.Latest), latest)]
	return next
}

// appended is a new list with more events, of which the last ones are kept.
func appended(past []screen.Event, kept int, more ...screen.Event) []screen.Event {
	all := slices.Concat(past, more)
	return all[max(0, len(all)-kept):]
}
