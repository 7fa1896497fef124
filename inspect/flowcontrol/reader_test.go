package flowcontrol

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const forbidden = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"forbidden: User \"x\" cannot get path \"/metrics\"","reason":"Forbidden","details":{},"code":403}`

// server answers with metrics.
func server(t *testing.T, metrics func(http.ResponseWriter)) *Reader {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == metricsPath && metrics != nil {
			metrics(w)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	reader, err := NewReader(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

func answer(code int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if strings.HasPrefix(body, "{") {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body) // a client that hung up is no failure here
	}
}

func TestReader(t *testing.T) {
	const metrics = "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"p\"} 4\n"
	for _, test := range []struct {
		name    string
		metrics func(http.ResponseWriter)
		state   inspect.HealthState
		text    string // what the message contains
	}{
		{"served", answer(200, metrics), inspect.Synced, ""},
		{"forbidden", answer(403, forbidden), inspect.Forbidden, "cannot get /metrics"},
		{"flow control is off", answer(200, "apiserver_request_total 3\n"), inspect.NotServed, "API Priority and Fairness is off"},
		{"not served", nil, inspect.NotServed, "getting /metrics"},
		{"the server fails, with an escape sequence", answer(500, "\x1b[31m"+strings.Repeat("broken ", 500)), inspect.Broken, "getting /metrics: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := server(t, test.metrics).Read(t.Context())
			if r.Health.State != test.state || !strings.Contains(r.Health.Message, test.text) {
				t.Errorf("%+v", r.Health)
			}
			if (r.Metrics != nil) != (test.state == inspect.Synced) {
				t.Errorf("metrics %v", r.Metrics)
			}
			if strings.ContainsAny(r.Health.Message, "\x1b\n") || len(r.Health.Message) > 500 {
				t.Errorf("unsafe or endless message %q", r.Health.Message)
			}
		})
	}
}

// TestReaderWithoutServer: a server that is gone, and a caller that does not want to wait.
func TestReaderWithoutServer(t *testing.T) {
	reader, err := NewReader(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if r := reader.Read(t.Context()); r.Health.State != inspect.Broken {
		t.Errorf("%+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := reader.Read(ctx); r.Health.State != inspect.Broken || r.Metrics != nil {
		t.Errorf("%+v", r)
	}
}

// TestReaderAsksLessOften: a reader that is asked every few seconds does not ask a server which refuses as
// often.
func TestReaderAsksLessOften(t *testing.T) {
	var asked atomic.Int64
	refuse := func(w http.ResponseWriter) { asked.Add(1); answer(500, "broken")(w) }
	reader := server(t, refuse)
	first := reader.Read(t.Context())
	for range 20 {
		if again := reader.Read(t.Context()); again.Health.Message != first.Health.Message || again.Health.State != inspect.Broken {
			t.Fatalf("%+v after %+v", again, first)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
