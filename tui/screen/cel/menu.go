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
	// request is the name of the request, or of an alternative of one, class that of the class that it names.
	request, class string
}

func (s *source) String() string {
	text := strings.ToLower(strings.TrimPrefix(string(s.ref.Kind), "Resource")) + " " + s.ref.String()
	if s.ref.Kind != screen.Class && s.ref.Kind != screen.None {
		text += " request " + s.request
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

// openLoad offers the selectors of all classes, claims and templates.
func (s *Screen) openLoad(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	var entries []entry
	for _, ref := range refs(w.Snapshot.Objects()) {
		loaded, _ := entriesOf(w.Snapshot, ref)
		entries = append(entries, loaded...)
	}
	return choose("load: ", entries, s.loadEntry)
}

func (s *Screen) loadEntry(w *screen.World, e *entry) tea.Cmd {
	s.ed.Set(e.expression)
	s.ed.popup.close()
	s.source, s.class = e.source, e.source.class
	return tea.Batch(s.tried.try(w, s.ed.Text()), s.tried.read(w, s.class))
}

// openClasses offers the classes behind which the selector can stand.
func (s *Screen) openClasses(w *screen.World) tea.Cmd {
	if w.Snapshot == nil {
		return nil
	}
	entries := []entry{{label: "all classes"}}
	for _, c := range w.Snapshot.Objects().Classes {
		entries = append(entries, entry{source: source{class: c.Name}, label: c.Name, expression: strings.Join(screen.Expressions(c.Spec.Selectors), " && ")})
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
	entries, _ := entriesOf(w.Snapshot, ref)
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
	entries, exists := entriesOf(s, ref)
	return !exists || len(entries) > 0
}

// refs are the objects that may have selectors.
func refs(o *inspect.Objects) []screen.Ref {
	return slices.Concat(screen.RefsOf(screen.Class, o.Classes), screen.RefsOf(screen.Template, o.Templates), screen.RefsOf(screen.Claim, o.Claims))
}

// entriesOf are the selectors of a class, a claim or a template, and whether that exists.
func entriesOf(s *inspect.Snapshot, ref screen.Ref) (entries []entry, exists bool) {
	add := func(at source, selectors []resourcev1.DeviceSelector) {
		for _, expression := range screen.Expressions(selectors) {
			entries = append(entries, entry{source: at, expression: expression})
		}
	}
	if ref.Kind == screen.Class {
		class, ok := s.Class(ref.Name)
		if ok {
			add(source{ref: ref}, class.Spec.Selectors)
		}
		return entries, ok
	}
	var spec *resourcev1.ResourceClaimSpec
	if t, ok := s.Template(ref.Namespace, ref.Name); ok && ref.Kind == screen.Template {
		spec = &t.Spec.Spec
	} else if c, ok := s.Claim(inspect.ClaimRef{Namespace: ref.Namespace, Name: ref.Name}); ok && ref.Kind == screen.Claim {
		spec = &c.Spec
	} else {
		return nil, false
	}
	for _, asked := range inspect.AskedBy(spec) {
		add(source{ref: ref, request: asked.Name, class: asked.Class}, *asked.Selectors)
	}
	return entries, true
}
