package live_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// TestRecentEvents: one request for the Events of all namespaces, bounded, without those of every day.
func TestRecentEvents(t *testing.T) {
	f := newFake()
	f.objects["/api/v1/events"] = []string{eventJSON("p", "u", "FailedScheduling"), eventJSON("q", "w", "FailedPrepareDynamicResources")}
	events, err := live.RecentEvents(t.Context(), f.start(t), "ml")
	if err != nil || len(events.List) != 2 || events.Health.State != inspect.Synced {
		t.Fatalf("%+v, %v", events, err)
	}
	asked := f.asked("")
	if len(asked) != 1 {
		t.Fatalf("asked for %q", asked)
	}
	query, err := url.ParseRequestURI(asked[0])
	if err != nil {
		t.Fatal(err)
	}
	selector := query.Query().Get("fieldSelector")
	if query.Query().Get("limit") != "1000" || !strings.Contains(selector, "reason!=Pulled") || strings.Contains(selector, "FailedScheduling") {
		t.Errorf("asked for %s", asked[0])
	}
}

// TestRecentEventsForbidden: who may not see the Events of all namespaces gets those of one, or is told.
func TestRecentEventsForbidden(t *testing.T) {
	f := newFake()
	f.status["/api/v1/events"] = http.StatusForbidden
	f.objects[eventsPath] = []string{eventJSON("p", "u", "FailedScheduling")}
	events, err := live.RecentEvents(t.Context(), f.start(t), "ml")
	if err != nil || len(events.List) != 1 || events.Health.State != inspect.Narrowed || !strings.Contains(events.Health.Message, "namespace ml") {
		t.Errorf("%+v, %v", events, err)
	}
	events, err = live.RecentEvents(t.Context(), f.start(t), "")
	if err != nil || events.Health.State != inspect.Forbidden || events.Health.Message != "cannot list events at the cluster scope" {
		t.Errorf("%+v, %v", events, err)
	}
}
