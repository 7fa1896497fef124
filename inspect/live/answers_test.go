package live_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// wrongAnswers are answers with status 200 that are no list of ResourceClaims, and what the message says.
var wrongAnswers = map[string]struct{ content, body, message string }{
	"empty object":     {"application/json", `{}`, "the answer is no ResourceClaimList: it does not say what it is"},
	"another kind":     {"application/json", `{"kind":"ConfigMapList","apiVersion":"v1","items":[{"metadata":{"name":"x"}}]}`, `is no ResourceClaimList but "ConfigMapList" of "v1"`},
	"another version":  {"application/json", `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1beta1","items":[]}`, `no ResourceClaimList of resource.k8s.io/v1 but`},
	"one object":       {"application/json", `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":"x"}}`, `but "ResourceClaim"`},
	"null items":       {"application/json", `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[null]}`, "item 1 has no name"},
	"a nameless item":  {"application/json", `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"x"}},{}]}`, "item 2 has no name"},
	"an array":         {"application/json", `[]`, "the answer is no JSON object"},
	"nothing":          {"application/json", ``, "the answer is empty"},
	"half an object":   {"application/json", `{"kind":"ResourceClaimList","items":[{`, "JSON"},
	"a login page":     {"text/html", "<html>Please \x1b[31mlog in", `the answer is "text/html": a page of a login or of a proxy`},
	"YAML":             {"application/yaml", "kind: ResourceClaimList", `the answer is "application/yaml"`},
	"a page as JSON":   {"application/json", "<html>Please \x1b[31mlog in", `it begins with "<html>Please`},
	"wrong protobuf":   {"application/vnd.kubernetes.protobuf", "k8s\x00\x0a\x0a\x0a\x02v1\x12\x04Pods", `but "Pods" of "v1"`},
	"broken protobuf":  {"application/vnd.kubernetes.protobuf", "k8s\x00\xff", "unexpected EOF"},
	"no protobuf":      {"application/vnd.kubernetes.protobuf", "abc", "no JSON object"},
	"a hostile number": {"application/json", `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"evil","namespace":"ml"},"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"1e-2000000000"}}]}}}}]}`, "object ml/evil: a number with more than"},
}

func answering(content, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", content)
		_, _ = w.Write([]byte(body)) // a client may well hang up
	}
}

func TestAnswersThatAreNoLists(t *testing.T) {
	for name, test := range wrongAnswers {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.objects[podsPath] = []string{named("p")}
			f.override[claimsPath] = answering(test.content, test.body)
			cluster := mustRead(t, f, live.Options{})
			h := cluster.Health[inspect.Claims]
			if h.State != inspect.Broken || !strings.Contains(h.Message, test.message) {
				t.Errorf("%+v, want Broken with %q", h, test.message)
			}
			if strings.ContainsAny(h.Message, "\x1b\n") {
				t.Errorf("the message is not clean: %q", h.Message)
			}
			if len(cluster.Objects.Claims) > 0 || len(cluster.Objects.Pods) != 1 {
				t.Errorf("%d claims, %d pods", len(cluster.Objects.Claims), len(cluster.Objects.Pods))
			}
		})
	}
}

// TestDiscoveryThatIsNone: a group that does not answer as one is no group without resources.
func TestDiscoveryThatIsNone(t *testing.T) {
	f := newFake()
	f.objects[claimsPath] = []string{named("a")}
	f.override["/apis/resource.k8s.io/v1"] = answering("application/json", `{}`)
	cluster := mustRead(t, f, live.Options{})
	if h := cluster.Health[inspect.Claims]; h.State != inspect.Synced || len(cluster.Objects.Claims) != 1 {
		t.Errorf("%+v with %d claims", h, len(cluster.Objects.Claims))
	}
}

// TestEventsThatAreNone: an event that cannot be understood shows in the health, and does not end the watch
// for good.
func TestEventsThatAreNone(t *testing.T) {
	object := func(kind, version, fields string) string {
		return fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"metadata":{"resourceVersion":"999"%s}}`, kind, version, fields)
	}
	for name, object := range map[string]string{
		"null":             "null",
		"another kind":     object("Pod", "v1", `,"name":"x"`),
		"an unknown kind":  object("Thing", "v1", `,"name":"x"`),
		"no name":          object("ResourceClaim", "resource.k8s.io/v1", ""),
		"a hostile number": strings.TrimSuffix(object("ResourceClaim", "resource.k8s.io/v1", `,"name":"x"`), "}") + `,"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"1e-2000000000"}}]}}}}`,
		"garbage":          `{garbage`,
	} {
		t.Run(name, func(t *testing.T) {
			h, config := newHub(t)
			h.put(claimsPath, "ml", "a", "")
			f := follow(t, config, live.Options{})
			f.claims("ml/a")
			h.mu.Lock()
			h.status[claimsPath] = http.StatusInternalServerError // so that the state stays
			h.send(hubEvent{claimsPath, "MODIFIED", object, h.revision})
			h.events = nil
			h.mu.Unlock()
			f.state(inspect.Claims, inspect.Broken, "what is known is older")
			h.set(func() { clear(h.status) })
			f.claims("ml/a")
		})
	}
}

// TestInterruptedReadIsNoAnswer: whatever is being read when the user interrupts, there is no cluster with
// less in it.
func TestInterruptedReadIsNoAnswer(t *testing.T) {
	half := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[`))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	later := func(path string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("continue") == "" {
				answerJSON(w, listJSON(path, "2", named("x")))
				return
			}
			<-r.Context().Done()
		}
	}
	for _, path := range []string{claimsPath, slicesPath, podsPath, "/version", "/metrics", "/apis/resource.k8s.io/v1"} {
		for name, handler := range map[string]http.HandlerFunc{"in the body": half, "before the answer": silent, "on page 2": later(path)} {
			if lists := []string{claimsPath, slicesPath, podsPath}; name == "on page 2" && !slices.Contains(lists, path) {
				continue
			}
			t.Run(path+" "+name, func(t *testing.T) {
				f := newFake()
				ctx, cancel := context.WithCancel(t.Context())
				f.override[path] = func(w http.ResponseWriter, r *http.Request) {
					time.AfterFunc(20*time.Millisecond, cancel)
					handler(w, r)
				}
				cluster, err := live.Read(ctx, f.start(t), live.Options{})
				if err == nil || cluster != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, %v", cluster, err)
				}
			})
		}
	}
}

// TestHangingCredentialPlugin: a plugin that never returns does not keep a read from ending.
func TestHangingCredentialPlugin(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	config := newFake().start(t)
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return hanging{inner, forever} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := live.Read(ctx, config, live.Options{})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
	config.Timeout = 50 * time.Millisecond
	_, err = live.Read(t.Context(), config, live.Options{})
	if server := (*live.ServerError)(nil); !errors.As(err, &server) || server.Cause != live.TimedOut {
		t.Errorf("with a timeout the error is %v", err)
	}
}

// hanging is a transport that does not listen to contexts, as one that runs a credential plugin.
type hanging struct {
	inner   http.RoundTripper
	forever chan struct{}
}

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-h.forever
	return h.inner.RoundTrip(r)
}

func TestServerErrorsDoNotShowTheTimeout(t *testing.T) {
	_, err := live.Read(t.Context(), &rest.Config{Host: "http://127.0.0.1:1", Timeout: 3 * time.Second}, live.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "reading http://127.0.0.1:1: ") {
		t.Errorf("the error is %v", err)
	}
}

// TestEndlessLists: a list that goes on for ever is given up, with the limit in the message.
func TestEndlessLists(t *testing.T) {
	live.SmallLimits(t)
	many := func(n int) (items []string) {
		for i := range n {
			items = append(items, named(fmt.Sprintf("x%d", i)))
		}
		return items
	}
	page := func(r *http.Request) int {
		n, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		return n
	}
	for name, test := range map[string]struct {
		next    func(r *http.Request) string
		items   func(r *http.Request) []string
		message string
	}{
		"new names for ever": {func(r *http.Request) string { return strconv.Itoa(page(r) + 1) },
			func(r *http.Request) []string {
				return []string{named(fmt.Sprintf("a%d", page(r))), named(fmt.Sprintf("b%d", page(r)))}
			}, "more than 100 objects"},
		"empty pages": {func(r *http.Request) string { return strconv.Itoa(page(r) + 1) },
			func(*http.Request) []string { return nil }, "does not come to an end: 10 pages had only 0 objects"},
		"tokens in a circle": {func(r *http.Request) string { return strconv.Itoa((page(r) + 1) % 3) },
			func(r *http.Request) []string { return []string{named(fmt.Sprintf("a%s", r.URL.RawQuery))} }, "repeats itself"},
		"objects in a circle": {func(r *http.Request) string { return strconv.Itoa(page(r) + 1) },
			func(r *http.Request) []string { return []string{named(fmt.Sprintf("a%d", page(r)%3))} }, "repeats itself after 4 objects"},
		"a long token": {func(*http.Request) string { return strings.Repeat("x", 1000) },
			func(*http.Request) []string { return many(2) }, "the token to continue has 1000 bytes"},
		"large in all": {func(r *http.Request) string { return strconv.Itoa(page(r) + 1) },
			func(r *http.Request) []string {
				return []string{fmt.Sprintf(`{"metadata":{"name":"x%d","annotations":{"a":%q}}}`, page(r), strings.Repeat("A", 1800))}
			}, "the list has more than"},
		"one large object": {func(*http.Request) string { return "" },
			func(*http.Request) []string {
				return []string{fmt.Sprintf(`{"metadata":{"name":"x","annotations":{"a":%q}}}`, strings.Repeat("A", 1<<20))}
			}, "the answer has more than 2 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.override[slicesPath] = func(w http.ResponseWriter, r *http.Request) {
				answerJSON(w, listJSON(slicesPath, test.next(r), test.items(r)...))
			}
			cluster := mustRead(t, f, live.Options{PageSize: 2})
			if h := cluster.Health[inspect.Slices]; h.State != inspect.Broken || !strings.Contains(h.Message, test.message) || len(cluster.Objects.Slices) > 0 {
				t.Errorf("%+v with %d slices, want Broken with %q", h, len(cluster.Objects.Slices), test.message)
			}
		})
	}
}

// TestPagesThatAreTooLarge: what does not fit into one answer is asked for in smaller pages.
func TestPagesThatAreTooLarge(t *testing.T) {
	live.SmallLimits(t)
	f := newFake()
	for i := range 30 {
		f.objects[slicesPath] = append(f.objects[slicesPath], fmt.Sprintf(`{"metadata":{"name":"x%02d","annotations":{"a":%q}}}`, i, strings.Repeat("A", 200)))
	}
	cluster := mustRead(t, f, live.Options{PageSize: 20})
	if h := cluster.Health[inspect.Slices]; h.State != inspect.Synced || len(cluster.Objects.Slices) != 30 {
		t.Errorf("%+v with %d slices", h, len(cluster.Objects.Slices))
	}
}

// TestSmallAnswersThatAreEndless: what is beside the lists keeps to its bounds, too.
func TestSmallAnswersThatAreEndless(t *testing.T) {
	live.SmallLimits(t)
	endless := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := w.Write([]byte(strings.Repeat(" ", 1<<10))); err != nil {
				return
			}
		}
	}
	for _, path := range []string{"/version", "/metrics", "/apis/resource.k8s.io/v1"} {
		f := newFake()
		f.objects[claimsPath] = []string{named("a")}
		f.override[path] = endless
		begin := time.Now()
		if cluster := mustRead(t, f, live.Options{}); len(cluster.Objects.Claims) != 1 {
			t.Errorf("%s: %d claims: %+v", path, len(cluster.Objects.Claims), cluster.Health[inspect.Claims])
		}
		if took := time.Since(begin); took > 9*time.Second { // not until the timeout of the metrics
			t.Errorf("%s: it took %v", path, took)
		}
	}
}

// TestSlowBody: a byte now and then does not hold up a read for longer than the timeout.
func TestSlowBody(t *testing.T) {
	f := newFake()
	f.override[claimsPath] = func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}
	config := f.start(t)
	config.Timeout = 100 * time.Millisecond
	begin := time.Now()
	_, err := live.Read(t.Context(), config, live.Options{})
	if server := (*live.ServerError)(nil); !errors.As(err, &server) || server.Cause != live.TimedOut {
		t.Errorf("the error is %v", err)
	}
	if took := time.Since(begin); took > 20*time.Second { // without the timeout, half a minute and more
		t.Errorf("it took %v", took)
	}
}
