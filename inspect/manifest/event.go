package manifest

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// event is an Event that was found.
type event struct {
	inspect.Event
	id types.NamespacedName
}

// eventIn decodes an Event of either API group. It is nil for other objects, and for an Event that cannot be
// decoded: that is skipped, as are the objects that no question needs. It only reads the collector.
func (c *collector) eventIn(p *pending) *event {
	raw := p.text.data[p.at.from:p.at.to]
	if p.head.kind != "Event" || c.tooLargeToSearch(raw) {
		return nil
	}
	switch p.head.apiVersion {
	case "v1":
		var e corev1.Event
		if _, err := unmarshal(raw, &e); err == nil {
			return c.eventOf(inspect.EventOf(&e), e.Namespace, e.Name)
		}
	case "events.k8s.io/v1", "events.k8s.io/v1beta1": // which has the same fields
		var e eventsv1.Event
		if _, err := unmarshal(raw, &e); err == nil {
			return c.eventOf(inspect.EventOfV1(&e), e.Namespace, e.Name)
		}
	}
	return nil
}

// eventOf completes an Event as complete does objects: what it is about is in the namespace that it is in
// itself.
func (c *collector) eventOf(e inspect.Event, namespace, name string) *event {
	namespace = cmp.Or(namespace, c.opts.Namespace)
	e.Namespace = cmp.Or(e.Namespace, namespace)
	return &event{e, types.NamespacedName{Namespace: namespace, Name: name}}
}

// keepEvent keeps an Event that was found, once: both API groups have the same Events. The result is false if
// there is none.
func (c *collector) keepEvent(p *pending) bool {
	if p.event == nil {
		return false
	}
	if id := p.event.id; id.Name == "" || !c.eventsSeen[id] {
		c.eventsSeen[id] = true
		c.events = append(c.events, p.event.Event)
	}
	return true
}
