package fakeserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const reviewPath = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

// metrics are the feature gates as the API server of Kubernetes 1.37 reports them, those that matter to
// devices.
const metrics = `# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of a k8s feature.
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="DRAAdminAccess",stage=""} 1
kubernetes_feature_enabled{name="DRAConsumableCapacity",stage="BETA"} 1
kubernetes_feature_enabled{name="DRADeviceBindingConditions",stage="BETA"} 1
kubernetes_feature_enabled{name="DRADeviceTaintRules",stage="BETA"} 1
kubernetes_feature_enabled{name="DRADeviceTaints",stage="BETA"} 1
kubernetes_feature_enabled{name="DRAExtendedResource",stage="BETA"} 1
kubernetes_feature_enabled{name="DRAPartitionableDevices",stage="BETA"} 1
kubernetes_feature_enabled{name="DRAPrioritizedList",stage=""} 1
kubernetes_feature_enabled{name="DynamicResourceAllocation",stage=""} 1
`

// target is what the path of a request names.
type target struct {
	inspect.Kind
	version     string
	key         Key
	subresource string
}

// collection: all objects are meant, or those of a namespace.
func (t target) collection() bool { return t.key.Name == "" }

// apiVersion is that of the objects as they are served.
func (t target) apiVersion() string {
	return schema.GroupVersion{Group: t.Group, Version: t.version}.String()
}

// serve answers as an honest server does.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case r.URL.Path == "/version":
		reply(w, http.StatusOK, s.about)
	case r.URL.Path == "/metrics":
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write([]byte(s.metrics)) // the client says so if it fails
	case r.URL.Path == reviewPath:
		s.review(w, body)
	case len(parts) == 3 && parts[0] == "apis":
		s.discover(w, parts[1], parts[2])
	default:
		s.object(w, r, parts, body)
	}
}

func (s *Server) object(w http.ResponseWriter, r *http.Request, parts []string, body []byte) {
	t, ok := s.target(parts)
	switch {
	case !ok:
		notServed(w)
	case r.Method == http.MethodGet && t.collection() && isWatch(r.URL.Query()):
		s.watch(w, r, t)
	case r.Method == http.MethodGet && t.collection():
		s.list(w, r, t)
	case r.Method == http.MethodGet:
		s.get(w, t)
	case r.Method == http.MethodPut && !t.collection():
		s.update(w, r, t, body)
	case r.Method == http.MethodPost && t.collection() && t.Resource == inspect.TaintRules:
		s.create(w, r, t, body)
	case r.Method == http.MethodDelete && t.Resource == inspect.TaintRules && !t.collection():
		s.delete(w, r, t, body)
	default:
		Status(w, http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "the server does not allow this method on the requested resource")
	}
}

// target takes a path apart: /api/v1/… or /apis/GROUP/VERSION/…, with or without a namespace, name and
// subresource.
func (s *Server) target(parts []string) (target, bool) {
	var group string
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[1:]
	case len(parts) > 3 && parts[0] == "apis":
		group, parts = parts[1], parts[2:]
	default:
		return target{}, false
	}
	t := target{version: parts[0]}
	parts = parts[1:]
	if len(parts) > 2 && parts[0] == "namespaces" {
		t.key.Namespace, parts = parts[1], parts[2:]
	}
	k, ok := kindThat(func(k inspect.Kind) bool { return k.Group == group && string(k.Resource) == parts[0] })
	s.mu.Lock()
	served := slices.Contains(s.versions[group], t.version)
	s.mu.Unlock()
	t.Kind = k
	if len(parts) > 1 {
		t.key.Name = parts[1]
	}
	if len(parts) > 2 {
		t.subresource = parts[2]
	}
	return t, ok && served && len(parts) <= 3 && (t.subresource == "" || t.subresource == "status")
}

// discover tells the resources of a group version.
func (s *Server) discover(w http.ResponseWriter, group, version string) {
	s.mu.Lock()
	served, trees := slices.Contains(s.versions[group], version), len(s.store[inspect.CompositePodGroups]) > 0
	s.mu.Unlock()
	if !served {
		notServed(w)
		return
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: group + "/" + version}
	for _, k := range kinds() {
		missing := k.Resource == inspect.CompositePodGroups && !trees // as of most servers
		if k.Group == group && !missing && (version != betaVersion || k.Resource != inspect.TaintRules) {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: string(k.Resource), Namespaced: k.Namespaced, Kind: k.Name,
				Verbs: metav1.Verbs{"create", "delete", "get", "list", "update", "watch"}})
		}
	}
	reply(w, http.StatusOK, list)
}

// review permits everything.
func (s *Server) review(w http.ResponseWriter, body []byte) {
	review := map[string]any{}
	if err := json.Unmarshal(body, &review); err != nil {
		badRequest(w, err)
		return
	}
	review["status"] = map[string]any{"allowed": true}
	reply(w, http.StatusCreated, review)
}

// reply sends JSON.
func reply(w http.ResponseWriter, code int, v any) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(v); err != nil {
		panic(fmt.Sprintf("encoding an answer: %v", err)) // the test is broken
	}
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	w.Header().Set("Content-Length", fmt.Sprint(b.Len()))
	w.WriteHeader(code)
	_, _ = w.Write(b.Bytes()) // the client says so if it fails
}

// Status refuses a request in the way of the API server.
func Status(w http.ResponseWriter, code int, reason metav1.StatusReason, message string) {
	reply(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: reason, Code: int32(code), Message: message, //nolint:gosec // a status has three digits
	})
}

func notServed(w http.ResponseWriter) {
	Status(w, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource")
}

func badRequest(w http.ResponseWriter, err error) {
	Status(w, http.StatusBadRequest, metav1.StatusReasonBadRequest, err.Error())
}
