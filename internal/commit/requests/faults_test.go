package requests

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// wrongAnswers are what a server may answer with status 200 instead of what it was asked for.
var wrongAnswers = map[string]string{
	"an empty object":     `{}`,
	"another kind":        `{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"x"}}]}`,
	"nothing":             ``,
	"a page":              `<html><body>Please log in</body></html>`,
	"items that are null": `{"kind":"ResourceClaimList","metadata":{"resourceVersion":"3"},"items":[null]}`,
	"half":                `{"kind":"ResourceClaimList","items":[`,
	"null":                `null`,
	"a text":              `"x"`,
	"pages for ever":      `{"kind":"ResourceClaimList","metadata":{"continue":"%d"},"items":[]}`,
	"a page again":        `{"kind":"ResourceClaimList","metadata":{"continue":"x"},"items":[{"metadata":{"name":"x"}}]}`,
	"an endless quantity": `{"kind":"ResourceClaimList","metadata":{},"items":[{"kind":"ResourceClaim","metadata":{"namespace":"ns","name":"a"},"status":{"allocation":{"devices":{"results":[{"consumedCapacity":{"m":"1e-2000000000"}}]}}}}]}`,
}

// TestWrongAnswersAreErrors: an answer that is not what was asked for is never an empty list, and never a
// claim.
func TestWrongAnswersAreErrors(t *testing.T) {
	for name, text := range wrongAnswers {
		n := 0
		api := startHandler(t, func(w http.ResponseWriter, _ *http.Request) {
			n++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, strings.ReplaceAll(text, "%d", fmt.Sprint(n))) // the client says so if it fails
		}, 5*time.Minute)
		began := time.Now()
		if claims, err := api.Claims(t.Context()); err == nil {
			t.Errorf("%s is taken for %d claims", name, len(claims))
		}
		for _, single := range []string{text, strings.TrimSuffix(strings.TrimPrefix(text, `{"kind":"ResourceClaimList","metadata":{},"items":[`), "]}")} {
			text = single
			if claim, err := api.Claim(t.Context(), inspect.ClaimRef{Namespace: "ns", Name: "a"}); err == nil {
				t.Errorf("%s is taken for claim %v", name, claim)
			}
		}
		if uid, err := api.PodUID(t.Context(), inspect.PodRef{Namespace: "ns", Name: "p"}); err == nil {
			t.Errorf("%s is taken for pod %q", name, uid)
		}
		if rules, err := api.Rules("v1").Fences(t.Context()); err == nil {
			t.Errorf("%s is taken for %d rules", name, len(rules))
		}
		if d := time.Since(began); d > 4*time.Minute || n > 20 { // hundredths of a second, but for a machine that is busy; not until the timeout
			t.Errorf("%s: it took %v and %d requests", name, d, n)
		}
	}
}

func startHandler(t *testing.T, handler http.HandlerFunc, timeout time.Duration) *API {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	api, err := NewAPI(&rest.Config{Host: server.URL, Timeout: timeout}, "v1", false)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// slowAnswers keep a client waiting.
var slowAnswers = map[string]http.HandlerFunc{
	"no answer": func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the end of the connection is not noticed
		<-r.Context().Done()
	},
	"a body that never ends": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
	},
	"come back in an hour": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	},
	"come back soon, for ever": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "20")
		w.WriteHeader(http.StatusServiceUnavailable)
	},
}

// TestEveryRequestIsBounded: whatever a server does to keep the client waiting, each request of a run ends
// when its time is over.
func TestEveryRequestIsBounded(t *testing.T) {
	// Without the timeout, a server that says again and again when to come back is asked for minutes, the
	// others for ever.
	const timeout, busy = 60 * time.Millisecond, 2 * time.Minute
	for name, handler := range slowAnswers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			api := startHandler(t, handler, timeout)
			claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a"}}
			for what, request := range map[string]func(ctx context.Context) error{
				"list": func(ctx context.Context) error { _, err := api.Claims(ctx); return err },
				"get": func(ctx context.Context) error {
					_, err := api.Claim(ctx, inspect.ClaimRef{Namespace: "ns", Name: "a"})
					return err
				},
				"update": func(ctx context.Context) error { _, err := api.UpdateMeta(ctx, claim); return err },
				"status": func(ctx context.Context) error { _, err := api.UpdateStatus(ctx, claim); return err },
				"pod": func(ctx context.Context) error {
					_, err := api.PodUID(ctx, inspect.PodRef{Namespace: "ns", Name: "p"})
					return err
				},
				"rules":  func(ctx context.Context) error { _, err := api.Rules("v1").Fences(ctx); return err },
				"review": func(ctx context.Context) error { _, err := api.may(ctx, Permission{Verb: "get"}); return err },
			} {
				began := time.Now()
				if err := request(t.Context()); err == nil {
					t.Errorf("%s: no error", what)
				}
				if d := time.Since(began); d > timeout+busy {
					t.Errorf("%s took %v", what, d)
				}
			}
			began := time.Now()
			if err := api.Check(t.Context(), []Permission{{Verb: "list"}, {Verb: "create"}}); err != nil || time.Since(began) > timeout+busy {
				t.Errorf("a server that cannot be asked: %v after %v", err, time.Since(began))
			}
		})
	}
}

// TestLongBodies: the answer of a server is not kept beyond a bound.
func TestLongBodies(t *testing.T) {
	body := boundedBodies{roundTrip(func() io.ReadCloser { return io.NopCloser(endless{}) })}
	response, err := body.RoundTrip(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	n, err := io.Copy(io.Discard, response.Body)
	if err == nil || n > maxBody {
		t.Errorf("%d bytes were read: %v", n, err)
	}
}

type roundTrip func() io.ReadCloser

func (r roundTrip) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{Body: r()}, nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
