package lifecycle

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxEvents is the number of Events that an answer has, with the same ones put together. An object has more
// only if somebody floods it.
const maxEvents = 50

// happened adds the Events of an object.
func (b *builder) happened(kind string, object metav1.Object) {
	events := b.events.About(kind, object.GetNamespace(), object.GetName(), object.GetUID())
	b.l.Events = append(b.l.Events, summed(events)...)
}

// summed puts Events of one object together that tell of the same, with the message of the newest. They are
// given and returned with the newest first.
func summed(events []inspect.Event) []inspect.Event {
	type key struct{ kind, reason, source, container string }
	at := map[key]int{}
	var out []inspect.Event
	for _, e := range events {
		k := key{e.Type, e.Reason, e.Source, e.Container}
		i, known := at[k]
		if !known {
			at[k] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Count += e.Count
		if e.First.Before(out[i].First) {
			out[i].First = e.First
		}
	}
	return out
}
