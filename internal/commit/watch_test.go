package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// watched serves a list of claims at version 10, and for every watch the next of some answers.
type watched struct {
	lists   int
	from    []string // the versions that were watched from
	watches []func(w http.ResponseWriter, r *http.Request)
	hung    func() // called when a watch is open that will send nothing
}

func (s *watched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") == "" {
		s.lists++
		answer(w, http.StatusOK, map[string]any{"kind": "ResourceClaimList", "metadata": map[string]any{"resourceVersion": fmt.Sprint(s.lists * 10)}, "items": []any{}})
		return
	}
	s.from = append(s.from, r.URL.Query().Get("resourceVersion"))
	if len(s.watches) == 0 {
		answer(w, http.StatusForbidden, nil)
		return
	}
	next := s.watches[0]
	s.watches = s.watches[1:]
	if next == nil {
		s.hung()
		hangs(w, r)
		return
	}
	next(w, r)
}

// sends is a watch that sends events and ends.
func sends(events ...map[string]any) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for _, event := range events {
			_ = json.NewEncoder(w).Encode(event) // the client says so if it fails
		}
	}
}

// hangs is a watch that sends nothing and stays; a nil watch of TestFollow does too, and then the test has
// seen enough.
func hangs(w http.ResponseWriter, r *http.Request) {
	w.WriteHeader(http.StatusOK)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func event(kind, name, version string) map[string]any {
	claim := held(name, whole("x0"))
	claim.Kind, claim.ResourceVersion = "ResourceClaim", version
	return map[string]any{"type": kind, "object": claim}
}

func gone() map[string]any {
	return map[string]any{"type": "ERROR", "object": map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired"}}
}

func TestFollow(t *testing.T) {
	tests := map[string]struct {
		watches []func(http.ResponseWriter, *http.Request)
		want    []string // the names of the claims, each time that they are shown
		from    []string
		noWatch bool
	}{
		"nothing happens":         {[]func(http.ResponseWriter, *http.Request){nil}, []string{"[]"}, []string{"10"}, false},
		"watching is not allowed": {nil, []string{"[]"}, []string{"10"}, true},
		"events": {[]func(http.ResponseWriter, *http.Request){sends(event("ADDED", "a", "11"), event("ADDED", "dull", "12"), event("MODIFIED", "b", "13"), event("DELETED", "a", "14")), nil},
			[]string{"[]", "[a]", "[a b dull]", "[b dull]"}, []string{"10", "14"}, false},
		"a bookmark tells where to go on": {[]func(http.ResponseWriter, *http.Request){sends(event("BOOKMARK", "", "17")), nil}, []string{"[]"}, []string{"10", "17"}, false},
		"no history":                      {[]func(http.ResponseWriter, *http.Request){sends(gone()), nil}, []string{"[]", "[]"}, []string{"10", "20"}, false},
		"never any history": {[]func(http.ResponseWriter, *http.Request){sends(gone()), sends(gone()), sends(gone()), nil}, []string{"[]", "[]", "[]"},
			[]string{"10", "20", "30"}, true},
		"watches end at once": {[]func(http.ResponseWriter, *http.Request){sends(), nil}, []string{"[]"}, []string{"10"}, true},
		"no watch at all":     {[]func(http.ResponseWriter, *http.Request){sends(map[string]any{"items": []any{}}), nil}, []string{"[]"}, []string{"10"}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, enough := context.WithCancel(t.Context())
			defer enough()
			s := &watched{watches: tt.watches, hung: enough}
			var shown []string
			relevant := func(claim *resourcev1.ResourceClaim) bool { return claim.Name != "dull" }
			err := startWatched(t, s).Follow(ctx, time.Hour, relevant, func(claims []*resourcev1.ResourceClaim) bool {
				var names []string
				for _, claim := range claims {
					names = append(names, claim.Name)
				}
				slices.Sort(names)
				shown = append(shown, fmt.Sprint(names))
				return true
			})
			want := context.Canceled
			if tt.noWatch {
				want = requests.ErrNoWatch
			}
			if !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
			if !slices.Equal(shown, tt.want) || !slices.Equal(s.from, tt.from) {
				t.Errorf("shown %v, want %v; watched from %v, want %v", shown, tt.want, s.from, tt.from)
			}
		})
	}
}

func startWatched(t *testing.T, s *watched) *requests.API {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	api, err := requests.NewAPI(&rest.Config{Host: server.URL}, "v1", false)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

// TestFollowEnds: when the time is over, and long before when enough is seen or the run is interrupted.
func TestFollowEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	all := func(*resourcev1.ResourceClaim) bool { return true }
	s := &watched{watches: []func(http.ResponseWriter, *http.Request){hangs}}
	if err := startWatched(t, s).Follow(ctx, 300*time.Millisecond, all, func([]*resourcev1.ResourceClaim) bool { return true }); err != nil {
		t.Errorf("the time is over: %v", err)
	}
	s = &watched{watches: []func(http.ResponseWriter, *http.Request){sends(event("ADDED", "a", "11")), hangs}}
	if err := startWatched(t, s).Follow(ctx, time.Hour, all, func(claims []*resourcev1.ResourceClaim) bool { return len(claims) == 0 }); err != nil {
		t.Errorf("seen enough: %v", err)
	}
	s = &watched{watches: []func(http.ResponseWriter, *http.Request){func(w http.ResponseWriter, r *http.Request) { cancel(); hangs(w, r) }}}
	if err := startWatched(t, s).Follow(ctx, time.Hour, all, func([]*resourcev1.ResourceClaim) bool { return true }); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestConflictsAreSeenAtOnce: a run that can watch takes back as soon as the conflict is written.
func TestConflictsAreSeenAtOnce(t *testing.T) {
	for blind, most := range map[bool]time.Duration{false: 800 * time.Millisecond, true: 2 * time.Second} {
		w := newWorld(1, "a", "b")
		p := &process{w: w, blind: blind}
		begin := w.now
		var seen time.Duration
		p.sleep = func(_ context.Context, d time.Duration) error {
			if w.allocated() == "a" {
				if err := bind(context.Background(), &process{w: w}, "b", "x0"); err != nil {
					t.Error(err)
				}
			}
			w.now = w.now.Add(d)
			return nil
		}
		c := p.committer("1")
		c.Settle = 10 * time.Second
		c.Observe = func(e Event) {
			if e.Step == Conflicted {
				seen = w.now.Sub(begin)
			}
		}
		if _, _, err := c.Allocate(t.Context(), wanting("a")); err != nil {
			t.Error(err)
		}
		inOrder(t, w, "b")
		if seen == 0 || seen > most {
			t.Errorf("blind %v: the conflict was seen after %v, want at most %v", blind, seen, most)
		}
	}
}
