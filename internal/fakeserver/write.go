package fakeserver

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kjson "sigs.k8s.io/json"
)

// decode reads the object of a body.
func decode(body []byte) (object, error) {
	o := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(body, &o.Object); err != nil {
		return nil, err
	}
	return o, nil
}

// update replaces what a request may change of an object: its status, or else its annotations and finalizers.
func (s *Server) update(w http.ResponseWriter, r *http.Request, t target, body []byte) {
	sent, err := decode(body)
	if err != nil {
		badRequest(w, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.store[t.Resource][t.key]
	switch {
	case old == nil:
		t.notFound(w)
		return
	case sent.GetResourceVersion() != "" && sent.GetResourceVersion() != old.GetResourceVersion(),
		sent.GetUID() != "" && sent.GetUID() != old.GetUID():
		Status(w, http.StatusConflict, metav1.StatusReasonConflict, fmt.Sprintf(
			"Operation cannot be fulfilled on %s.%s %q: the object has been modified; please apply your changes to the latest version and try again", t.Resource, t.Group, t.key.Name))
		return
	}
	changed := old.DeepCopy()
	if t.subresource == "status" {
		changed.Object["status"] = sent.Object["status"]
	} else {
		changed.SetAnnotations(sent.GetAnnotations())
		changed.SetFinalizers(sent.GetFinalizers())
	}
	if !dry(r, nil) {
		s.put(t.Resource, changed)
	}
	reply(w, http.StatusOK, t.at(changed))
}

func (s *Server) create(w http.ResponseWriter, r *http.Request, t target, body []byte) {
	o, err := decode(body)
	if err != nil {
		badRequest(w, err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store[t.Resource][Key{o.GetNamespace(), o.GetName()}] != nil {
		Status(w, http.StatusConflict, metav1.StatusReasonAlreadyExists, fmt.Sprintf("%s.%s %q already exists", t.Resource, t.Group, o.GetName()))
		return
	}
	o.SetCreationTimestamp(metav1.NewTime(time.Now().UTC().Truncate(time.Second)))
	if !dry(r, nil) {
		s.put(t.Resource, o)
	}
	reply(w, http.StatusCreated, t.at(o))
}

func (s *Server) delete(w http.ResponseWriter, r *http.Request, t target, body []byte) {
	options := &metav1.DeleteOptions{}
	if len(body) > 0 {
		if err := kjson.UnmarshalCaseSensitivePreserveInts(body, options); err != nil {
			badRequest(w, err)
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.store[t.Resource][t.key]
	switch p := options.Preconditions; {
	case old == nil:
		t.notFound(w)
		return
	case p != nil && p.UID != nil && *p.UID != old.GetUID():
		Status(w, http.StatusConflict, metav1.StatusReasonConflict, "the UID in the precondition is not the UID in record")
		return
	}
	if !dry(r, options.DryRun) {
		s.drop(t.Resource, t.key)
	}
	reply(w, http.StatusOK, t.at(old))
}

// dry reports whether a write is only to be tried.
func dry(r *http.Request, options []string) bool {
	return slices.Contains(append(r.URL.Query()["dryRun"], options...), metav1.DryRunAll)
}
