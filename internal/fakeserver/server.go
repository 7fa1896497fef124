package fakeserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Key names an object of a resource; Namespace is empty where objects have none.
type Key struct{ Namespace, Name string }

func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// object is one as it is stored, at the newest version. It is never changed: a write stores another one.
type object = *unstructured.Unstructured

// event is a change that those who watch are told.
type event struct {
	version  int64
	resource inspect.Resource
	kind     string // ADDED, MODIFIED or DELETED
	object   object
}

// Server is an API server. It may be used by several goroutines.
type Server struct {
	mu       sync.Mutex
	version  int64
	store    map[inspect.Resource]map[Key]object
	events   []event
	changed  chan struct{} // closed and replaced at each event
	versions map[string][]string
	faults   []*armed
	about    map[string]string // what /version says
	metrics  string

	logging sync.Mutex // of the log alone: answers are written while mu is held
	log     []*Request
}

// New makes a server of objects. They get what they lack of UIDs and resource versions, and a namespace is
// made for every namespace that they name.
func New(objects inspect.Objects) (*Server, error) {
	s := &Server{
		version: 1000, store: map[inspect.Resource]map[Key]object{}, changed: make(chan struct{}),
		versions: map[string][]string{Core: {"v1"}, DRA: {"v1", "v1beta2"}, FlowControl: {"v1"}, Storage: {"v1"}, Policy: {"v1"}, Scheduling: {"v1beta1"}},
		about:    map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.1"},
		metrics:  metrics,
	}
	for _, k := range kinds() {
		s.store[k.Resource] = map[Key]object{}
	}
	if err := s.fill(&objects); err != nil {
		return nil, err
	}
	for _, name := range s.namespaces() {
		if s.store[inspect.Namespaces][Key{Name: name}] != nil {
			continue
		}
		namespace := &unstructured.Unstructured{Object: map[string]any{"kind": "Namespace"}}
		namespace.SetName(name)
		s.put(inspect.Namespaces, namespace)
	}
	s.events = nil
	return s, nil
}

func (s *Server) fill(o *inspect.Objects) error {
	for _, k := range inspect.Kinds() {
		for _, object := range k.Objects(o) {
			content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
			if err != nil {
				return fmt.Errorf("adding to %s: %w", k.Resource, err)
			}
			if k.Resource.OfKueue() { // which others have not installed
				s.versions[Kueue] = []string{k.Version}
			}
			s.put(k.Resource, &unstructured.Unstructured{Object: content})
		}
	}
	return nil
}

// namespaces are those that objects are in, sorted.
func (s *Server) namespaces() []string {
	var names []string
	for _, objects := range s.store {
		for key := range objects {
			if key.Namespace != "" {
				names = append(names, key.Namespace)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// put stores an object, which must not be changed afterwards, and tells those who watch.
func (s *Server) put(resource inspect.Resource, o object) {
	key := Key{o.GetNamespace(), o.GetName()}
	kind := "ADDED"
	if s.store[resource][key] != nil {
		kind = "MODIFIED"
	}
	if o.GetUID() == "" {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", s.version+1)))
	}
	s.emit(resource, kind, o)
	s.store[resource][key] = o
}

// drop removes an object and tells those who watch.
func (s *Server) drop(resource inspect.Resource, key Key) {
	old := s.store[resource][key]
	delete(s.store[resource], key)
	s.emit(resource, "DELETED", old.DeepCopy())
}

func (s *Server) emit(resource inspect.Resource, kind string, o object) {
	s.version++
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	s.events = append(s.events, event{s.version, resource, kind, o})
	close(s.changed)
	s.changed = make(chan struct{})
}

// Serve sets the versions at which a group is served; with none the server does not know the group.
func (s *Server) Serve(group string, versions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[group] = versions
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	entry := s.note(r)
	s.answer(&recorder{ResponseWriter: w, server: s, entry: entry}, r)
}
