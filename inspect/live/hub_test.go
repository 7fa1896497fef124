package live_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// hub is an API server in memory that can be written to, watched, and made to fail.
type hub struct {
	t *testing.T

	mu       sync.Mutex
	revision int
	minor    string              // of the version of the server
	served   map[string][]string // group/version → resources
	// objects are JSON by the path of their collection and by name.
	objects map[string]map[string]string
	// status answers requests below a path with an HTTP status; "" is every path.
	status map[string]int
	// noWatch: the user may list and not watch.
	noWatch bool
	// gone: watches that begin at an old revision are refused with 410.
	gone     bool
	watchers map[*watcher]bool
	events   []hubEvent
	lists    map[string]int
	// streams counts the watches that were to begin with all objects.
	streams int
	// hangUp closes all connections.
	hangUp func()
}

type watcher struct {
	path   string
	events chan hubEvent
}

type hubEvent struct {
	path, kind, object string
	revision           int
}

func newHub(t *testing.T) (*hub, *rest.Config) {
	h := &hub{
		t: t, served: newFake().served, objects: map[string]map[string]string{}, status: map[string]int{},
		watchers: map[*watcher]bool{}, lists: map[string]int{}, revision: 100, minor: "37",
	}
	server := httptest.NewServer(h)
	h.hangUp = server.CloseClientConnections
	t.Cleanup(func() {
		h.cut()
		server.CloseClientConnections()
		server.Close()
	})
	return h, &rest.Config{Host: server.URL}
}

// put creates or replaces an object; body has the fields besides the name.
func (h *hub) put(path, namespace, name, body string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision++
	kind := "ADDED"
	if h.objects[path] == nil {
		h.objects[path] = map[string]string{}
	}
	if _, ok := h.objects[path][namespace+"/"+name]; ok {
		kind = "MODIFIED"
	}
	if body != "" {
		body = "," + body
	}
	object := fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"name":%q,"namespace":%q,"resourceVersion":"%d","managedFields":[{"manager":"m"}]}%s}`,
		kindAt(path), versionAt(path), name, namespace, h.revision, body)
	h.objects[path][namespace+"/"+name] = object
	h.send(hubEvent{path, kind, object, h.revision})
}

func (h *hub) remove(path, namespace, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.revision++
	object := h.objects[path][namespace+"/"+name]
	delete(h.objects[path], namespace+"/"+name)
	h.send(hubEvent{path, "DELETED", object, h.revision})
}

// send must be called with the lock.
func (h *hub) send(e hubEvent) {
	h.events = append(h.events, e)
	for w := range h.watchers {
		if w.path == e.path {
			select {
			case w.events <- e:
			default: // too slow: it has to begin again
				delete(h.watchers, w)
				close(w.events)
			}
		}
	}
}

// cut ends all watches.
func (h *hub) cut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		close(w.events)
	}
	clear(h.watchers)
}

// set changes how the server behaves.
func (h *hub) set(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

func kindAt(path string) string {
	var list struct{ Kind string }
	_ = json.Unmarshal([]byte(listJSON(path, "")), &list)
	return strings.TrimSuffix(list.Kind, "List")
}

func versionAt(path string) string {
	var list struct{ APIVersion string }
	_ = json.Unmarshal([]byte(listJSON(path, "")), &list)
	return list.APIVersion
}

func (h *hub) refusal(path string) int {
	for prefix, code := range h.status {
		if strings.HasPrefix(path, prefix) {
			return code
		}
	}
	return 0
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	h.mu.Lock()
	refusal := h.refusal(path)
	h.mu.Unlock()
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case refusal == http.StatusTooManyRequests:
		w.Header().Set("Retry-After", "0")
		answerStatus(w, refusal, "the server said so")
	case refusal != 0:
		answerStatus(w, refusal, "the server said so")
	case path == "/version":
		_, _ = w.Write([]byte(`{"major":"1","minor":"` + h.minor + `","gitVersion":"v1.` + h.minor + `.1"}`))
	case path == "/metrics":
		answerStatus(w, http.StatusForbidden, "forbidden")
	case len(parts) == 3 && parts[0] == "apis":
		h.mu.Lock()
		f := fakeServer{served: maps.Clone(h.served)}
		h.mu.Unlock()
		f.discovery(w, parts[1]+"/"+parts[2])
	case r.URL.Query().Get("watch") != "":
		h.watch(w, r)
	default:
		h.list(w, path)
	}
}

// collection splits a path into that of the collection and a namespace.
func collection(path string) (string, string) {
	before, after, ok := strings.Cut(path, "/namespaces/")
	if !ok {
		return path, ""
	}
	namespace, resource, _ := strings.Cut(after, "/")
	return before + "/" + resource, namespace
}

func (h *hub) list(w http.ResponseWriter, path string) {
	h.mu.Lock()
	h.lists[path]++
	items := h.items(path)
	body := strings.Replace(listJSON(path, "", items...), `"resourceVersion":"7"`, fmt.Sprintf(`"resourceVersion":"%d"`, h.revision), 1)
	h.mu.Unlock()
	answerJSON(w, body)
}

// items must be called with the lock.
func (h *hub) items(path string) []string {
	all, namespace := collection(path)
	var items []string
	for _, key := range slices.Sorted(maps.Keys(h.objects[all])) {
		if namespace == "" || strings.HasPrefix(key, namespace+"/") {
			items = append(items, h.objects[all][key])
		}
	}
	return items
}

func (h *hub) watch(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	all, _ := collection(r.URL.Path)
	h.mu.Lock()
	if query.Get("sendInitialEvents") == "true" {
		h.streams++
	}
	from, _ := strconv.Atoi(query.Get("resourceVersion"))
	switch {
	case h.noWatch:
		h.mu.Unlock()
		answerStatus(w, http.StatusForbidden, "forbidden")
		return
	case h.gone && from < h.revision:
		h.mu.Unlock()
		answerStatus(w, http.StatusGone, "too old resource version")
		return
	}
	self := &watcher{all, make(chan hubEvent, 10000)}
	h.watchers[self] = true
	var missed []hubEvent
	for _, e := range h.events {
		if e.revision > from && e.path == all {
			missed = append(missed, e)
		}
	}
	h.mu.Unlock()

	w.Header().Set("Content-Type", "application/json")
	write := func(kind, object string) { _, _ = fmt.Fprintf(w, "{\"type\":%q,\"object\":%s}\n", kind, object) }
	for _, e := range missed {
		write(e.kind, e.object)
	}
	for {
		w.(http.Flusher).Flush()
		select {
		case e, ok := <-self.events:
			if !ok {
				return
			}
			write(e.kind, e.object)
		case <-r.Context().Done():
			h.mu.Lock()
			delete(h.watchers, self)
			h.mu.Unlock()
			return
		}
	}
}
