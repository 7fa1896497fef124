package screen

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// EventKind says what has happened.
type EventKind string

// The kinds of what happens.
const (
	ClaimCreated    EventKind = "created"
	ClaimAllocated  EventKind = "allocated"
	ClaimReserved   EventKind = "reserved"
	ClaimUnreserved EventKind = "idle" // allocated, and nobody has it reserved any more
	ClaimReleased   EventKind = "released"
	ClaimDeleting   EventKind = "deleting"
	ClaimDeleted    EventKind = "deleted"
	PodRefused      EventKind = "refused" // by the scheduler
	PodPlaced       EventKind = "placed"  // it was refused, and has a node
	PodTrouble      EventKind = "trouble" // it has a node, and what is done there for its devices fails
	PodEvicted      EventKind = "evicted"
	PodEnded        EventKind = "ended"
	DeviceTainted   EventKind = "tainted"
	DeviceUntainted EventKind = "untainted"
	DeviceSick      EventKind = "unhealthy"
	DeviceWell      EventKind = "healthy"
	DeviceChanged   EventKind = "device" // another state, or no longer published
	PoolIncomplete  EventKind = "pool broken"
	PoolComplete    EventKind = "pool complete"
	DriverGone      EventKind = "driver gone"
	DriverCame      EventKind = "driver came"
	NodeGone        EventKind = "node gone"
	NodeCame        EventKind = "node came"
	NodeNotReady    EventKind = "node not ready"
	NodeReady       EventKind = "node ready"
	LevelRejecting  EventKind = "rejecting"
	OtherEvent      EventKind = "event" // an Event of the cluster of another kind
)

// The kinds of what the user does here.
const (
	Copied    EventKind = "copied"
	Saved     EventKind = "saved"
	Supposed  EventKind = "what if"
	Unsuppose EventKind = "what if ends"
	Wrote     EventKind = "wrote"
)

// own reports whether the user does it here, which tells nothing of the state of the object.
func (k EventKind) own() bool {
	return k == Copied || k == Saved || k == Supposed || k == Unsuppose || k == Wrote
}

// Event is something that happened to an object. Its texts are not sanitised.
type Event struct {
	Time time.Time
	Kind EventKind
	Ref  Ref
	// Text says what, in a few words.
	Text string
	// Node and Driver are those that it is about, where that is known.
	Node   inspect.NodeName
	Driver string
	// By is who or what did it, or why: a pod, a rule, a component.
	By string
	// Minor is for the page of the object alone: among all changes another Event tells of it.
	Minor bool
	// Told says that an Event of the cluster tells of it, and Seen that it was seen to happen. It can be
	// both.
	Told, Seen bool
	// Count is how often it happened, where an Event tells; otherwise 0.
	Count int
}

// History is what was seen to happen since the program began to watch. It is not written after it was
// handed out. A nil History is an empty one.
type History struct {
	// Began is when that was.
	Began  time.Time
	Events map[Ref][]Event
	// Recent are the last events of each kind that are not Minor, the oldest first.
	Recent map[EventKind][]Event
	// Latest are the last few events of Recent, the newest first.
	Latest []Event
	// Levels are how much was taken, each from its moment to that of the next, the oldest first: since Began,
	// or in a recorded cluster from the beginning of its log to the end.
	Levels []Level
	// Longest are the pods that wait for a node for longest, that one first.
	Longest []Wait
}

// Level is how much was taken from a moment on.
type Level struct {
	Time time.Time
	// Used has a share for each driver, that of most devices first. It is empty while not all claims, slices
	// and nodes are known.
	Used []Share
	// Held are the classes of which most devices are held. It is empty when Used is.
	Held []Holding
	// Waiting is how many pods wait for a node, or -1 while not all pods are known.
	Waiting int
}

// Of returns the share of a driver, or -1 if it is not known.
func (l *Level) Of(driver string) float64 {
	for _, share := range l.Used {
		if share.Driver == driver {
			return share.Of
		}
	}
	return -1
}

// Share is how much of the devices of a driver is used, from 0 to 1.
type Share struct {
	Driver string
	Of     float64
}

// HeldOf returns how many devices of a class are held, or -1 if that is not known.
func (l *Level) HeldOf(class string) int {
	for _, h := range l.Held {
		if h.Class == class {
			return h.Devices
		}
	}
	if len(l.Used) == 0 {
		return -1
	}
	return 0
}

// Holding is how many devices are held by requests of a class. Driver is the one whose devices these are if
// they are all of one driver, and no other class has any of it: then the class says what the driver says.
type Holding struct {
	Class, Driver string
	Devices       int
}

// Wait says since when a pod waits for a node.
type Wait struct {
	Ref   Ref
	Since time.Time
}

// Of returns the events of an object, the oldest first.
func (h *History) Of(ref Ref) []Event {
	if h == nil {
		return nil
	}
	return h.Events[ref]
}

// Start is when the program began to watch. It is zero if it does not.
func (h *History) Start() time.Time {
	if h == nil {
		return time.Time{}
	}
	return h.Began
}

// IdleSince returns when a claim was seen to be reserved by nobody any more, if nothing has happened to it
// since. Otherwise it is zero.
func (h *History) IdleSince(claim Ref) time.Time {
	for _, e := range slices.Backward(h.Of(claim)) {
		if e.Kind == ClaimUnreserved {
			return e.Time
		}
		if !e.Kind.own() {
			break
		}
	}
	return time.Time{}
}

// All returns the last events of all kinds, the newest first.
func (h *History) All() []Event {
	if h == nil {
		return nil
	}
	var out []Event
	for _, events := range h.Recent {
		out = append(out, events...)
	}
	SortHistory(out)
	return out
}

// SortHistory sorts events, the newest first.
func SortHistory(events []Event) {
	slices.SortFunc(events, func(a, b Event) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref.Kind, b.Ref.Kind), cmp.Compare(a.Ref.Namespace, b.Ref.Namespace),
			cmp.Compare(a.Ref.Name, b.Ref.Name), cmp.Compare(a.Text, b.Text))
	})
}
