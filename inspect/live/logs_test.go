package live_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestLogs: one request for the last lines of one container, and not more than a bound of what comes,
// whatever the server was told.
func TestLogs(t *testing.T) {
	endless := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if r.URL.Path != "/api/v1/namespaces/gpu/pods/plugin-x/log" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","message":"no\u001b","code":403}`)
			return
		}
		q := r.URL.Query()
		_, _ = fmt.Fprintf(w, "container %s, %s lines, %s bytes\n", q.Get("container"), q.Get("tailLines"), q.Get("limitBytes"))
		for endless {
			if _, err := io.WriteString(w, strings.Repeat("x", 1<<16)); err != nil {
				return
			}
		}
	}))
	defer server.Close()
	config := &rest.Config{Host: server.URL}
	text, err := live.Logs(t.Context(), config, "gpu", "plugin-x", "main", 200)
	if want := "container main, 200 lines, 1048576 bytes\n"; err != nil || text != want {
		t.Errorf("got %q, %v, want %q", text, err, want)
	}
	for _, name := range []string{"..", "a/b"} {
		if _, err := live.Logs(t.Context(), config, "gpu", name, "main", 200); err == nil {
			t.Errorf("asked about a pod %q", name)
		}
	}
	if _, err := live.Logs(t.Context(), config, "gpu", "other", "main", 200); err == nil || !strings.Contains(err.Error(), "container main of pod gpu/other: ") {
		t.Errorf("forbidden: %v", err)
	}
	endless = true
	if text, _ := live.Logs(t.Context(), config, "gpu", "plugin-x", "main", 200); len(text) > 1<<20 {
		t.Errorf("%d bytes of a server that does not end were read", len(text))
	}
}
