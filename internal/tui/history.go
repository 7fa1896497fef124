package tui

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
)

const (
	// eventsKept is how many events of an object are remembered, objectsKept of how many objects.
	eventsKept  = 20
	objectsKept = 5000
)

// recorder notes what happens to claims and devices from one snapshot to the next, in the background.
type recorder struct {
	job    screen.Job[*screen.History]
	before *screen.World // what the newest snapshot is compared with, or nil before the first
	missed *screen.World
	now    *screen.History
}

// record compares a world with the one before. Worlds that come while that is going on are taken together.
func (r *recorder) record(w *screen.World) tea.Cmd {
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
	r.before = w
	return r.job.StartLater(w, func(context.Context) (*screen.History, error) { return added(known, compare(before, w), w.Now), nil })
}

// take takes what was noted.
func (r *recorder) take(msg tea.Msg) (tea.Cmd, bool) {
	result, ok := r.job.Take(msg)
	if !ok {
		return nil, false
	}
	r.now = result.Value
	missed := r.missed
	if r.missed = nil; missed == nil {
		return nil, true
	}
	return r.record(missed), true
}

// happening is an event and what it happened to.
type happening struct {
	ref  screen.Ref
	text string
}

// added returns the history with more events; the one that it is given is not written.
func added(h *screen.History, news []happening, at time.Time) *screen.History {
	if len(news) == 0 {
		return h
	}
	next := &screen.History{Events: map[screen.Ref][]screen.Event{}}
	if h != nil {
		next.Events = maps.Clone(h.Events)
	}
	for _, n := range news {
		past := next.Events[n.ref]
		if past == nil && len(next.Events) >= objectsKept {
			continue
		}
		past = append(slices.Clone(past), screen.Event{Time: at, Text: n.text})
		next.Events[n.ref] = past[max(0, len(past)-eventsKept):]
	}
	return next
}

// compare lists what has happened between two worlds.
func compare(before, after *screen.World) []happening {
	var news []happening
	merge(before.Snapshot.Objects().Claims, after.Snapshot.Objects().Claims, func(a, b *resourcev1.ResourceClaim) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	}, func(a, b *resourcev1.ResourceClaim) {
		if a != b {
			news = append(news, claimNews(a, b)...)
		}
	})
	merge(pointers(before.Devices()), pointers(after.Devices()), func(a, b *inspect.DeviceStatus) int { return a.ID.Compare(b.ID) },
		func(a, b *inspect.DeviceStatus) { news = append(news, deviceNews(a, b)...) })
	return news
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// merge walks two sorted lists side by side; what is in one only comes with a nil.
func merge[T any](a, b []*T, compare func(a, b *T) int, visit func(a, b *T)) {
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compare(a[0], b[0])
		}
		switch {
		case order < 0:
			visit(a[0], nil)
			a = a[1:]
		case order > 0:
			visit(nil, b[0])
			b = b[1:]
		default:
			visit(a[0], b[0])
			a, b = a[1:], b[1:]
		}
	}
}

func claimNews(a, b *resourcev1.ResourceClaim) []happening {
	one := cmp.Or(b, a)
	ref := screen.Ref{Kind: screen.Claim, Namespace: one.Namespace, Name: one.Name}
	switch {
	case a == nil:
		return []happening{{ref, "created" + granted(b, ", "+strings.ToLower(string(inspect.StateOf(b))))}}
	case b == nil:
		return []happening{{ref, "deleted"}}
	case a.UID != b.UID:
		return []happening{{ref, "deleted and created again"}}
	}
	if from, to := inspect.StateOf(a), inspect.StateOf(b); from != to {
		text := strings.ToLower(string(from)) + " → " + strings.ToLower(string(to))
		if a.Status.Allocation == nil {
			text += granted(b, "")
		}
		return []happening{{ref, text}}
	}
	return nil
}

// granted says where a claim has its devices, behind another text; it is empty for a claim that has none.
func granted(claim *resourcev1.ResourceClaim, text string) string {
	allocation := claim.Status.Allocation
	if allocation == nil {
		return ""
	}
	if node := inspect.AllocationNode(allocation); node != "" {
		text += " on " + string(node)
	}
	return text
}

func deviceNews(a, b *inspect.DeviceStatus) []happening {
	switch {
	case a == nil:
		return []happening{{screen.DeviceRef(b.ID), "published"}}
	case b == nil:
		return []happening{{screen.DeviceRef(a.ID), "no longer published"}}
	case a.State != b.State:
		text := strings.ToLower(string(a.State)) + " → " + strings.ToLower(string(b.State))
		if len(b.Holders) > 0 && len(a.Holders) == 0 {
			text += " to " + b.Holders[0].Claim.String()
		}
		return []happening{{screen.DeviceRef(b.ID), text}}
	}
	return nil
}
