package cel

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// source is where a selector is, or could be: a request of a claim or template, or a class.
type source struct {
	ref screen.Ref
	// request is the index of the request, alternative the index in its firstAvailable, or -1 if it has none.
	request, alternative int
	// selector is the index of the selector that was loaded, or -1 for all of them.
	selector int
	// name is that of the request, class that of the class that it names.
	name, class string
}

func (s *source) String() string {
	text := strings.ToLower(strings.TrimPrefix(string(s.ref.Kind), "Resource")) + " " + s.ref.String()
	if s.ref.Kind != screen.Class && s.ref.Kind != screen.None {
		text += " request " + s.name
	}
	return text
}

// entry is something to choose.
type entry struct {
	source     source
	expression string
	// label says what the entry is, if source does not.
	label string
}

// choose lets the user choose an entry.
func choose(title string, entries []entry, done func(w *screen.World, e *entry) tea.Cmd) tea.Cmd {
	offers := make([]screen.Offer, len(entries))
	for i := range entries {
		e := &entries[i]
		offers[i] = screen.Offer{
			Text: cmp.Or(e.label, e.source.String()), Note: strings.ReplaceAll(e.expression, "\n", " "),
			Take: func(w *screen.World) tea.Cmd { return done(w, e) },
		}
	}
	return screen.Send(screen.Choose{Label: title, Offers: offers})
}

// openLoad offers what was typed before, and the selectors of all classes, claims and templates.
func (s *Screen) openLoad(w *screen.World) tea.Cmd {
	s.ed.remember()
	var entries []entry
	for _, text := range slices.Backward(s.ed.history) {
		if text != s.ed.Text() {
			entries = append(entries, entry{label: "before", expression: text})
		}
	}
	if w.Snapshot != nil {
		entries = append(entries, entriesOf(w.Snapshot.Objects(), screen.Ref{})...)
	}
	return choose("load: ", entries, s.loadEntry)
}

func (s *Screen) loadEntry(w *screen.World, e *entry) tea.Cmd {
	s.ed.remember()
	s.ed.replace(e.expression)
	s.impact.usage = nil
	s.source, s.class = e.source, e.source.class
	return tea.Batch(s.tried.try(w, s.ed.Text(), s.class), s.tried.read(w, s.class))
}

// openClasses offers the classes behind which the selector can stand.
func (s *Screen) openClasses(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	entries := []entry{{label: "all classes"}}
	for _, c := range w.Snapshot.Objects().Classes {
		entries = append(entries, entry{source: source{class: c.Name}, label: c.Name, expression: join(c.Spec.Selectors)})
	}
	return choose("try on the devices of: ", entries, func(w *screen.World, e *entry) tea.Cmd {
		s.class = e.source.class
		return s.tried.read(w, s.class)
	})
}

// loadWanted loads the selectors of an object that another view points at: at once when there is one,
// else after a choice.
func (s *Screen) loadWanted(w *screen.World) tea.Cmd {
	ref := s.wanted
	if w.Snapshot == nil || ref.Kind == screen.None {
		return nil
	}
	s.wanted = screen.Ref{}
	if ref.Kind != screen.Claim && ref.Kind != screen.Template && ref.Kind != screen.Class {
		return nil
	}
	entries := entriesOf(w.Snapshot.Objects(), ref)
	switch len(entries) {
	case 0:
		return screen.Send(screen.Say{Text: fmt.Sprintf("%s %s has no CEL selectors", strings.ToLower(string(ref.Kind)), ref), Role: styled.Warn})
	case 1:
		return s.loadEntry(w, &entries[0])
	}
	return choose("of "+ref.String()+": ", entries, s.loadEntry)
}

// HasSelectors reports whether an object of a snapshot, a class, a claim or a template, has CEL selectors
// that the lab can load. It is true of one that is not there, since that may come.
func HasSelectors(s *inspect.Snapshot, ref screen.Ref) bool {
	var o inspect.Objects
	switch ref.Kind {
	case screen.Class:
		if c, ok := s.Class(ref.Name); ok {
			o.Classes = append(o.Classes, c)
		}
	case screen.Claim:
		if c, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}); ok {
			o.Claims = append(o.Claims, c)
		}
	case screen.Template:
		if t, ok := s.Template(ref.Namespace, ref.Name); ok {
			o.Templates = append(o.Templates, t)
		}
	}
	if len(o.Classes)+len(o.Claims)+len(o.Templates) == 0 {
		return true
	}
	return len(entriesOf(&o, ref)) > 0
}

// entriesOf are the selectors of an object; of all classes, claims and templates when ref is of no kind.
func entriesOf(o *inspect.Objects, ref screen.Ref) []entry {
	var out []entry
	is := func(kind screen.Kind, namespace, name string) bool {
		return ref.Kind == screen.None || ref == screen.Ref{Kind: kind, Namespace: namespace, Name: name}
	}
	for _, c := range o.Classes {
		if is(screen.Class, "", c.Name) {
			out = appendEntries(out, source{ref: screen.Ref{Kind: screen.Class, Name: c.Name}}, c.Spec.Selectors)
		}
	}
	for _, t := range o.Templates {
		if is(screen.Template, t.Namespace, t.Name) {
			out = appendRequests(out, screen.Ref{Kind: screen.Template, Namespace: t.Namespace, Name: t.Name}, &t.Spec.Spec)
		}
	}
	for _, c := range o.Claims {
		if is(screen.Claim, c.Namespace, c.Name) {
			out = appendRequests(out, screen.Ref{Kind: screen.Claim, Namespace: c.Namespace, Name: c.Name}, &c.Spec)
		}
	}
	return out
}

func appendRequests(out []entry, ref screen.Ref, spec *resourcev1.ResourceClaimSpec) []entry {
	forRequests(ref, spec, func(at source, selectors []resourcev1.DeviceSelector) { out = appendEntries(out, at, selectors) })
	return out
}

// forRequests calls f for every request and every alternative.
func forRequests(ref screen.Ref, spec *resourcev1.ResourceClaimSpec, f func(at source, selectors []resourcev1.DeviceSelector)) {
	for i := range spec.Devices.Requests {
		r := &spec.Devices.Requests[i]
		if r.Exactly != nil {
			f(source{ref: ref, request: i, alternative: -1, selector: -1, name: r.Name, class: r.Exactly.DeviceClassName}, r.Exactly.Selectors)
		}
		for j := range r.FirstAvailable {
			sub := &r.FirstAvailable[j]
			f(source{ref: ref, request: i, alternative: j, selector: -1, name: r.Name + "/" + sub.Name, class: sub.DeviceClassName}, sub.Selectors)
		}
	}
}

func appendEntries(out []entry, at source, selectors []resourcev1.DeviceSelector) []entry {
	for i := range selectors {
		if selectors[i].CEL != nil {
			at.selector = i
			out = append(out, entry{source: at, expression: selectors[i].CEL.Expression})
		}
	}
	return out
}
