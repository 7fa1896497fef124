package replay

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// object is an object of any kind.
type object interface {
	metav1.Object
	runtime.Object
	Marshal() ([]byte, error)
	Unmarshal(data []byte) error
}

// Server is the API server of a cluster with so many nodes. Make one with New.
type Server struct {
	mu          sync.Mutex
	version     int64
	collections map[string]*collection // by "group/version/resource"; the core group is ""
	listed      time.Time              // when the last list or streaming list had been sent
}

// collection is the objects of one resource, and who watches them. Objects are kept encoded, so that neither
// lists nor watches cost what encoding costs.
type collection struct {
	inspect.Kind
	encoded  [][]byte // each of which is replaced and never written
	about    []about  // of each object
	watchers map[*watcher]bool
}

// watcher is a watch in progress. Events queue up in it; a client that is slow does not hold up the others.
type watcher struct {
	initial [][]byte // encoded objects, which are sent first
	mu      sync.Mutex
	queue   []byte
	wake    chan struct{}
}

// New makes a cluster with so many nodes, of eight devices, four claims and four pods each.
func New(nodes int) (*Server, error) {
	s := &Server{version: 1, collections: map[string]*collection{}}
	for _, k := range inspect.Kinds() {
		if k.Resource.OfKueue() {
			continue // a cluster without queues, whose kinds cannot be encoded as protocol buffers
		}
		s.collections[strings.Join([]string{k.Group, k.Version, string(k.Resource)}, "/")] = &collection{Kind: k, watchers: map[*watcher]bool{}}
	}
	class := &resourcev1.DeviceClass{ObjectMeta: meta("", "gpu", "helm", 100*time.Hour)}
	class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "` + driver + `"`}}}
	if err := s.put("resource.k8s.io/v1/deviceclasses", class); err != nil {
		return nil, err
	}
	for n := range min(nodes, teams) {
		if err := s.put("/v1/namespaces", &corev1.Namespace{ObjectMeta: meta("", namespaceOf(n), "kubectl", 100*time.Hour)}); err != nil {
			return nil, err
		}
	}
	for n := range nodes {
		if err := s.put("/v1/nodes", newNode(n)); err != nil {
			return nil, err
		}
		if err := s.put("storage.k8s.io/v1/csinodes", newCSINode(n)); err != nil {
			return nil, err
		}
		if err := s.put("resource.k8s.io/v1/resourceslices", newSlice(n)); err != nil {
			return nil, err
		}
		for c := range perNode {
			if err := s.put("resource.k8s.io/v1/resourceclaims", newClaim(n, c)); err != nil {
				return nil, err
			}
			if err := s.put("/v1/pods", newPod(n, c)); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// put stores a new object.
func (s *Server) put(path string, o object) error {
	c := s.collections[path]
	c.encoded, c.about = append(c.encoded, nil), append(c.about, aboutOf(o))
	return s.write(c, len(c.encoded)-1, o)
}

// write gives an object a new version and encodes it.
func (s *Server) write(c *collection, i int, o object) (err error) {
	s.version++
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	c.encoded[i], err = o.Marshal()
	return err
}

// Change changes one object, the copy of which it is given, and tells those who watch.
func (s *Server) Change(path string, i int, change func(object)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.collections[path]
	i %= len(c.encoded)
	o := c.New().(object) //nolint:forcetypeassert // every kind is one
	if err := o.Unmarshal(c.encoded[i]); err != nil {
		return fmt.Errorf("decoding object %d of %s: %w", i, path, err)
	}
	change(o)
	if err := s.write(c, i, o); err != nil {
		return err
	}
	return c.tell(watch.Modified, c.encoded[i])
}

// Create adds an object and tells those who watch.
func (s *Server) Create(path string, o object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.put(path, o); err != nil {
		return err
	}
	c := s.collections[path]
	return c.tell(watch.Added, c.encoded[len(c.encoded)-1])
}

// tell sends an event to all that watch.
func (c *collection) tell(kind watch.EventType, encoded []byte) error {
	f, err := c.frame(kind, encoded)
	for w := range c.watchers {
		w.send(f)
	}
	return err
}

// enveloped is an encoded object, or a list, as the API sends it.
func (c *collection) enveloped(kind string, encoded []byte) ([]byte, error) {
	data, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: c.APIVersion(), Kind: kind}, Raw: encoded}).Marshal()
	return append([]byte("k8s\x00"), data...), err
}

// list sends a page, or everything at once if no page is asked for. Its pages are of the newest objects,
// which a real server's are not; nothing is measured that reads pages while objects change.
func (s *Server) list(w http.ResponseWriter, c *collection, from, limit int) {
	s.mu.Lock()
	objects, about := c.encoded[min(from, len(c.encoded)):], metav1.ListMeta{ResourceVersion: strconv.FormatInt(s.version, 10)}
	if limit > 0 && limit < len(objects) {
		objects = objects[:limit]
		about.Continue = strconv.Itoa(from + limit)
	}
	objects = slices.Clone(objects)
	s.mu.Unlock()
	const metadataTag, itemsTag = 1<<3 | 2, 2<<3 | 2 // of every list
	encoded, err := about.Marshal()
	raw := field(nil, metadataTag, encoded)
	for _, o := range objects {
		raw = field(raw, itemsTag, o)
	}
	if err == nil {
		encoded, err = c.enveloped(c.Name+"List", raw)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf)
	if _, err := w.Write(encoded); err == nil {
		s.sent()
	}
}

func field(to []byte, tag byte, data []byte) []byte {
	return append(binary.AppendUvarint(append(to, tag), uint64(len(data))), data...)
}

// Listed is when the last list, or beginning of a watch, had been sent to the last byte.
func (s *Server) Listed() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listed
}

// Backlog is the number of bytes that clients have not taken yet.
func (s *Server) Backlog() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := 0
	for _, c := range s.collections {
		for w := range c.watchers {
			w.mu.Lock()
			sum += len(w.queue)
			w.mu.Unlock()
		}
	}
	return sum
}

// frame makes an event of a watch: its length, and the event with the encoded object in it.
func (c *collection) frame(kind watch.EventType, encoded []byte) ([]byte, error) {
	object, err := c.enveloped(c.Name, encoded)
	if err != nil {
		return nil, err
	}
	data, err := (&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}).Marshal()
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...), err //nolint:gosec // objects are small
}

func (w *watcher) send(frame []byte) {
	w.mu.Lock()
	w.queue = append(w.queue, frame...)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *watcher) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	queue := w.queue
	w.queue = nil
	return queue
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path, namespace := withoutNamespace(strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, "/apis/"), "/api"))
	switch c, ok := s.collections[path]; {
	case r.URL.Path == "/version":
		reply(w, map[string]string{"major": "1", "minor": "37", "gitVersion": "v1.37.2"})
	case ok && r.URL.Query().Get("watch") != "" && r.URL.Query().Get("watch") != "false":
		s.watch(w, r, c)
	case ok && strings.HasPrefix(r.Header.Get("Accept"), "application/json;as=Table"):
		s.table(w, path, namespace, c)
	case ok && r.URL.Query().Has("fieldSelector"):
		s.list(w, c, s.named(c, strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")), 1)
	case ok && namespace != "":
		forbid(w)
	case ok:
		from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
		s.list(w, c, from, limit)
	case strings.Count(path, "/") == 1 && strings.HasPrefix(r.URL.Path, "/apis/"):
		s.discover(w, path)
	default:
		forbid(w)
	}
}

func forbid(w http.ResponseWriter) {
	w.WriteHeader(http.StatusForbidden)
	reply(w, metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure, Reason: metav1.StatusReasonForbidden, Code: http.StatusForbidden, Message: "the replay permits reading only"})
}

func reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_ = json.NewEncoder(w).Encode(v)
}

// discover tells the resources of a group version.
func (s *Server) discover(w http.ResponseWriter, gv string) {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv}
	for path := range s.collections {
		if name, ok := strings.CutPrefix(path, gv+"/"); ok {
			list.APIResources = append(list.APIResources, metav1.APIResource{Name: name, Verbs: metav1.Verbs{"list", "watch"}})
		}
	}
	if len(list.APIResources) == 0 {
		w.WriteHeader(http.StatusNotFound)
	}
	reply(w, list)
}

func (s *Server) sent() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = time.Now()
}

// watch sends changes as they happen, before that what there is if that is asked for.
func (s *Server) watch(w http.ResponseWriter, r *http.Request, c *collection) {
	mine := &watcher{wake: make(chan struct{}, 1)}
	streaming := r.URL.Query().Get("sendInitialEvents") == "true"
	if err := s.begin(c, mine, streaming); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(c.watchers, mine)
	}()
	w.Header().Set("Content-Type", runtime.ContentTypeProtobuf+";stream=watch")
	flusher := http.NewResponseController(w)
	if mine.sendInitial(w, c) != nil {
		return
	}
	for first := true; ; first = false {
		if _, err := w.Write(mine.take()); err != nil || flusher.Flush() != nil {
			return
		}
		if first && streaming {
			s.sent()
		}
		select {
		case <-mine.wake:
		case <-r.Context().Done():
			return
		}
	}
}

// sendInitial sends what there was when the watch began.
func (w *watcher) sendInitial(to io.Writer, c *collection) error {
	buffered := bufio.NewWriterSize(to, 1<<18)
	for _, encoded := range w.initial {
		f, err := c.frame(watch.Added, encoded)
		if err != nil {
			return err
		}
		if _, err := buffered.Write(f); err != nil {
			return fmt.Errorf("sending: %w", err)
		}
	}
	w.initial = nil
	return buffered.Flush()
}

// begin adds a watcher and gives it what there is, closed by the bookmark that says that this was all.
func (s *Server) begin(c *collection, mine *watcher, streaming bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.watchers[mine] = true
	if !streaming {
		return nil
	}
	mine.initial = slices.Clone(c.encoded)
	end := c.New().(object) //nolint:forcetypeassert // every kind is one
	end.SetResourceVersion(strconv.FormatInt(s.version, 10))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	data, err := end.Marshal()
	if err != nil {
		return err
	}
	f, err := c.frame(watch.Bookmark, data)
	mine.send(f)
	return err
}
