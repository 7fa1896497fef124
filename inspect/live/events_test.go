package live_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

const eventsPath = "/api/v1/namespaces/ml/events"

// eventJSON is an Event about a pod.
func eventJSON(name, uid, reason string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"namespace":"ml"},"involvedObject":{"kind":"Pod","namespace":"ml","name":%q,"uid":%q},"reason":%q,"count":2}`,
		name+"."+reason, name, uid, reason)
}

var podP = inspect.ObjectRef{Kind: "Pod", Namespace: "ml", Name: "p", UID: "u"}

// TestEventsAreReadBySelector: one request for each object, in its namespace and for its UID, and never all
// Events. What a server answers besides is not taken.
func TestEventsAreReadBySelector(t *testing.T) {
	f := newFake()
	f.objects[eventsPath] = []string{eventJSON("p", "u", "FailedMount"), eventJSON("p", "earlier", "Killing"), eventJSON("q", "w", "Pulled")}
	claim := inspect.ObjectRef{Kind: "ResourceClaim", Namespace: "ml", Name: "c", UID: "x"}
	events, err := live.Events(t.Context(), f.start(t), []inspect.ObjectRef{podP, claim})
	if err != nil {
		t.Fatal(err)
	}
	if len(events.List) != 1 || events.List[0].Reason != "FailedMount" || events.List[0].Count != 2 || events.Health.State != inspect.Synced {
		t.Errorf("got %+v", events)
	}
	var selectors []string
	for _, request := range f.asked("") {
		parsed, err := url.ParseRequestURI(request)
		if err != nil || parsed.Path != eventsPath {
			t.Errorf("asked for %s", request)
			continue
		}
		selectors = append(selectors, parsed.Query().Get("fieldSelector"))
	}
	slices.Sort(selectors)
	want := []string{
		"involvedObject.kind=Pod,involvedObject.namespace=ml,involvedObject.name=p,involvedObject.uid=u",
		"involvedObject.kind=ResourceClaim,involvedObject.namespace=ml,involvedObject.name=c,involvedObject.uid=x",
	}
	if diff := cmp.Diff(want, selectors); diff != "" {
		t.Errorf("field selectors (-want +got):\n%s", diff)
	}
}

// TestEventsThatCannotBeRead: it is said why, and that is no error.
func TestEventsThatCannotBeRead(t *testing.T) {
	for code, want := range map[int]inspect.Health{
		http.StatusForbidden:           {State: inspect.Forbidden, Version: "v1", Message: "cannot list events in namespace ml"},
		http.StatusInternalServerError: {State: inspect.Broken, Version: "v1", Message: "listing events in namespace ml: the server said so"},
	} {
		f := newFake()
		f.status[eventsPath] = code
		events, err := live.Events(t.Context(), f.start(t), []inspect.ObjectRef{podP})
		if err != nil || len(events.List) != 0 {
			t.Errorf("%d: %d events, %v", code, len(events.List), err)
		}
		if events.Health.State != want.State || !strings.HasPrefix(events.Health.Message, want.Message) {
			t.Errorf("%d: %+v, want %+v", code, events.Health, want)
		}
	}
}

// TestEventsEndWithTheContext: a server that does not answer is waited for no longer than the caller wants.
func TestEventsEndWithTheContext(t *testing.T) {
	f := newFake()
	f.override[eventsPath] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := live.Events(ctx, f.start(t), []inspect.ObjectRef{podP}); err == nil {
		t.Error("no error, although the context has ended")
	}
}
