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

// server answers the two paths with a status code and a body each.
func server(t *testing.T, answers map[string]func(http.ResponseWriter)) *Reader {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer := answers[r.URL.Path]; answer != nil {
			answer(w)
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
	const dump = "PriorityLevelName, FlowSchemaName, QueueIndex\np, f, 3\n"
	for _, test := range []struct {
		name          string
		metrics, dump func(http.ResponseWriter)
		// the states, and what the messages contain
		metricsState, dumpState inspect.HealthState
		metricsText, dumpText   string
	}{
		{"both", answer(200, metrics), answer(200, dump), inspect.Synced, inspect.Synced, "", ""},
		{"both are forbidden", answer(403, forbidden), answer(403, forbidden), inspect.Forbidden, inspect.Forbidden,
			"cannot get /metrics", "cannot get /debug/api_priority_and_fairness/dump_requests"},
		{"the dump is forbidden", answer(200, metrics), answer(403, "no"), inspect.Synced, inspect.Forbidden, "", "cannot get /debug"},
		{"flow control is off", answer(200, "apiserver_request_total 3\n"), nil, inspect.NotServed, inspect.NotServed,
			"API Priority and Fairness is off", "getting /debug"},
		{"the server fails, with an escape sequence", answer(500, "\x1b[31m"+strings.Repeat("broken ", 500)), answer(200, "<html>\x1b[31m"), inspect.Broken, inspect.Broken,
			"getting /metrics: ", `it begins with "<html>`},
	} {
		t.Run(test.name, func(t *testing.T) {
			reader := server(t, map[string]func(http.ResponseWriter){metricsPath: test.metrics, requestsPath: test.dump})
			r := reader.Read(t.Context())
			dump, health := reader.Requests(t.Context())
			if r.Health.State != test.metricsState || !strings.Contains(r.Health.Message, test.metricsText) {
				t.Errorf("metrics: %+v", r.Health)
			}
			if health.State != test.dumpState || !strings.Contains(health.Message, test.dumpText) {
				t.Errorf("dump: %+v", health)
			}
			if (r.Metrics != nil) != (test.metricsState == inspect.Synced) || (dump != nil) != (test.dumpState == inspect.Synced) {
				t.Errorf("metrics %v, dump %v", r.Metrics, dump)
			}
			for _, message := range []string{r.Health.Message, health.Message} {
				if strings.ContainsAny(message, "\x1b\n") || len(message) > 500 {
					t.Errorf("unsafe or endless message %q", message)
				}
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
	if dump, health := reader.Requests(t.Context()); health.State != inspect.Broken || dump != nil {
		t.Errorf("%+v %+v", dump, health)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := reader.Read(ctx); r.Health.State != inspect.Broken || r.Metrics != nil {
		t.Errorf("%+v", r)
	}
}

// TestReaderAsksLessOften: a reader that is asked every few seconds does not ask a server which refuses as often.
func TestReaderAsksLessOften(t *testing.T) {
	var asked atomic.Int64
	refuse := func(w http.ResponseWriter) { asked.Add(1); answer(500, "broken")(w) }
	reader := server(t, map[string]func(http.ResponseWriter){metricsPath: refuse, requestsPath: refuse})
	first := reader.Read(t.Context())
	for range 20 {
		again := reader.Read(t.Context())
		if _, health := reader.Requests(t.Context()); again.Health.Message != first.Health.Message || health.State != inspect.Broken {
			t.Fatalf("%+v and %+v after %+v", again, health, first)
		}
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
