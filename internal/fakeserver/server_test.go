package fakeserver

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// start serves the demo cluster until the test ends.
func start(t *testing.T) (*Server, string) {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(objects)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	return s, web.URL
}

// ask makes a request and returns the status and the decoded answer.
func ask(t *testing.T, method, url, body string) (int, map[string]any) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(data, &answer); err != nil {
		t.Fatalf("%s %s: %v in %q", method, url, err, data)
	}
	return response.StatusCode, answer
}

func TestPages(t *testing.T) {
	s, url := start(t)
	var names []string
	for next, pages := "", 0; ; pages++ {
		_, page := ask(t, http.MethodGet, url+"/apis/resource.k8s.io/v1/resourceclaims?limit=7&continue="+next, "")
		for _, item := range page["items"].([]any) {
			about := item.(map[string]any)["metadata"].(map[string]any)
			names = append(names, about["namespace"].(string)+"/"+about["name"].(string))
		}
		next, _ = page["metadata"].(map[string]any)["continue"].(string)
		if next == "" {
			if pages < 3 {
				t.Errorf("%d claims on %d pages of 7", len(names), pages+1)
			}
			break
		}
	}
	want := s.Names(inspect.Claims)
	if !slices.Equal(slices.Sorted(slices.Values(names)), want) {
		t.Errorf("listed %v, want %v", names, want)
	}
}

func TestWritesNeedTheNewestVersion(t *testing.T) {
	s, url := start(t)
	path := url + "/apis/resource.k8s.io/v1/namespaces/net/resourceclaims/dns-edge"
	_, claim := ask(t, http.MethodGet, path, "")
	claim["metadata"].(map[string]any)["annotations"] = map[string]any{"a": "b"}
	body, err := json.Marshal(claim)
	if err != nil {
		t.Fatal(err)
	}
	before := s.State()
	if code, _ := ask(t, http.MethodPut, path+"?dryRun=All", string(body)); code != http.StatusOK || len(Changed(before, s.State())) > 0 {
		t.Errorf("a dry run is answered with %d and changes %v", code, Changed(before, s.State()))
	}
	if code, _ := ask(t, http.MethodPut, path, string(body)); code != http.StatusOK || s.Claim("net", "dns-edge").Annotations["a"] != "b" {
		t.Errorf("a write is answered with %d", code)
	}
	if changed := Changed(before, s.State()); !slices.Equal(changed, []string{"resourceclaims net/dns-edge"}) {
		t.Errorf("changed: %v", changed)
	}
	if code, _ := ask(t, http.MethodPut, path, string(body)); code != http.StatusConflict {
		t.Errorf("a write at an old version is answered with %d", code)
	}
	if writes := slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Write }); len(writes) != 2 || writes[1].Code != http.StatusConflict {
		t.Errorf("writes in the log: %+v", writes)
	}
}

func TestWatchTellsChanges(t *testing.T) {
	s, url := start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/apis/resource.k8s.io/v1/resourceclaims?watch=true&sendInitialEvents=true", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	type watched struct {
		Type   string
		Object resourcev1.ResourceClaim
	}
	events := json.NewDecoder(response.Body)
	for initial := 0; ; initial++ {
		var e watched
		if err := events.Decode(&e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "BOOKMARK" {
			if want := len(s.Names(inspect.Claims)); initial != want {
				t.Errorf("%d claims before the bookmark, want %d", initial, want)
			}
			break
		}
	}
	s.ChangeClaim("net", "dns-edge", func(c *resourcev1.ResourceClaim) { c.Labels = map[string]string{"touched": "yes"} })
	s.Delete(inspect.Claims, Key{"dev", "scratch-gpu"})
	for _, want := range []string{"MODIFIED dns-edge", "DELETED scratch-gpu"} {
		var e watched
		if err := events.Decode(&e); err != nil || e.Type+" "+e.Object.Name != want {
			t.Errorf("event %s %s, error %v, want %s", e.Type, e.Object.Name, err, want)
		}
	}
}

func TestFaultsStrikeWhatTheyMatch(t *testing.T) {
	s, url := start(t)
	s.Inject(Fault{Match: "^GET .*/resourceclaims", Times: 1, Do: Refuse(http.StatusInternalServerError, "InternalError", "a fault")})
	remove := s.Inject(Fault{Match: "^PUT", Do: func(e *Exchange) {
		code, _ := e.Hidden()
		Refuse(http.StatusInternalServerError, "InternalError", http.StatusText(code))(e)
	}})
	claims := url + "/apis/resource.k8s.io/v1/resourceclaims"
	for i, want := range []int{http.StatusInternalServerError, http.StatusOK} {
		if code, _ := ask(t, http.MethodGet, claims, ""); code != want {
			t.Errorf("list %d is answered with %d, want %d", i+1, code, want)
		}
	}
	path := url + "/apis/resource.k8s.io/v1/namespaces/net/resourceclaims/dns-edge"
	body := `{"metadata":{"name":"dns-edge","annotations":{"a":"b"}}}`
	if code, answer := ask(t, http.MethodPut, path, body); code != http.StatusInternalServerError || answer["message"] != "OK" || s.Claim("net", "dns-edge").Annotations["a"] != "b" {
		t.Errorf("a hidden write is answered with %d and %v", code, answer)
	}
	remove()
	if code, _ := ask(t, http.MethodPut, path, body); code != http.StatusOK {
		t.Errorf("without the fault a write is answered with %d", code)
	}
}

// TestBeta: what is served at v1beta1 looks as the types of that version do.
func TestBeta(t *testing.T) {
	s, url := start(t)
	s.Serve(DRA, "v1beta1")
	if code, _ := ask(t, http.MethodGet, url+"/apis/resource.k8s.io/v1", ""); code != http.StatusNotFound {
		t.Errorf("v1 is answered with %d", code)
	}
	_, claims := ask(t, http.MethodGet, url+"/apis/resource.k8s.io/v1beta1/namespaces/net/resourceclaims/dns-edge", "")
	text, _ := json.Marshal(claims["spec"])
	if !strings.Contains(string(text), `{"allocationMode":"ExactCount","count":1,"deviceClassName":`) {
		t.Errorf("a claim at v1beta1: %s", text)
	}
	_, slice := ask(t, http.MethodGet, url+"/apis/resource.k8s.io/v1beta1/resourceslices?limit=1", "")
	if text, _ := json.Marshal(slice["items"]); !strings.Contains(string(text), `"devices":[{"basic":{"allow`) {
		t.Errorf("a slice at v1beta1: %s", text)
	}
}

// TestWatching: what goes on after the honest beginning of a watch reaches the client at once, and goes on.
func TestWatching(t *testing.T) {
	s, url := start(t)
	s.Inject(Fault{Match: "watch=", Do: Watching(func(w *Watch) {
		for version := int64(5000); version < 5003 && w.Send("BOOKMARK", w.Bookmark(version)); version++ {
		}
	})})
	response, err := http.Get(url + "/api/v1/pods?watch=true&resourceVersion=1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if got := strings.Count(string(data), "BOOKMARK"); err != nil || got != 3 {
		t.Errorf("%d bookmarks and error %v, want 3: %s", got, err, data)
	}
}
