package inspect

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Event is an Event of the API, whichever of its two API groups it was read from. Events are no part of a
// Snapshot: a cluster has very many, for an hour each, and a question needs only those of a few objects.
type Event struct {
	// Kind, Namespace, Name and UID are those of the object that the Event is about. The UID may be empty in
	// files.
	Kind, Namespace, Name string
	UID                   types.UID
	// Container is the container of the pod that it is about, or "".
	Container string
	// Type is Normal or Warning.
	Type string
	// Reason is a code of the component that made the Event, such as FailedScheduling.
	Reason string
	// Message is what the component says.
	Message string
	// Source is the component, such as kubelet.
	Source string
	// Count is how often it happened, at least 1.
	Count int
	// First and Last are when it happened. They are zero if that is not known.
	First, Last time.Time
}

// Warning reports whether the Event tells of something that goes wrong.
func (e *Event) Warning() bool { return e.Type == corev1.EventTypeWarning }

// EventOf returns an Event that was read from the core group.
func EventOf(e *corev1.Event) Event {
	out := eventAbout(&e.InvolvedObject)
	out.Type, out.Reason, out.Message = e.Type, e.Reason, e.Message
	out.Source = cmp.Or(e.ReportingController, e.Source.Component)
	out.Count, out.First, out.Last = int(e.Count), e.FirstTimestamp.Time, e.LastTimestamp.Time
	if series := e.Series; series != nil {
		out.Count, out.Last = int(series.Count), series.LastObservedTime.Time
	}
	out.complete(e.EventTime.Time, e.CreationTimestamp.Time)
	return out
}

// EventOfV1 returns an Event that was read from the group events.k8s.io.
func EventOfV1(e *eventsv1.Event) Event {
	out := eventAbout(&e.Regarding)
	out.Type, out.Reason, out.Message = e.Type, e.Reason, e.Note
	out.Source = cmp.Or(e.ReportingController, e.DeprecatedSource.Component)
	out.Count, out.First, out.Last = int(e.DeprecatedCount), e.DeprecatedFirstTimestamp.Time, e.DeprecatedLastTimestamp.Time
	if series := e.Series; series != nil {
		out.Count, out.Last = int(series.Count), series.LastObservedTime.Time
	}
	out.complete(e.EventTime.Time, e.CreationTimestamp.Time)
	return out
}

func eventAbout(object *corev1.ObjectReference) Event {
	return Event{
		Kind: object.Kind, Namespace: object.Namespace, Name: object.Name, UID: object.UID,
		Container: containerOf(object.FieldPath),
	}
}

// containerOf is the container that a field path such as spec.containers{main} names.
func containerOf(path string) string {
	_, name, found := strings.Cut(path, "{")
	if !found {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}

// complete sets what the newer API leaves out for an Event that happened once.
func (e *Event) complete(at, created time.Time) {
	e.Count = max(e.Count, 1)
	if e.First.IsZero() {
		e.First = at
	}
	if e.Last.IsZero() {
		e.Last = cmp.Or(at, e.First, created)
	}
	if e.First.IsZero() {
		e.First = e.Last
	}
}

// ObjectRef names an object, and not another one of the same name.
type ObjectRef struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Events are the Events of some objects.
type Events struct {
	// List is in no particular order.
	List []Event
	// Health says whether they could be read: of files NotRead if there are none in them.
	Health Health
}

// About returns the Events of an object, the newest first. If both the object and an Event have a UID, these
// must be the same, so that what happened to an earlier object of the name does not count.
func (e Events) About(kind, namespace, name string, uid types.UID) []Event {
	var out []Event
	for i := range e.List {
		event := &e.List[i]
		same := event.UID == uid || event.UID == "" || uid == ""
		if same && event.Kind == kind && event.Namespace == namespace && event.Name == name {
			out = append(out, *event)
		}
	}
	SortEvents(out)
	return out
}

// SortEvents sorts Events, the newest first.
func SortEvents(list []Event) {
	slices.SortStableFunc(list, func(a, b Event) int {
		return cmp.Or(b.Last.Compare(a.Last), b.First.Compare(a.First), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Container, b.Container), cmp.Compare(a.Message, b.Message))
	})
}
