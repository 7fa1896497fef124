package fakeserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// sorted returns the objects of a resource in the order of the API server, those of one namespace or all.
func (s *Server) sorted(resource inspect.Resource, namespace string) []object {
	var out []object
	for key, o := range s.store[resource] {
		if namespace == "" || key.Namespace == namespace {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b object) int {
		if order := strings.Compare(a.GetNamespace(), b.GetNamespace()); order != 0 {
			return order
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return out
}

// list answers with a page. The token of the next one is the number of objects before it: a page is not of
// one consistent read, as those of the real server are.
func (s *Server) list(w http.ResponseWriter, r *http.Request, t target) {
	query := r.URL.Query()
	s.mu.Lock()
	objects := s.sorted(t.Resource, t.key.Namespace)
	about := map[string]any{"resourceVersion": strconv.FormatInt(s.version, 10)}
	s.mu.Unlock()
	if label := query.Get("labelSelector"); label != "" { // only "has this label" is asked
		objects = slices.DeleteFunc(objects, func(o object) bool { _, ok := o.GetLabels()[label]; return !ok })
	}
	if fields := query.Get("fieldSelector"); fields != "" {
		objects = slices.DeleteFunc(objects, func(o object) bool { return !selected(o, fields) })
	}
	begin, _ := strconv.Atoi(query.Get("continue")) // "" is 0
	objects = objects[min(begin, len(objects)):]
	if limit, _ := strconv.Atoi(query.Get("limit")); limit > 0 && limit < len(objects) {
		about["continue"], about["remainingItemCount"] = strconv.Itoa(begin+limit), len(objects)-limit
		objects = objects[:limit]
	}
	items := make([]map[string]any, len(objects))
	for i, o := range objects {
		items[i] = t.at(o)
		delete(items[i], "kind")
		delete(items[i], "apiVersion")
	}
	reply(w, http.StatusOK, t.listOf(about, items))
}

// selected reports whether an object has the fields of a selector such as
// involvedObject.name=a,involvedObject.kind=Pod.
func selected(o object, selector string) bool {
	for term := range strings.SplitSeq(selector, ",") {
		path, want, _ := strings.Cut(term, "=")
		if got, _, err := unstructured.NestedString(o.Object, strings.Split(path, ".")...); err != nil || got != want {
			return false
		}
	}
	return true
}

// listOf is a list of the kind of the target.
func (t target) listOf(about map[string]any, items any) map[string]any {
	return map[string]any{"kind": t.Name + "List", "apiVersion": t.apiVersion(), "metadata": about, "items": items}
}

// at returns an object as it is served at the version of the target. The top level is a copy.
func (t target) at(o object) map[string]any {
	out := map[string]any{}
	for key, value := range o.Object {
		out[key] = value
	}
	if t.Group == DRA && t.version == betaVersion {
		out = beta(t.Resource, out)
	}
	out["kind"], out["apiVersion"] = t.Name, t.apiVersion()
	return out
}

func (s *Server) get(w http.ResponseWriter, t target) {
	s.mu.Lock()
	o := s.store[t.Resource][t.key]
	s.mu.Unlock()
	if o == nil {
		t.notFound(w)
		return
	}
	reply(w, http.StatusOK, t.at(o))
}

func (t target) notFound(w http.ResponseWriter) {
	Status(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s.%s %q not found", t.Resource, t.Group, t.key.Name))
}

// watch sends changes as they happen, until the client goes away; before that what there is, if that is asked
// for.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, t target) {
	stream := newStream(w)
	since, _ := strconv.ParseInt(r.URL.Query().Get("resourceVersion"), 10, 64) // "" is 0
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		since = s.sendInitial(stream, t)
	}
	for {
		s.mu.Lock()
		if since == 0 {
			since = s.version
		}
		news, changed := s.since(t, since), s.changed
		s.mu.Unlock()
		for _, e := range news {
			since = e.version
			if !stream.Send(e.kind, t.at(e.object)) {
				return
			}
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// since returns the changes of the target after a version.
func (s *Server) since(t target, version int64) []event {
	var out []event
	for _, e := range s.events {
		if e.version > version && e.resource == t.Resource && (t.key.Namespace == "" || t.key.Namespace == e.object.GetNamespace()) {
			out = append(out, e)
		}
	}
	return out
}

// sendInitial sends all objects and the bookmark that says that this was all. It returns the version of that
// moment.
func (s *Server) sendInitial(stream *stream, t target) int64 {
	s.mu.Lock()
	objects, version := s.sorted(t.Resource, t.key.Namespace), s.version
	s.mu.Unlock()
	for _, o := range objects {
		stream.Send("ADDED", t.at(o))
	}
	stream.Send("BOOKMARK", t.bookmark(version, true))
	return version
}

// bookmark is an object that tells only a version.
func (t target) bookmark(version int64, initialEnd bool) map[string]any {
	about := map[string]any{"resourceVersion": strconv.FormatInt(version, 10), "creationTimestamp": nil}
	if initialEnd {
		about["annotations"] = map[string]any{metav1.InitialEventsAnnotationKey: "true"}
	}
	return map[string]any{"kind": t.Name, "apiVersion": t.apiVersion(), "metadata": about}
}

// stream is the body of a watch.
type stream struct {
	w       http.ResponseWriter
	flusher *http.ResponseController
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	s := &stream{w, http.NewResponseController(w)}
	_ = s.flusher.Flush() // if it fails, so does what follows
	return s
}

// Send sends an event and reports whether that worked.
func (s *stream) Send(kind string, object any) bool {
	data, err := json.Marshal(map[string]any{"type": kind, "object": object})
	must(err)
	return s.Raw(string(data) + "\n")
}

// Raw sends bytes.
func (s *stream) Raw(text string) bool {
	_, err := s.w.Write([]byte(text))
	return err == nil && s.flusher.Flush() == nil
}
