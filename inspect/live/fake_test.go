package live_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// fakeServer is as much of an API server as Read needs. It speaks JSON only.
type fakeServer struct {
	version  string              // body of /version; "" is 403
	metrics  string              // body of /metrics; "" is 403
	served   map[string][]string // group/version → resources
	objects  map[string][]string // path of a list → items, as JSON
	status   map[string]int      // path → HTTP status to answer with instead
	override map[string]http.HandlerFunc

	mu       sync.Mutex
	requests []string
}

// newFake is a server of Kubernetes 1.37 without objects that permits everything.
func newFake() *fakeServer {
	return &fakeServer{
		version: `{"major":"1","minor":"37","gitVersion":"v1.37.1"}`,
		metrics: "# TYPE kubernetes_feature_enabled gauge\n" +
			`kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1` + "\n",
		served: map[string][]string{
			"resource.k8s.io/v1":              {"resourceclaims", "resourceclaimtemplates", "deviceclasses", "resourceslices", "devicetaintrules"},
			"flowcontrol.apiserver.k8s.io/v1": {"flowschemas", "prioritylevelconfigurations"},
			"storage.k8s.io/v1":               {"storageclasses", "csidrivers", "csistoragecapacities", "csinodes", "volumeattachments"},
			"policy/v1":                       {"poddisruptionbudgets"},
			"scheduling.k8s.io/v1beta1":       {"podgroups"},
		},
		objects: map[string][]string{}, status: map[string]int{}, override: map[string]http.HandlerFunc{},
	}
}

// start runs the server until the test ends.
func (f *fakeServer) start(t *testing.T) *rest.Config {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL}
}

// asked returns the requests whose path and query contain text.
func (f *fakeServer) asked(text string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(f.requests), func(r string) bool { return !strings.Contains(r, text) })
}

func (f *fakeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, r.URL.RequestURI())
	f.mu.Unlock()
	path := r.URL.Path
	if handle := f.override[path]; handle != nil {
		handle(w, r)
		return
	}
	if code := f.status[path]; code != 0 {
		answerStatus(w, code, "the server said so")
		return
	}
	switch parts := strings.Split(strings.Trim(path, "/"), "/"); {
	case path == "/version":
		f.text(w, f.version)
	case path == "/metrics":
		f.text(w, f.metrics)
	case len(parts) == 3 && parts[0] == "apis":
		f.discovery(w, parts[1]+"/"+parts[2])
	case parts[0] == "api" && len(parts) >= 3 && parts[1] == "v1",
		parts[0] == "apis" && len(parts) >= 4 && slices.Contains(f.served[parts[1]+"/"+parts[2]], parts[len(parts)-1]):
		f.list(w, r)
	default:
		answerStatus(w, http.StatusNotFound, "the server could not find the requested resource")
	}
}

func (f *fakeServer) text(w http.ResponseWriter, body string) {
	if body == "" {
		answerStatus(w, http.StatusForbidden, "forbidden")
		return
	}
	_, _ = w.Write([]byte(body))
}

func (f *fakeServer) discovery(w http.ResponseWriter, groupVersion string) {
	resources, ok := f.served[groupVersion]
	if !ok {
		answerStatus(w, http.StatusNotFound, "no such group")
		return
	}
	var items []string
	for _, name := range resources {
		items = append(items, fmt.Sprintf(`{"name":%q,"verbs":["get","list"]},{"name":%q,"verbs":["get"]}`, name, name+"/status"))
	}
	answerJSON(w, fmt.Sprintf(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":%q,"resources":[%s]}`,
		groupVersion, strings.Join(items, ",")))
}

// list answers with the items of a path, in pages; the continue token is the next index.
func (f *fakeServer) list(w http.ResponseWriter, r *http.Request) {
	items := f.objects[r.URL.Path]
	from, _ := strconv.Atoi(r.URL.Query().Get("continue"))
	next := ""
	if limit, _ := strconv.Atoi(r.URL.Query().Get("limit")); limit > 0 && from+limit < len(items) {
		items, next = items[:from+limit], strconv.Itoa(from+limit)
	}
	answerJSON(w, listJSON(r.URL.Path, next, items[from:]...))
}

// listJSON is a list as the path of its collection would answer.
func listJSON(path, next string, items ...string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	version := parts[1]
	if parts[0] == "apis" {
		version += "/" + parts[2]
	}
	kinds := map[string]string{
		"resourceclaims": "ResourceClaim", "resourceclaimtemplates": "ResourceClaimTemplate", "deviceclasses": "DeviceClass",
		"resourceslices": "ResourceSlice", "devicetaintrules": "DeviceTaintRule", "pods": "Pod", "nodes": "Node",
		"flowschemas": "FlowSchema", "prioritylevelconfigurations": "PriorityLevelConfiguration",
		"storageclasses": "StorageClass", "csidrivers": "CSIDriver", "csistoragecapacities": "CSIStorageCapacity",
		"persistentvolumeclaims": "PersistentVolumeClaim", "persistentvolumes": "PersistentVolume", "namespaces": "Namespace",
		"csinodes": "CSINode", "volumeattachments": "VolumeAttachment", "podgroups": "PodGroup", "compositepodgroups": "CompositePodGroup", "resourcequotas": "ResourceQuota", "limitranges": "LimitRange", "events": "Event",
		"poddisruptionbudgets": "PodDisruptionBudget",
		"services":             "Service", "replicationcontrollers": "ReplicationController", "replicasets": "ReplicaSet", "statefulsets": "StatefulSet",
		"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding", "roles": "Role", "rolebindings": "RoleBinding",
	}
	for _, k := range inspect.Kinds() {
		if k.Resource.OfKueue() {
			kinds[string(k.Resource)] = k.Name
		}
	}
	return fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"7","continue":%q},"items":[%s]}`,
		kinds[parts[len(parts)-1]]+"List", version, next, strings.Join(items, ","))
}

func answerJSON(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(body))
}

// answerStatus answers as an API server does when it refuses.
func answerStatus(w http.ResponseWriter, code int, message string) {
	reasons := map[int]string{
		http.StatusForbidden: "Forbidden", http.StatusNotFound: "NotFound", http.StatusUnauthorized: "Unauthorized",
		http.StatusGone: "Expired", http.StatusTooManyRequests: "TooManyRequests", http.StatusInternalServerError: "InternalError",
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reasons[code], "message": message,
	})
}

// named is an object with nothing but a name.
func named(name string) string { return fmt.Sprintf(`{"metadata":{"name":%q}}`, name) }
