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
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
)

// object is an object of any kind.
type object interface {
	metav1.Object
	runtime.Object
}

// Server is the API server of a cluster with so many nodes. Make one with New.
type Server struct {
	mu          sync.Mutex
	version     int64
	collections map[string]*collection // by "group/version/resource"; the core group is ""
	listed      time.Time              // when the last list or streaming list had been sent
}

// collection is the objects of one resource, and who watches them. Objects are kept as they are sent, so that neither
// lists nor watches cost what encoding costs.
type collection struct {
	list    func() runtime.Object
	example func() object
	encoder runtime.Encoder
	encoded [][]byte // whole objects, each of which is replaced and never written
	about   []about  // of each object
	// changing are the objects that have changed before, by their place; the others are decoded when they change.
	changing map[int]object
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
	s.add("/v1/pods", func() runtime.Object { return &corev1.PodList{} }, func() object { return &corev1.Pod{} })
	s.add("/v1/nodes", func() runtime.Object { return &corev1.NodeList{} }, func() object { return &corev1.Node{} })
	s.add("/v1/persistentvolumes", func() runtime.Object { return &corev1.PersistentVolumeList{} }, func() object { return &corev1.PersistentVolume{} })
	s.add("/v1/persistentvolumeclaims", func() runtime.Object { return &corev1.PersistentVolumeClaimList{} }, func() object { return &corev1.PersistentVolumeClaim{} })
	s.add("resource.k8s.io/v1/resourceclaims", func() runtime.Object { return &resourcev1.ResourceClaimList{} }, func() object { return &resourcev1.ResourceClaim{} })
	s.add("resource.k8s.io/v1/resourceclaimtemplates", func() runtime.Object { return &resourcev1.ResourceClaimTemplateList{} }, func() object { return &resourcev1.ResourceClaimTemplate{} })
	s.add("resource.k8s.io/v1/resourceslices", func() runtime.Object { return &resourcev1.ResourceSliceList{} }, func() object { return &resourcev1.ResourceSlice{} })
	s.add("resource.k8s.io/v1/deviceclasses", func() runtime.Object { return &resourcev1.DeviceClassList{} }, func() object { return &resourcev1.DeviceClass{} })
	s.add("resource.k8s.io/v1/devicetaintrules", func() runtime.Object { return &resourcev1.DeviceTaintRuleList{} }, func() object { return &resourcev1.DeviceTaintRule{} })
	s.add("flowcontrol.apiserver.k8s.io/v1/flowschemas", func() runtime.Object { return &flowcontrolv1.FlowSchemaList{} }, func() object { return &flowcontrolv1.FlowSchema{} })
	s.add("flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", func() runtime.Object { return &flowcontrolv1.PriorityLevelConfigurationList{} }, func() object { return &flowcontrolv1.PriorityLevelConfiguration{} })
	s.add("storage.k8s.io/v1/storageclasses", func() runtime.Object { return &storagev1.StorageClassList{} }, func() object { return &storagev1.StorageClass{} })
	s.add("storage.k8s.io/v1/csidrivers", func() runtime.Object { return &storagev1.CSIDriverList{} }, func() object { return &storagev1.CSIDriver{} })
	s.add("storage.k8s.io/v1/csistoragecapacities", func() runtime.Object { return &storagev1.CSIStorageCapacityList{} }, func() object { return &storagev1.CSIStorageCapacity{} })

	s.add("/v1/namespaces", func() runtime.Object { return &corev1.NamespaceList{} }, func() object { return &corev1.Namespace{} })
	s.add("/v1/resourcequotas", func() runtime.Object { return &corev1.ResourceQuotaList{} }, func() object { return &corev1.ResourceQuota{} })
	s.add("storage.k8s.io/v1/csinodes", func() runtime.Object { return &storagev1.CSINodeList{} }, func() object { return &storagev1.CSINode{} })
	s.add("storage.k8s.io/v1/volumeattachments", func() runtime.Object { return &storagev1.VolumeAttachmentList{} }, func() object { return &storagev1.VolumeAttachment{} })
	s.add("scheduling.k8s.io/v1beta1/podgroups", func() runtime.Object { return &schedulingv1beta1.PodGroupList{} }, func() object { return &schedulingv1beta1.PodGroup{} })

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

func (s *Server) add(path string, list func() runtime.Object, example func() object) {
	parts := strings.Split(path, "/")
	var protobuf runtime.Serializer
	for _, info := range scheme.Codecs.SupportedMediaTypes() {
		if info.MediaType == runtime.ContentTypeProtobuf {
			protobuf = info.Serializer
		}
	}
	s.collections[path] = &collection{
		list: list, example: example, watchers: map[*watcher]bool{}, changing: map[int]object{},
		encoder: scheme.Codecs.EncoderForVersion(protobuf, schema.GroupVersion{Group: parts[0], Version: parts[1]}),
	}
}

// put stores a new object.
func (s *Server) put(path string, o object) error {
	c := s.collections[path]
	c.encoded, c.about = append(c.encoded, nil), append(c.about, aboutOf(o))
	return s.write(c, len(c.encoded)-1, o)
}

// write gives an object a new version and encodes it.
func (s *Server) write(c *collection, i int, o object) error {
	s.version++
	o.SetResourceVersion(strconv.FormatInt(s.version, 10))
	data, err := runtime.Encode(c.encoder, o)
	c.encoded[i] = data
	return err
}

// Change changes one object, the copy of which it is given, and tells those who watch.
func (s *Server) Change(path string, i int, change func(object)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.collections[path]
	i %= len(c.encoded)
	o := c.changing[i]
	if o == nil {
		o = c.example()
		if err := runtime.DecodeInto(scheme.Codecs.UniversalDeserializer(), c.encoded[i], o); err != nil {
			return fmt.Errorf("decoding object %d of %s: %w", i, path, err)
		}
		c.changing[i] = o
	}
	change(o)
	if err := s.write(c, i, o); err != nil {
		return err
	}
	f, err := frame(watch.Modified, c.encoded[i])
	for w := range c.watchers {
		w.send(f)
	}
	return err
}

// Create adds an object and tells those who watch.
func (s *Server) Create(path string, o object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.put(path, o); err != nil {
		return err
	}
	c := s.collections[path]
	f, err := frame(watch.Added, c.encoded[len(c.encoded)-1])
	for w := range c.watchers {
		w.send(f)
	}
	return err
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
func frame(kind watch.EventType, encoded []byte) ([]byte, error) {
	data, err := (&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: encoded}}).Marshal()
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
		s.named(w, r, c)
	case ok && namespace != "":
		forbid(w)
	case ok:
		s.list(w, r, c)
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
	if mine.sendInitial(w) != nil {
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
func (w *watcher) sendInitial(to io.Writer) error {
	buffered := bufio.NewWriterSize(to, 1<<18)
	for _, encoded := range w.initial {
		f, err := frame(watch.Added, encoded)
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
	end := c.example()
	end.SetResourceVersion(strconv.FormatInt(s.version, 10))
	end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	data, err := runtime.Encode(c.encoder, end)
	if err != nil {
		return err
	}
	f, err := frame(watch.Bookmark, data)
	mine.send(f)
	return err
}
