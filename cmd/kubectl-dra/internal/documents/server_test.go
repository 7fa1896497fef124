package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// apiServer is the demo cluster behind an API server: that of internal/fakeserver, with the objects of
// testdata/workloads.yaml besides, which no snapshot carries, and with authorization by RBAC.
type apiServer struct {
	*fakeserver.Server
	workloads []*unstructured.Unstructured

	mu    sync.Mutex
	rules []rbacv1.PolicyRule // nil: everything is permitted
	asked []access            // in the order of arrival
}

// access is what a request asks for, as RBAC names it.
type access struct {
	verb, group, resource, subresource, namespace, name string
	path                                                string // of what is no resource
}

// newServer makes a server.
func newServer(t *testing.T) *apiServer {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	fake, err := fakeserver.New(objects)
	if err != nil {
		t.Fatal(err)
	}
	return &apiServer{Server: fake, workloads: decode(t, "testdata/workloads.yaml")}
}

// decode reads the objects of a file of this package.
func decode(t *testing.T, name string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(path.Join(root, "cmd/kubectl-dra/internal/documents", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		switch err := decoder.Decode(&o.Object); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		case o.Object != nil:
			out = append(out, o)
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := accessOf(r)
	s.mu.Lock()
	rules := s.rules
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	switch {
	case a.resource == "selfsubjectaccessreviews":
		review(w, r, rules)
	case rules != nil && !permits(rules, a):
		refuse(w, a)
	case a.resource == "resourceclaims" && a.subresource == "status" && a.verb == "update" && rules != nil &&
		!permits(rules, access{verb: "update", group: a.group, resource: a.resource, subresource: "binding"}):
		refuse(w, access{verb: "update", group: a.group, resource: a.resource, subresource: "binding"})
	case slices.Contains([]string{"apps", "batch"}, a.group) || a.group == "" && slices.Contains([]string{"services", "replicationcontrollers"}, a.resource) || a.group == rbacv1.GroupName || a.resource == "priorityclasses":
		s.serveWorkload(w, r, a)
	default:
		s.Server.ServeHTTP(w, r)
	}
}

// accessOf is what a request asks for.
func accessOf(r *http.Request) access {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	a := access{verb: map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[r.Method]}
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		a.group, parts = parts[1], parts[3:]
	default:
		return access{verb: "get", path: r.URL.Path}
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		a.namespace, parts = parts[1], parts[2:]
	}
	a.resource = parts[0]
	if len(parts) > 1 {
		a.name = parts[1]
	}
	if len(parts) > 2 {
		a.subresource = parts[2]
	}
	if a.verb == "" {
		a.verb = "get"
		if a.name == "" {
			a.verb = "list"
		}
		if watch := r.URL.Query().Get("watch"); watch == "1" || watch == "true" {
			a.verb = "watch"
		}
	}
	return a
}

// permits reports whether rules permit something. What everybody may do (system:discovery, system:basic-user)
// is permitted.
func permits(rules []rbacv1.PolicyRule, a access) bool {
	if a.path != "" && (a.path == "/version" || a.path == "/api" || strings.HasPrefix(a.path, "/api/") || strings.HasPrefix(a.path, "/apis")) {
		return true
	}
	resource := a.resource
	if a.subresource != "" {
		resource += "/" + a.subresource
	}
	return slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool {
		if !slices.Contains(r.Verbs, a.verb) {
			return false
		}
		if a.path != "" {
			return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
				prefix, all := strings.CutSuffix(url, "*")
				return a.path == url || all && strings.HasPrefix(a.path, prefix)
			})
		}
		return slices.Contains(r.APIGroups, a.group) && slices.Contains(r.Resources, resource)
	})
}

// refuse answers as the API server does to who may not.
func refuse(w http.ResponseWriter, a access) {
	if a.path != "" {
		fakeserver.Status(w, http.StatusForbidden, metav1.StatusReasonForbidden, fmt.Sprintf("forbidden: User %q cannot %s path %q", user, a.verb, a.path))
		return
	}
	resource, of, where := a.resource, a.resource, "at the cluster scope"
	if a.group != "" {
		of += "." + a.group
	}
	if a.name != "" {
		of += fmt.Sprintf(" %q", a.name)
	}
	if a.subresource != "" {
		resource += "/" + a.subresource
	}
	if a.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", a.namespace)
	}
	fakeserver.Status(w, http.StatusForbidden, metav1.StatusReasonForbidden,
		fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q %s", of, user, a.verb, resource, a.group, where))
}

// user is who asks.
const user = "jane"

// review answers what the user may do.
func review(w http.ResponseWriter, r *http.Request, rules []rbacv1.PolicyRule) {
	var asked authorizationv1.SelfSubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if at := asked.Spec.ResourceAttributes; at != nil {
		asked.Status.Allowed = rules == nil || permits(rules, access{verb: at.Verb, group: at.Group, resource: at.Resource, subresource: at.Subresource})
	}
	answer(w, http.StatusCreated, asked)
}

// serveWorkload serves objects that are in no snapshot.
func (s *apiServer) serveWorkload(w http.ResponseWriter, r *http.Request, a access) {
	items := []any{}
	for _, o := range s.workloads {
		group, _, found := strings.Cut(o.GetAPIVersion(), "/")
		if !found {
			group = ""
		}
		resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if group != a.group || resource.Resource != a.resource || a.namespace != "" && o.GetNamespace() != a.namespace {
			continue
		}
		if a.name == o.GetName() && a.verb == "get" {
			answer(w, http.StatusOK, o.Object)
			return
		}
		items = append(items, o.Object)
	}
	if a.name != "" {
		fakeserver.Status(w, http.StatusNotFound, metav1.StatusReasonNotFound, fmt.Sprintf("%s.%s %q not found", a.resource, a.group, a.name))
		return
	}
	version := strings.Join(strings.Split(strings.Trim(r.URL.Path, "/"), "/")[1:3], "/")
	if a.group == "" {
		version = "v1"
	}
	kind, api := "List", version
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") {
		kind, api = "PartialObjectMetadataList", "meta.k8s.io/v1"
	} else if len(a.resource) > 0 {
		kind = kindsOfResources[a.resource] + "List"
	}
	answer(w, http.StatusOK, map[string]any{"kind": kind, "apiVersion": api, "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

// kindsOfResources are those that are served besides.
var kindsOfResources = map[string]string{
	"deployments": "Deployment", "replicasets": "ReplicaSet", "statefulsets": "StatefulSet", "daemonsets": "DaemonSet", "jobs": "Job", "cronjobs": "CronJob",
	"services": "Service", "replicationcontrollers": "ReplicationController",
	"clusterroles": "ClusterRole", "clusterrolebindings": "ClusterRoleBinding", "roles": "Role", "rolebindings": "RoleBinding",
}

func answer(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v) // the client says so if it fails
}

// permit lets the user do what rules permit, or with nil everything, and forgets what was asked.
func (s *apiServer) permit(rules []rbacv1.PolicyRule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules, s.asked = rules, nil
}

// requests are what was asked since the last time.
func (s *apiServer) requests() []access {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}
