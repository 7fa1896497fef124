package commit

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// apiServer serves a world at one version of resource.k8s.io. Objects have a field in their status that this
// program does not know.
type apiServer struct {
	w       *world
	version string
	denied  []string          // verb and resource of permissions that the user does not have
	asked   []string          // verb and resource of those that were asked about
	labels  map[string]string // of the namespace; nil when it cannot be read
	fail    int               // the status to answer with instead
	bodies  []string          // of the writes
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	claims := "/apis/resource.k8s.io/" + s.version + "/"
	switch {
	case s.fail != 0:
		answer(w, s.fail, nil)
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		s.review(w, r)
	case r.URL.Path == claims+"resourceclaims":
		answer(w, http.StatusOK, map[string]any{"kind": "ResourceClaimList", "metadata": map[string]any{}, "items": s.w.list()})
	case strings.HasPrefix(r.URL.Path, claims) && len(parts) >= 7:
		s.claim(w, r, inspect.ClaimRef{Namespace: parts[4], Name: parts[6]}, len(parts) == 8)
	case strings.HasPrefix(r.URL.Path, claims+"devicetaintrules"):
		s.rules(w, r, strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, claims+"devicetaintrules"), "/"))
	case r.URL.Path == "/api/v1/namespaces/ns" && s.labels != nil:
		answer(w, http.StatusOK, map[string]any{"metadata": map[string]any{"labels": s.labels}})
	case strings.Contains(r.URL.Path, "/pods/"):
		answer(w, http.StatusOK, map[string]any{"kind": "Pod", "metadata": map[string]any{"uid": "pod-uid"}})
	default:
		answer(w, http.StatusNotFound, nil)
	}
}

func (s *apiServer) claim(w http.ResponseWriter, r *http.Request, ref inspect.ClaimRef, status bool) {
	stored, ok := s.w.claims[ref]
	if !ok {
		answer(w, http.StatusNotFound, nil)
		return
	}
	if r.Method == http.MethodPut {
		var body map[string]any
		claim := &resourcev1.ResourceClaim{}
		_ = json.NewDecoder(r.Body).Decode(&body) // seen in what is compared
		text, _ := json.Marshal(body)
		_ = json.Unmarshal(text, claim)
		s.bodies = append(s.bodies, string(text))
		write := s.w.writeMeta
		if status {
			write = s.w.writeStatus
		}
		before := s.w.claims[ref]
		var err error
		if stored, err = write(claim); err != nil {
			answer(w, http.StatusConflict, nil)
			return
		}
		if r.URL.Query().Get("dryRun") == "All" {
			s.w.claims[ref] = before
		}
	}
	text, _ := json.Marshal(stored)
	var object map[string]any
	_ = json.Unmarshal(text, &object)
	object["kind"] = "ResourceClaim"
	object["status"].(map[string]any)["ofTheFuture"] = "kept"
	answer(w, http.StatusOK, object)
}

// rules serves DeviceTaintRules.
func (s *apiServer) rules(w http.ResponseWriter, r *http.Request, name string) {
	p := &process{w: s.w}
	rule, options := &resourcev1.DeviceTaintRule{}, &metav1.DeleteOptions{}
	var err error
	switch r.Method {
	case http.MethodGet:
		rules, _ := p.Fences(r.Context())
		if r.URL.Query().Get("labelSelector") != FenceKey {
			rules = nil
		}
		answer(w, http.StatusOK, map[string]any{"kind": "DeviceTaintRuleList", "metadata": map[string]any{}, "items": rules})
		return
	case http.MethodPost:
		_ = json.NewDecoder(r.Body).Decode(rule) // seen in what is compared
		if rule.APIVersion != "resource.k8s.io/"+s.version || rule.Kind != "DeviceTaintRule" {
			answer(w, http.StatusBadRequest, nil)
			return
		}
		err = p.CreateRule(r.Context(), rule)
	case http.MethodDelete:
		_ = json.NewDecoder(r.Body).Decode(options) // seen in what is compared
		rule.Name = name
		if options.Preconditions != nil {
			rule.UID = *options.Preconditions.UID
		}
		err = p.DeleteRule(r.Context(), rule)
	}
	switch {
	case errors.Is(err, requests.ErrExists):
		answer(w, http.StatusConflict, map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": http.StatusConflict, "reason": "AlreadyExists"})
	case errors.Is(err, requests.ErrNotFound):
		answer(w, http.StatusNotFound, nil)
	default:
		answer(w, http.StatusOK, rule)
	}
}

func (s *apiServer) review(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Spec struct {
			ResourceAttributes struct{ Verb, Resource, Subresource, Namespace, Name string }
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&review) // seen in what was asked
	a := review.Spec.ResourceAttributes
	name := strings.TrimSuffix(a.Verb+" "+a.Resource+"/"+a.Subresource, "/")
	s.asked = append(s.asked, name+" in "+a.Namespace)
	answer(w, http.StatusCreated, map[string]any{"status": map[string]any{"allowed": !slices.Contains(s.denied, name)}})
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if body == nil {
		reasons := map[int]string{http.StatusNotFound: "NotFound", http.StatusConflict: "Conflict", http.StatusForbidden: "Forbidden"}
		body = map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reasons[code], "message": "the reason"}
	}
	_ = json.NewEncoder(w).Encode(body) // the client says so if it fails
}

func startAPI(t *testing.T, s *apiServer, dryRun bool) *requests.API {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api, err := requests.NewAPI(&rest.Config{Host: server.URL}, s.version, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// over is a committer that reads the world directly and writes over HTTP.
func over(api *requests.API, w *world) *Committer {
	c := (&process{w: w}).committer("5")
	c.Server = api
	return c
}

func TestEveryVersionIsWritten(t *testing.T) {
	for _, version := range []string{"v1", "v1beta2", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			s := &apiServer{w: newWorld(2, "a", "b"), version: version}
			c := over(startAPI(t, s, false), s.w)
			_, claims, err := c.Allocate(t.Context(), wanting("a", "b"))
			if err != nil || len(claims) != 2 {
				t.Fatal(claims, err)
			}
			inOrder(t, s.w, "a b")
			for _, body := range s.bodies {
				if !strings.Contains(body, `"ofTheFuture":"kept"`) {
					t.Errorf("a field is lost that this program does not know: %s", body)
				}
			}
			if _, err := c.Deallocate(t.Context(), []inspect.ClaimRef{ref("a"), ref("b")}); err != nil {
				t.Fatal(err)
			}
			inOrder(t, s.w, "")
		})
	}
}

func TestServerDryRun(t *testing.T) {
	s := &apiServer{w: newWorld(1, "a"), version: "v1"}
	c := over(startAPI(t, s, true), s.w)
	d, err := wanting("a")(t.Context(), s.w.snapshot())
	if err != nil {
		t.Fatal(err)
	}
	s.w.claims[ref("a")].Finalizers = []string{resourcev1.Finalizer} // which the dry run of the first write did not store
	d.Claims[0].Finalizers = []string{resourcev1.Finalizer}
	claims, err := c.DryRun(t.Context(), d)
	if err != nil || claims[0].Status.Allocation == nil || !slices.Contains(claims[0].Finalizers, resourcev1.Finalizer) {
		t.Errorf("dry run: %v, %v", claims, err)
	}
	if s.w.allocated() != "" || len(s.bodies) != 2 {
		t.Errorf("allocated %q after %d writes", s.w.allocated(), len(s.bodies))
	}
}

func TestAnswersOfTheServer(t *testing.T) {
	s := &apiServer{w: newWorld(1, "a"), version: "v1"}
	api := startAPI(t, s, false)
	if _, err := api.Claim(t.Context(), ref("none")); !errors.Is(err, requests.ErrNotFound) {
		t.Errorf("a claim that is not there: %v", err)
	}
	claim, err := api.Claim(t.Context(), ref("a"))
	if err != nil {
		t.Fatal(err)
	}
	stale := claim.DeepCopy()
	claim.Finalizers = []string{resourcev1.Finalizer}
	if _, err = api.UpdateMeta(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	if _, err := api.UpdateMeta(t.Context(), stale); !errors.Is(err, requests.ErrConflict) {
		t.Errorf("a write at an old version: %v", err)
	}
	delete(s.w.claims, ref("a"))
	if _, err := api.UpdateStatus(t.Context(), stale); !errors.Is(err, requests.ErrConflict) {
		t.Errorf("a write to a claim that is gone: %v", err)
	}
	if uid, err := api.PodUID(t.Context(), inspect.PodRef{Namespace: "ns", Name: "p"}); err != nil || uid != "pod-uid" {
		t.Errorf("uid %q: %v", uid, err)
	}
	s.fail = http.StatusForbidden
	if _, err := api.Claims(t.Context()); err == nil || errors.Is(err, requests.ErrConflict) || !strings.Contains(err.Error(), "the reason") {
		t.Errorf("forbidden: %v", err)
	}
}

func TestMissingPermissionsAreNamed(t *testing.T) {
	s := &apiServer{w: newWorld(1, "a"), version: "v1", denied: []string{"update resourceclaims/status", "update resourceclaims/binding"}}
	api := startAPI(t, s, false)
	err := api.Check(t.Context(), Needed(inspect.DefaultFeatures(37), Allocating, []string{"ns", "ns"}, true))
	want := "you may not update resourceclaims/status (resource.k8s.io) in namespace ns, nor update resourceclaims/binding (resource.k8s.io) at cluster scope"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	asked := []string{"list resourceclaims in ", "get resourceclaims in ns", "update resourceclaims in ns", "update resourceclaims/status in ns", "get pods in ns", "update resourceclaims/binding in "}
	if !slices.Equal(s.asked, asked) {
		t.Errorf("asked %q, want %q", s.asked, asked)
	}
	s.asked = nil
	if err := api.Check(t.Context(), Needed(inspect.DefaultFeatures(35), Deallocating, []string{"ns"}, false)); err == nil || slices.Contains(s.asked, "update resourceclaims/binding in ") {
		t.Errorf("1.35 has no permission for binding: asked %q, %v", s.asked, err)
	}
	s.fail = http.StatusForbidden
	if err := api.Check(t.Context(), Needed(inspect.DefaultFeatures(37), Allocating, []string{"ns"}, false)); err != nil {
		t.Errorf("a server that cannot be asked decides when it is written to: %v", err)
	}
}

func TestRulesOverHTTP(t *testing.T) {
	for _, version := range []string{"v1", "v1beta2", "v1alpha3"} {
		s := &apiServer{w: newWorld(1, "a", "b"), version: version}
		rules := startAPI(t, s, false).Rules(version)
		r, err := (&process{w: s.w}).committer("1").newRun()
		if err != nil {
			t.Fatal(err)
		}
		rule, err := r.ruleFor(endangered{device: inspect.DeviceID{Driver: "d", Pool: "p", Device: "x0"}, with: []inspect.ClaimRef{ref("b")}, uid: "uid-b"})
		if err != nil {
			t.Fatal(err)
		}
		if err := rules.CreateRule(t.Context(), rule); err != nil {
			t.Fatal(err)
		}
		if err := rules.CreateRule(t.Context(), rule); !errors.Is(err, requests.ErrExists) {
			t.Errorf("%s: a second rule of one name: %v", version, err)
		}
		fences, err := rules.Fences(t.Context())
		if err != nil || len(fences) != 1 {
			t.Fatalf("%s: %d rules: %v", version, len(fences), err)
		}
		if id, ok := fencedBy(fences[0]); !ok || id.Device != "x0" || !strings.Contains(fences[0].Annotations[FenceKey], `"holder":"ns/b"`) {
			t.Errorf("%s: read is %v", version, fences[0])
		}
		if err := rules.DeleteRule(t.Context(), rule); !errors.Is(err, requests.ErrNotFound) {
			t.Errorf("%s: a rule of another UID was deleted: %v", version, err)
		}
		if err := rules.DeleteRule(t.Context(), fences[0]); err != nil || len(s.w.objects.TaintRules) != 0 {
			t.Errorf("%s: left are %v: %v", version, s.w.objects.TaintRules, err)
		}
		s.fail = http.StatusForbidden
		if _, err := rules.Fences(t.Context()); err == nil || !strings.Contains(err.Error(), "the reason") {
			t.Errorf("%s: forbidden: %v", version, err)
		}
	}
}

func TestAdminAccessIsCheckedBeforehand(t *testing.T) {
	label := func(value string) map[string]string {
		return map[string]string{resourcev1.DRAAdminNamespaceLabelKey: value}
	}
	for name, tt := range map[string]struct {
		labels  map[string]string
		device  resourcev1.DeviceRequestAllocationResult
		minor   int
		refused bool
	}{
		"permitted":                          {label("true"), admin("x0"), 37, false},
		"another value":                      {label("yes"), admin("x0"), 37, true},
		"no label":                           {map[string]string{}, admin("x0"), 37, true},
		"no admin access":                    {map[string]string{}, whole("x0"), 37, false},
		"a namespace that cannot be read":    {nil, admin("x0"), 37, false},
		"a release that has no such label":   {map[string]string{}, admin("x0"), 33, false},
		"the oldest release that wants them": {map[string]string{}, admin("x0"), 34, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &apiServer{w: newWorld(1, "a"), version: "v1", labels: tt.labels}
			d := &Decision{
				Snapshot:    inspect.New(inspect.Objects{}, inspect.Config{Features: inspect.DefaultFeatures(tt.minor)}),
				Claims:      []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}},
				Allocations: map[inspect.ClaimRef]*resourcev1.AllocationResult{ref("a"): held("a", tt.device).Status.Allocation},
			}
			if err := CheckAdminAccess(t.Context(), startAPI(t, s, false), d); (err != nil) != tt.refused {
				t.Errorf("got %v, want an error: %v", err, tt.refused)
			}
		})
	}
}
